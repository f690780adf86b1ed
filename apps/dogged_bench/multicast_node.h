// Multicast node: an agent's routing without the agent: multicast machine,
// packer and fabric, told on standard input what to send. `dogged-bench
// multicast` runs a node on each host.
//
// Lines in: "member ID TOPOLOGY HOST ADDRESS", "plan NAME SEGMENT", "go BYTES
// ID,...", "dead ID". Lines out: "address TEXT", "ok", "sent NS MESSAGES",
// "got ORIGIN NS".
#ifndef DOGGED_APPS_DOGGED_BENCH_MULTICAST_NODE_H_
#define DOGGED_APPS_DOGGED_BENCH_MULTICAST_NODE_H_

#include <string>
#include <vector>

namespace dogged {

// `words`: the node's ID and the address to listen at. Returns an exit status.
int MulticastNode(const std::vector<std::string>& words);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_MULTICAST_NODE_H_
