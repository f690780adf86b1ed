// Credit: bytes that may be pushed to an agent. An agent without credit gets
// announcements, and demands the values that it needs. It repeats a demand
// while the value is on its way; the value is not sent again while the first
// one may still be queued.
#ifndef DOGGED_KVSTORE_REPLICATION_CREDIT_H_
#define DOGGED_KVSTORE_REPLICATION_CREDIT_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "routing/multicast/multicast.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"

namespace dogged {

// A value that was sent, or demanded, is taken to be on its way for so long:
// behind other bytes nobody knows whether it was lost.
inline constexpr absl::Duration kSendingTrust = absl::Seconds(5);

// Why a value is sent. A long copy is offered by its digest first, for its
// target may have it. A long value that goes to a new home, or to that of a
// reader, because members have changed is announced: its target may have it, or
// gets it from another. A value that was demanded waits for credit
// (deferred_sends.h).
enum class Sending { kPublication, kCopy, kMove, kDemanded };

class Credit {
 public:
  // `queued_bytes`: Transport::queued_bytes(). `multicast` outlives this.
  Credit(int64_t bytes_max, std::function<int64_t(AgentId)> queued_bytes,
         const Multicast& multicast)
      : bytes_max_(bytes_max),
        queued_bytes_(std::move(queued_bytes)),
        multicast_(multicast) {}

  bool Has(AgentId agent) const { return Given(agent) < bytes_max_; }
  // Nothing waits for it.
  bool HasAll(AgentId agent) const { return Given(agent) == 0; }
  // A demanded value may be sent to it: in any case where nothing waits.
  bool MayHave(AgentId agent) const { return Has(agent) || HasAll(agent); }
  void Use(AgentId agent, const Label& label, int64_t bytes) {
    pushed_bytes_[agent] += bytes;
    if (bytes >= kNotedBytes) under_way_[agent][label] = now_;
  }
  // `label` was sent to `agent`, and bytes have been waiting for it since.
  bool IsUnderWay(AgentId agent, const Label& label) const {
    const auto labels = under_way_.find(agent);
    if (labels == under_way_.end() || !IsAwaiting(agent)) return false;
    const auto sent = labels->second.find(label);
    return sent != labels->second.end() && now_ - sent->second < kSendingTrust;
  }
  // Bytes that this agent holds for it until it takes them.
  int64_t Waiting(AgentId agent) const {
    return queued_bytes_(agent) + multicast_.streams().BytesOwed(agent);
  }
  // Messages sent to `agent` were lost.
  void Forget(AgentId agent) { under_way_.erase(agent); }
  // Begins a pass: bytes pushed in the one before are queued, or gone.
  void BeginPass(absl::Time now) {
    now_ = now;
    pushed_bytes_.clear();
    absl::erase_if(under_way_, [this](const auto& entry) {
      return !IsAwaiting(entry.first);
    });
  }

 private:
  // Shorter values are not worth the note.
  static constexpr int64_t kNotedBytes = 8 << 10;

  int64_t Given(AgentId agent) const {
    const auto pushed = pushed_bytes_.find(agent);
    return Waiting(agent) +
           (pushed == pushed_bytes_.end() ? 0 : pushed->second);
  }
  // Bytes wait for it, here or at an agent that passes them on.
  bool IsAwaiting(AgentId agent) const {
    return Waiting(agent) > 0 || multicast_.streams().IsAwaiting(agent);
  }

  const int64_t bytes_max_;
  const std::function<int64_t(AgentId)> queued_bytes_;
  const Multicast& multicast_;
  absl::Time now_ = absl::InfinitePast();
  absl::flat_hash_map<AgentId, int64_t> pushed_bytes_;
  absl::flat_hash_map<AgentId, absl::flat_hash_map<Label, absl::Time>>
      under_way_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_CREDIT_H_
