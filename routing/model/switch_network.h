// SwitchNetwork: switches in an irregular graph, processors on each, and the
// up/down routes between them [AG section 2].
#ifndef DOGGED_ROUTING_MODEL_SWITCH_NETWORK_H_
#define DOGGED_ROUTING_MODEL_SWITCH_NETWORK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/random.h"

namespace dogged {

class SwitchNetwork {
 public:
  // A connected random graph: a random tree, and then cables between switches
  // that have ports left, `ports` for other switches each.
  static SwitchNetwork Random(Rng& rng, int switches, int processors_each,
                              int ports);
  // Cables as given; switch 0 is the root of the breadth-first tree.
  SwitchNetwork(int switches, int processors_each,
                const std::vector<std::pair<int, int>>& cables);

  int switch_count() const { return static_cast<int>(cables_.size()); }
  int processor_count() const { return switch_count() * processors_each_; }
  int switch_of(int processor) const { return processor / processors_each_; }
  // The breadth-first tree that up/down routing is built on.
  int parent(int at) const { return parents_[at]; }
  int level(int at) const { return levels_[at]; }
  const std::vector<int>& children(int at) const { return children_[at]; }
  const std::vector<int>& cables(int at) const { return cables_[at]; }

  // Up: towards the root, or to a lower number on the same level. "A tree edge
  // going up the tree, or a cross edge going from a processor with a higher
  // processor id to a processor with a lower one, are referred to as up
  // links": where a cross edge joins two levels, up is towards the root, or
  // the shortest ways down would be forbidden.
  bool IsUp(int from, int to) const;

  // Number of links: one each way for each cable, one into the network and one
  // out of it for each processor.
  int link_count() const { return link_count_; }
  // A shortest way that goes up first and then only down, as links, from
  // processor to processor. Ties go to the first in order of switches.
  std::vector<int> Route(int from, int to) const;

 private:
  void BuildTree();
  void BuildRoutes();
  int LinkBetween(int from, int to) const;

  int processors_each_ = 0;
  int link_count_ = 0;
  std::vector<std::vector<int>> cables_;  // by switch: its neighbours, sorted
  std::vector<std::vector<int>> links_;   // the link to each of them
  std::vector<int> parents_, levels_;
  std::vector<std::vector<int>> children_;
  // By (switch, destination): steps to go, while up is allowed and after; -1
  // for no way.
  std::vector<std::vector<int>> up_steps_, down_steps_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MODEL_SWITCH_NETWORK_H_
