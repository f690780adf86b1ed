// Prefix-routed multicasts [MC] on a network of switches whose breadth-first
// tree gives the topology IDs: the switches from the root down, then the
// processor.
#ifndef DOGGED_ROUTING_MODEL_PREFIX_MULTICAST_H_
#define DOGGED_ROUTING_MODEL_PREFIX_MULTICAST_H_

#include <vector>

#include "routing/model/switch_network.h"
#include "routing/model/wormhole.h"

namespace dogged {

// Which of several candidates is an entry of a table [MC section 6.1]. Agents
// take a hash (routing_table.h): by IDs alone all of them are equally far.
enum class EntryChoice {
  kHashed,
  kNearest,  // by the shortest route; then the hash
};

// The schedule that the agents' own planner makes, with such tables.
//
// Shape:   `destinations` are distinct and without the source.
// Cost:    O(n^2) routes at worst for n processors.
MulticastSchedule PrefixMulticast(const SwitchNetwork& network, int source,
                                  const std::vector<int>& destinations,
                                  EntryChoice choice);

}  // namespace dogged

#endif  // DOGGED_ROUTING_MODEL_PREFIX_MULTICAST_H_
