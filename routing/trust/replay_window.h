// ReplayWindow: which counters of a sender were seen, so that no message counts
// twice. As RFC 6479: a ring of bits behind the highest one; what is older than
// the ring counts as seen.
#ifndef DOGGED_ROUTING_TRUST_REPLAY_WINDOW_H_
#define DOGGED_ROUTING_TRUST_REPLAY_WINDOW_H_

#include <algorithm>
#include <bitset>
#include <cstdint>

namespace dogged {

class ReplayWindow {
 public:
  static constexpr uint64_t kSize = 4096;

  // Counters up to `seen` count as seen.
  explicit ReplayWindow(uint64_t seen = 0)
      : lowest_(seen + 1), highest_(seen) {}

  uint64_t highest() const { return highest_; }
  bool IsNew(uint64_t counter) const {
    if (counter < lowest_ || counter + kSize <= highest_) return false;
    return counter > highest_ || !seen_[counter % kSize];
  }
  // The counter is new.
  void Add(uint64_t counter) {
    const uint64_t skipped =
        counter > highest_ ? std::min(counter - highest_, kSize) : 0;
    for (uint64_t i = 0; i < skipped; ++i) seen_[(counter - i) % kSize] = false;
    seen_[counter % kSize] = true;
    highest_ = std::max(highest_, counter);
  }

 private:
  uint64_t lowest_;
  uint64_t highest_;
  std::bitset<kSize> seen_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_REPLAY_WINDOW_H_
