// Distinct integer types for things that must not be mixed up; no arithmetic.
#ifndef DOGGED_RUNTIME_BASE_IDS_H_
#define DOGGED_RUNTIME_BASE_IDS_H_

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

namespace dogged {

// 16 hex digits.
std::string IdText(uint64_t value);

// An integer type for each `Tag`. Zero means "none".
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint64_t value) : value_(value) {}
  constexpr uint64_t value() const { return value_; }
  constexpr bool IsNone() const { return value_ == 0; }
  friend constexpr auto operator<=>(Id, Id) = default;
  template <typename H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.value_);
  }
  std::string ToString() const { return IdText(value_); }

 private:
  uint64_t value_ = 0;
};

// An incarnation of an agent: drawn at random when the process starts, so a
// restart at the same address is another agent.
using AgentId = Id<struct AgentIdTag>;
// The first 64 bits of a job's hash, which messages carry.
using JobId = Id<struct JobIdTag>;
// Names one submission of a job; cancelling names this, not the hash.
using SubmissionId = Id<struct SubmissionIdTag>;
// A hash of the members of a view: equal digests mean equal placement.
using ViewDigest = Id<struct ViewDigestTag>;

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_IDS_H_
