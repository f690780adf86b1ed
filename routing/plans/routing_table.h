// RoutingTable: the compact table with holes of [MC section 5.1]. Entry
// (level, digit) of agent x is some agent that shares exactly `level` leading
// digits with x and has `digit` next; a hole if the view has no such agent. A
// hash of x and the candidate chooses among several: as good as at random [MC
// section 6.1], but the same every time, and different at different agents.
#ifndef DOGGED_ROUTING_PLANS_ROUTING_TABLE_H_
#define DOGGED_ROUTING_PLANS_ROUTING_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "routing/membership/view.h"
#include "routing/topology/topology_id.h"
#include "runtime/base/ids.h"

namespace dogged {

class RoutingTable {
 public:
  RoutingTable() = default;
  // The table of `self`, a member or not of `view`, whose ID is `topology_id`.
  //
  // Cost: O(members x digits).
  RoutingTable(AgentId self, const TopologyId& topology_id, const View& view);

  int level_count() const { return topology_id_.size(); }
  int column_count() const { return column_count_; }
  // None for a hole.
  AgentId entry(int level, int digit) const;
  // Levels x columns, holes too: 80 for 10^6 agents in base 16.
  int64_t entry_count() const { return std::ssize(entries_); }
  int64_t bytes() const {
    return static_cast<int64_t>(sizeof(*this) +
                                entries_.capacity() * sizeof(AgentId));
  }
  // All agents in the table, without holes, sorted.
  std::vector<AgentId> Neighbours() const;
  AgentId self() const { return self_; }
  const TopologyId& topology_id() const { return topology_id_; }

  // The table as text: a line for each level, "-" for a hole.
  std::string ToString() const;

 private:
  // The place in entries_ where `member` is a candidate, or -1.
  int64_t SlotOf(const Member& member) const;
  bool IsBetter(const Member& candidate, const Member& than) const;

  AgentId self_;
  TopologyId topology_id_;
  int column_count_ = 0;
  std::vector<AgentId> entries_;
};

// Where a message from the table's owner to `target` goes first: an agent with
// a longer common prefix with `target` [MC Lemma 1], or `target` itself when
// no digit tells them apart (two agents with one ID) or the entry is a hole.
[[nodiscard]] AgentId NextHop(const RoutingTable& table, const Member& target);

// To which agents this one keeps life lines: its routing neighbours, at most
// `neighbours_max` of them, and its two successors on the ring of IDs. Sorted.
[[nodiscard]] std::vector<AgentId> LifeLinesOf(const RoutingTable& table,
                                               const View& view,
                                               int neighbours_max);

}  // namespace dogged

#endif  // DOGGED_ROUTING_PLANS_ROUTING_TABLE_H_
