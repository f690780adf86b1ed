// Credit: whether an agent takes what is sent to it. Bytes are pushed only
// against it (design section 3.7); without credit it hears what is bound, and
// asks for what it needs.
#ifndef DOGGED_RUNTIME_AGENT_CREDIT_H_
#define DOGGED_RUNTIME_AGENT_CREDIT_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "routing/multicast.h"
#include "runtime/base/ids.h"

namespace dogged {

// Why a value is sent. A long copy is offered by its digest first, for whoever
// gets it may have it; what was demanded needs no credit.
enum class Sending { kPublication, kCopy, kDemanded };

class Credit {
 public:
  // `queued_bytes`: Transport::queued_bytes(). `multicast` outlives this.
  Credit(int64_t bytes_max, std::function<int64_t(AgentId)> queued_bytes,
         const Multicast& multicast)
      : bytes_max_(bytes_max),
        queued_bytes_(std::move(queued_bytes)),
        multicast_(multicast) {}

  bool Has(AgentId agent) const {
    const auto pushed = pushed_bytes_.find(agent);
    const int64_t in_pass = pushed == pushed_bytes_.end() ? 0 : pushed->second;
    return in_pass + queued_bytes_(agent) +
               multicast_.streams().BytesOwed(agent) <
           bytes_max_;
  }
  void Use(AgentId agent, int64_t bytes) { pushed_bytes_[agent] += bytes; }
  // What was pushed in the pass before is queued, or gone.
  void BeginPass() { pushed_bytes_.clear(); }

 private:
  const int64_t bytes_max_;
  const std::function<int64_t(AgentId)> queued_bytes_;
  const Multicast& multicast_;
  absl::flat_hash_map<AgentId, int64_t> pushed_bytes_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_CREDIT_H_
