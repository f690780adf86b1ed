// ValuePull: fetches the value of a job that a record names. It asks an agent
// that may have it for parts, a few at a time; if that agent falls silent or
// dies it goes on from there with another. The value is whole when it has the
// job's hash, else all begins anew.
//
// It fills no queue, however long the value is, and asks again for a lost part
// alone.
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_VALUES_H_
#define DOGGED_RUNTIME_AGENT_JOB_VALUES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"
#include "runtime/base/random.h"
#include "runtime/job/context/job_messages.h"

namespace dogged {

// About jobs as a whole, not about labels.
enum class AgentMessage : uint8_t {
  kJobRequest = kFirstFreeKind + 16,  // send me a part of the job value
  kJobValue = kFirstFreeKind + 17,    // such a part
  kJobAbsent = kFirstFreeKind + 18,   // empty: I don't have it either
  // From an agent that was given a job, before the job is gossiped: its hash.
  // And the answer of an agent that has it by now, empty.
  kJobOffer = kFirstFreeKind + 25,
  kJobHeld = kFirstFreeKind + 26,
};

// The last kind of message between agents of this program: beyond, a later one
// speaks.
inline constexpr uint8_t kLastKind = kKeepResults;

// Body of a kJobValue with a part of `value`, for a kJobRequest with body
// `request`. kInvalidArgument if that is malformed.
absl::StatusOr<Bytes> PartOf(const Bytes& value, absl::string_view request);

class ValuePull {
 public:
  // Asks `others` for missing parts, if that is due.
  void Tick(const Pass& pass, JobId job, const Limits& limits,
            absl::Span<const AgentId> others, Rng& rng);
  // A kJobValue. Errors: kInvalidArgument, and nothing changes.
  absl::Status TakePart(absl::Time now, AgentId from, absl::string_view body);
  // `agent` has it: it is asked next.
  void Prefer(absl::Time now, AgentId agent);
  // A kJobAbsent.
  void NoteAbsent(absl::Time now, AgentId from);

  bool IsWhole() const { return total_ >= 0 && here() == total_; }
  // Takes the value out.
  std::string Take();
  int64_t here() const { return std::ssize(front_); }
  int64_t total() const { return total_; }  // -1: not known
  // None of `others` has had any of it since `since`, by their answers.
  bool HasNobodySince(absl::Time since, absl::Span<const AgentId> others) const;

 private:
  void Choose(absl::Time now, absl::Span<const AgentId> others, Rng& rng);
  void Ask(int64_t offset, int64_t bytes, JobId job, Outbox& out) const;

  AgentId source_;
  int64_t total_ = -1;
  std::string front_;                          // all from the beginning on
  std::map<int64_t, Bytes> scattered_;         // beyond, by offset
  int64_t asked_ = 0;                          // of `source_`, up to here
  absl::Time heard_ = absl::InfiniteFuture();  // when a part came, or it began
  absl::Time next_try_ = absl::InfinitePast();
  absl::Duration patience_;
  std::map<AgentId, absl::Time> absent_;  // when they said so
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_VALUES_H_
