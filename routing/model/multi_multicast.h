// Many multicasts at once by agents [AG section 3.3], in four variants.
#ifndef DOGGED_ROUTING_MODEL_MULTI_MULTICAST_H_
#define DOGGED_ROUTING_MODEL_MULTI_MULTICAST_H_

#include <vector>

#include "routing/model/switch_network.h"
#include "routing/model/wormhole.h"
#include "runtime/base/random.h"

namespace dogged {

// Which agent of the root's subtrees a source sends to first.
enum class PrimaryAgent { kSameTree, kRandom };
// How primary agents pass messages on to the other subtrees.
enum class PrimaryExchange { kBinomial, kCyclic };

// The schedule of one of many multicasts. The source sends to its primary
// agent, this to the agents of the root's other subtrees and to a destination
// at the root itself, those within their subtrees.
//
// Where the report is silent: the ring of the cyclic exchange has the root's
// own destination first, then the subtrees in order, the same for all
// multicasts; the other destinations at the root get it from that first one in
// a binomial multicast; SameTree without a destination there is Random.
//
// Shape:   `destinations` are distinct and without the source.
MulticastSchedule AgentMulticast(const SwitchNetwork& network, int source,
                                 const std::vector<int>& destinations,
                                 PrimaryAgent primary, PrimaryExchange exchange,
                                 Rng& rng);

}  // namespace dogged

#endif  // DOGGED_ROUTING_MODEL_MULTI_MULTICAST_H_
