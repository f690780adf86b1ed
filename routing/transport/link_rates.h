// LinkRates: how many bytes a second each peer takes, learned from this
// agent's own traffic. A link shows its rate only while it is never idle, that
// is while bytes of one sample wait until the next one: a peer whose queue
// empties is as fast as this agent needs it to be, and has no rate here. Nor
// has one that was full last some seconds ago: the peer may have been slow as
// it computed, and an agent that sends no faster than a rate that is too low
// never sees a better one.
//
// A data structure: no messages; time is passed in. Used by one thread.
#ifndef DOGGED_ROUTING_TRANSPORT_LINK_RATES_H_
#define DOGGED_ROUTING_TRANSPORT_LINK_RATES_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"

namespace dogged {

class LinkRates {
 public:
  // `sent`: bytes ever handed to the transport for `peer`; `queued`: those of
  // them that wait. To be called at least once a pass while any wait.
  void Sample(absl::Time now, AgentId peer, int64_t sent, int64_t queued);
  void Forget(AgentId peer) { links_.erase(peer); }

  // 0 while it is unknown.
  double BytesPerSecond(AgentId peer) const;

 private:
  struct Link {
    absl::Time since = absl::InfiniteFuture();  // it was never idle
    int64_t sent = 0;                           // at the last sample
    absl::Time begin;                           // of the window
    int64_t taken = 0;                          // by the peer, until then
    double rate = 0;
    absl::Time seen = absl::InfinitePast();  // the rate
  };
  absl::flat_hash_map<AgentId, Link> links_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_LINK_RATES_H_
