#include "routing/model/multi_multicast.h"

#include <algorithm>

#include "routing/model/chain_order.h"
#include "routing/plans/agent_schedule.h"

namespace dogged {
namespace {

// The breadth-first tree of the network, with the destinations on it.
struct NetworkTree {
  AgentTree tree;
  std::vector<int> node_of;    // by switch
  std::vector<int> processor;  // by member
};

NetworkTree TreeOf(const SwitchNetwork& network,
                   const std::vector<int>& destinations) {
  NetworkTree out;
  out.node_of.assign(network.switch_count(), -1);
  std::vector<int> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {
    const int at = order[i];
    const int parent = network.parent(at);
    out.node_of[at] = out.tree.AddNode(parent < 0 ? -1 : out.node_of[parent]);
    order.insert(order.end(), network.children(at).begin(),
                 network.children(at).end());
  }
  for (int destination : destinations) {
    out.tree.AddMember(out.node_of[network.switch_of(destination)]);
    out.processor.push_back(destination);
  }
  return out;
}

}  // namespace

MulticastSchedule AgentMulticast(const SwitchNetwork& network, int source,
                                 const std::vector<int>& destinations,
                                 PrimaryAgent primary, PrimaryExchange exchange,
                                 Rng& rng) {
  MulticastSchedule out{source, destinations, {}};
  out.sends.resize(network.processor_count());
  const NetworkTree net = TreeOf(network, destinations);
  const AgentSchedule schedule(net.tree, -1);
  // The root's own destination, if any, then the agents of its subtrees.
  const AgentTree::Node& root = net.tree.nodes[0];
  std::vector<int> ring;
  std::vector<int> subtrees;  // by place in the ring; -1 for the root itself
  if (!root.members.empty()) {
    ring.push_back(net.processor[root.members[0]]);
    subtrees.push_back(-1);
  }
  for (int child : root.children) {
    if (schedule.agent(child) < 0) continue;
    ring.push_back(net.processor[schedule.agent(child)]);
    subtrees.push_back(child);
  }
  if (ring.empty()) return out;
  int top = network.switch_of(source);
  while (network.parent(top) > 0) top = network.parent(top);
  const int home = network.parent(top) < 0 ? -1 : net.node_of[top];
  auto first = static_cast<size_t>(rng.Below(std::ssize(ring)));
  const auto same = std::find(subtrees.begin(), subtrees.end(), home);
  if (primary == PrimaryAgent::kSameTree && same != subtrees.end()) {
    first = static_cast<size_t>(same - subtrees.begin());
  }
  std::rotate(ring.begin(), ring.begin() + first, ring.end());
  if (ring[0] != source) out.sends[source].push_back(ring[0]);
  if (exchange == PrimaryExchange::kBinomial) {
    BinomialSends(ring, out.sends);
  } else {
    for (size_t i = 0; i + 1 < ring.size(); ++i) {
      out.sends[ring[i]].push_back(ring[i + 1]);
    }
  }
  std::vector<std::vector<int>> within(net.tree.member_count);
  for (int child : root.children) {
    if (schedule.agent(child) >= 0) schedule.Spread(child, within);
  }
  for (size_t member = 0; member < within.size(); ++member) {
    for (int to : within[member]) {
      out.sends[net.processor[member]].push_back(net.processor[to]);
    }
  }
  std::vector<int> at_root;
  for (int member : root.members) at_root.push_back(net.processor[member]);
  if (at_root.size() > 1) BinomialSends(at_root, out.sends);
  return out;
}

}  // namespace dogged
