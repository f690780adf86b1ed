#include "routing/plans/agent_schedule.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"

namespace dogged {

int AgentTree::AddNode(int parent) {
  const int node = static_cast<int>(nodes.size());
  DOGGED_CHECK(parent < node) << "parent " << parent << " of " << node;
  nodes.push_back({.parent = parent});
  if (parent >= 0) nodes[parent].children.push_back(node);
  return node;
}

int AgentTree::AddMember(int node) {
  nodes[node].members.push_back(member_count);
  return member_count++;
}

AgentSchedule::AgentSchedule(const AgentTree& tree, int source)
    : tree_(tree),
      agents_(tree.nodes.size(), -1),
      costs_(tree.nodes.size(), 0),
      sends_(tree.member_count) {
  for (int node = static_cast<int>(tree.nodes.size()) - 1; node >= 0; --node) {
    Visit(node, source);
  }
  if (!agents_.empty() && agents_[0] >= 0) Spread(0, sends_);
}

void AgentSchedule::Visit(int node, int source) {
  const AgentTree::Node& at = tree_.nodes[node];
  const auto has_source =
      std::find(at.members.begin(), at.members.end(), source);
  int best = has_source != at.members.end() ? source : -1;
  for (int child : at.children) {
    if (source >= 0 && agents_[child] == source) best = source;
  }
  if (best < 0 && !at.members.empty()) best = at.members.front();
  if (best < 0) {
    int highest = -1;
    for (int child : at.children) {
      if (agents_[child] >= 0 && costs_[child] > highest) {
        highest = costs_[child];
        best = agents_[child];
      }
    }
  }
  agents_[node] = best;
  if (best >= 0) costs_[node] = PlanAt(node).cost;
}

AgentSchedule::Plan AgentSchedule::PlanAt(int node) const {
  return tree_.nodes[node].members.empty() ? BinomialAmongAgents(node)
                                           : ForwardInSwitch(node);
}

void AgentSchedule::Spread(int node,
                           std::vector<std::vector<int>>& sends) const {
  // The holder's own subtree comes after its sends here.
  for (const Step& step : PlanAt(node).steps) {
    sends[step.from].push_back(step.to.member);
  }
  for (int child : tree_.nodes[node].children) {
    if (agents_[child] >= 0) Spread(child, sends);
  }
}

AgentSchedule::Plan AgentSchedule::ForwardInSwitch(int node) const {
  const AgentTree::Node& at = tree_.nodes[node];
  const int holder = agents_[node];
  int holder_cost = 0;
  std::vector<Receiver> agents;
  for (int child : at.children) {
    const int agent = agents_[child];
    if (agent < 0) continue;
    if (agent == holder) {
      holder_cost = costs_[child];
    } else {
      agents.push_back({agent, child, costs_[child]});
    }
  }
  std::stable_sort(
      agents.begin(), agents.end(),
      [](const Receiver& a, const Receiver& b) { return a.cost > b.cost; });
  std::vector<Receiver> local;
  for (int member : at.members) {
    if (member != holder) local.push_back({.member = member});
  }
  Plan best;
  best.cost = -1;
  // 0, 1, 3, 7, ... members first: so many double the senders that there are.
  for (size_t first = 0;; first = 2 * first + 1) {
    first = std::min(first, local.size());
    const auto split = local.begin() + first;
    std::vector<Receiver> order(local.begin(), split);
    order.insert(order.end(), agents.begin(), agents.end());
    order.insert(order.end(), split, local.end());
    Plan plan = ForwardInOrder(holder, holder_cost, order);
    if (best.cost < 0 || plan.cost < best.cost) best = std::move(plan);
    if (first == local.size()) return best;
  }
}

AgentSchedule::Plan AgentSchedule::ForwardInOrder(
    int holder, int holder_cost, const std::vector<Receiver>& order) const {
  Plan plan;
  std::vector<int> senders = {holder};
  int holder_free = 0;
  int round = 0;
  for (size_t next = 0; next < order.size(); ++round) {
    const size_t count = senders.size();
    for (size_t s = 0; s < count && next < order.size(); ++s, ++next) {
      const Receiver& to = order[next];
      plan.steps.push_back({senders[s], to});
      plan.cost = std::max(plan.cost, round + 1 + to.cost);
      if (to.node < 0) senders.push_back(to.member);
      if (s == 0) holder_free = round + 1;
    }
  }
  plan.cost = std::max(plan.cost, holder_free + holder_cost);
  return plan;
}

AgentSchedule::Plan AgentSchedule::BinomialAmongAgents(int node) const {
  const int holder = agents_[node];
  std::vector<Receiver> ranks;
  for (int child : tree_.nodes[node].children) {
    const int agent = agents_[child];
    if (agent >= 0) ranks.push_back({agent, child, costs_[child]});
  }
  // The holder comes first, then the agents of costly subtrees, which have most
  // to send.
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](const Receiver& a, const Receiver& b) {
                     if ((a.member == holder) != (b.member == holder)) {
                       return a.member == holder;
                     }
                     return a.cost > b.cost;
                   });
  Plan plan;
  std::vector<int> free(ranks.size(), 0);
  size_t have = 1;
  for (int round = 0; have < ranks.size(); ++round) {
    const size_t count = have;
    for (size_t s = 0; s < count && have < ranks.size(); ++s, ++have) {
      plan.steps.push_back({ranks[s].member, ranks[have]});
      free[s] = free[have] = round + 1;
    }
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    plan.cost = std::max(plan.cost, free[i] + ranks[i].cost);
  }
  return plan;
}

}  // namespace dogged
