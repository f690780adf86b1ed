// AgentSchedule: the agent-based multicast of [AG section 3]. Each subtree of
// a tree of switches has an agent A(v), which relays to the destinations in it;
// C(v) is the cost of that, in consecutive messages. The runtime runs it over
// the tree of topology IDs, the model over the breadth-first tree of a switch
// network.
//
// Where the report is silent: the source is the agent of every subtree that
// holds it; any other "arbitrary" agent is the first destination in order.
#ifndef DOGGED_ROUTING_PLANS_AGENT_SCHEDULE_H_
#define DOGGED_ROUTING_PLANS_AGENT_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dogged {

// Switches, and the destinations that are attached to each: D(v). Parents
// come before their children; node 0 is the root.
struct AgentTree {
  struct Node {
    int parent = -1;
    std::vector<int> children;
    std::vector<int> members;
  };
  std::vector<Node> nodes;
  int member_count = 0;  // members are 0 to member_count - 1

  // Returns the new node.
  int AddNode(int parent);
  // Returns the new member.
  int AddMember(int node);
};

class AgentSchedule {
 public:
  // `source`: a member that has the message already, or -1 for none: then the
  // agent of the root has it. Members are destinations, apart from the source.
  AgentSchedule(const AgentTree& tree, int source);

  // A(v): a member in the subtree of `node`; -1 if there is none.
  int agent(int node) const { return agents_[node]; }
  // C(v): messages one after another until all in the subtree have it, from
  // when its agent has it.
  int cost(int node) const { return costs_[node]; }

  // Targets of each member, in order, once it has the message.
  const std::vector<std::vector<int>>& sends() const { return sends_; }
  // How the agent of `node` and those below it send within its subtree alone.
  void Spread(int node, std::vector<std::vector<int>>& sends) const;

 private:
  // Receiver: a member that gets the message at a switch.
  struct Receiver {
    int member = -1;
    int node = -1;  // the subtree that it is the agent of; -1: of none
    int cost = 0;   // of that subtree
  };
  struct Step {
    int from = -1;
    Receiver to;
  };
  struct Plan {
    std::vector<Step> steps;
    int cost = 0;
  };

  void Visit(int node, int source);
  Plan PlanAt(int node) const;
  // ForwardInSwitch: D(v) is not empty. Members of D(v) send on; agents of
  // subtrees see to their subtree. Tries each number of members to serve before
  // the agents and takes the plan that ends first.
  Plan ForwardInSwitch(int node) const;
  Plan ForwardInOrder(int holder, int holder_cost,
                      const std::vector<Receiver>& order) const;
  // D(v) is empty: a binomial multicast among the agents of the children.
  Plan BinomialAmongAgents(int node) const;

  const AgentTree& tree_;
  std::vector<int> agents_;
  std::vector<int> costs_;
  std::vector<std::vector<int>> sends_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_PLANS_AGENT_SCHEDULE_H_
