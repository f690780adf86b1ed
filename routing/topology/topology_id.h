// TopologyId: a string of digits that says where an agent is. A longer common
// prefix means a shorter distance [MC section 4]. Immutable for the life of an
// incarnation, which is why forwarding cannot loop however views differ.
#ifndef DOGGED_ROUTING_TOPOLOGY_TOPOLOGY_ID_H_
#define DOGGED_ROUTING_TOPOLOGY_TOPOLOGY_ID_H_

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

class TopologyId {
 public:
  static constexpr int kBaseMin = 2;
  static constexpr int kBaseMax = 256;
  static constexpr int kDigitsMax = 64;

  TopologyId() = default;

  // The ID with these digits, first the one of the widest distance.
  // Errors: kInvalidArgument for a digit >= `base`, none or too many digits.
  static absl::StatusOr<TopologyId> FromDigits(int base,
                                               absl::string_view digits);

  // "base:digits" with one character 0-9a-z a digit for bases up to 36
  // ("8:0123"), else decimals with dots ("256:17.3.255"). Without "base:" the
  // base is 16, or 2 if there are only zeros and ones.
  static absl::StatusOr<TopologyId> Parse(absl::string_view text);
  std::string ToString() const;

  int base() const { return base_; }
  int size() const { return static_cast<int>(digits_.size()); }
  int digit(int level) const { return static_cast<uint8_t>(digits_[level]); }
  // A byte for each digit.
  absl::string_view digits() const { return digits_; }

  friend bool operator==(const TopologyId&, const TopologyId&) = default;
  friend auto operator<=>(const TopologyId&, const TopologyId&) = default;

 private:
  int base_ = 16;
  std::string digits_;
};

// LCD of [MC section 7]: how many leading digits are equal.
[[nodiscard]] int CommonPrefix(const TopologyId& a, const TopologyId& b);

// How many digits of base `base` it takes to tell `count` things apart; at
// least one. A table has so many levels: 10^6 agents and base 16 make 5.
[[nodiscard]] int DigitsFor(int64_t count, int base);

// The ID of a host of which no description says anything: four digits of base
// 16, hashed from its name. Agents of one host share them, others hardly ever.
[[nodiscard]] TopologyId HashedHostId(absl::string_view host);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TOPOLOGY_TOPOLOGY_ID_H_
