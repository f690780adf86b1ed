// Wormhole: messages on a switch network that hold the links of their path.
//
// The kind of contention model: *path-holding*. The head of a message takes
// one link after the other, a step of time each; where a link is taken it
// waits, first come first served, and holds its links. Once it is through, the
// body follows, and all links are free at the same moment. Buffers of single
// flits are not modelled. Up/down routes can't wait in a circle.
#ifndef DOGGED_ROUTING_MODEL_WORMHOLE_H_
#define DOGGED_ROUTING_MODEL_WORMHOLE_H_

#include <cstdint>
#include <vector>

#include "routing/model/switch_network.h"

namespace dogged {

// MulticastSchedule: the sends of one multicast. A processor sends in the given
// order, once it has the message.
struct MulticastSchedule {
  int source = 0;
  std::vector<int> destinations;
  // By processor.
  std::vector<std::vector<int>> sends;
};

struct WormholeCosts {
  int64_t startup = 200;  // of software, per message, at the sender
  int64_t hop = 2;        // per link, of the head
  int64_t body = 128;     // flits that follow, one a step
};

struct WormholeResult {
  int64_t last = 0;         // when the last destination has it
  double mean = 0;          // over multicasts, of when each is over
  int64_t blocked = 0;      // time that heads waited for links between
                            // switches, over all messages
  int64_t undelivered = 0;  // destinations that were never sent to
};

// Plays all multicasts, which start at time 0. A processor sends one message
// at a time, in the order in which it could.
WormholeResult PlayWormhole(const SwitchNetwork& network,
                            const std::vector<MulticastSchedule>& multicasts,
                            const WormholeCosts& costs);

}  // namespace dogged

#endif  // DOGGED_ROUTING_MODEL_WORMHOLE_H_
