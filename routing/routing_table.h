// RoutingTable: the compact table with holes of [MC section 5.1]. Entry
// (level, digit) of agent x is some agent that shares exactly `level` leading
// digits with x and has `digit` next; a hole if the view has no such agent.
#ifndef DOGGED_ROUTING_ROUTING_TABLE_H_
#define DOGGED_ROUTING_ROUTING_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "routing/topology_id.h"
#include "routing/view.h"
#include "runtime/base/ids.h"

namespace dogged {

// Which of the candidates of an entry is taken [MC section 6.1].
enum class EntryChoice {
  // By a hash of (self, candidate): as good as at random, but the same every
  // time, and different at different agents.
  kRandom,
  // The one whose further digits are like self's for longest: the one in the
  // same place of its own subtree. Among equals by the hash.
  kNearest,
};

class RoutingTable {
 public:
  RoutingTable() = default;
  // The table of `self`, a member or not of `view`, whose ID is `topology_id`.
  //
  // Cost: O(members x digits).
  RoutingTable(AgentId self, const TopologyId& topology_id, const View& view,
               EntryChoice choice = EntryChoice::kRandom);

  // The table as it is after a member joined, or left: the same as that of
  // the view with it, or without. Change no entry but the member's own.
  //
  // Shape:   Remove: `view` is without the member. A base larger than that of
  //          all members before is not for Add: make a new table.
  // Cost:    Add O(digits); Remove O(1), or O(members x digits) if it was in
  //          the table.
  void Add(const Member& member, const View& view);
  void Remove(const Member& member, const View& view);

  int level_count() const { return topology_id_.size(); }
  int column_count() const { return column_count_; }
  // None for a hole.
  AgentId entry(int level, int digit) const;
  // Levels x columns, holes too: 80 for 10^6 agents in base 16.
  int64_t entry_count() const { return static_cast<int64_t>(entries_.size()); }
  int64_t bytes() const {
    return static_cast<int64_t>(sizeof(*this) +
                                entries_.capacity() * sizeof(AgentId));
  }
  // All agents in the table, without holes, sorted.
  std::vector<AgentId> Neighbours() const;
  AgentId self() const { return self_; }
  const TopologyId& topology_id() const { return topology_id_; }

  // The table as text: one line a level, "-" for a hole.
  std::string ToString() const;

 private:
  // The place in entries_ where `member` is a candidate, or -1.
  int64_t SlotOf(const Member& member) const;
  bool IsBetter(const Member& candidate, const Member& than) const;

  AgentId self_;
  TopologyId topology_id_;
  int column_count_ = 0;
  EntryChoice choice_ = EntryChoice::kRandom;
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

#endif  // DOGGED_ROUTING_ROUTING_TABLE_H_
