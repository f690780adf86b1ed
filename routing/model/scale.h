// Scale: prefix tables, joins and multicasts of up to a million agents, with
// the planners that agents use, but without the agents.
#ifndef DOGGED_ROUTING_MODEL_SCALE_H_
#define DOGGED_ROUTING_MODEL_SCALE_H_

#include <cstdint>
#include <vector>

#include "routing/plans/planner.h"
#include "runtime/base/random.h"

namespace dogged {

// Agents with distinct random IDs of as few digits as will do; some IDs are
// nobody's. Agents are named by their place in the order of IDs. Tables are
// not stored: an entry is a hash of its owner and its place.
class ScaleModel {
 public:
  ScaleModel(int64_t agents, int base, uint64_t seed);

  int64_t size() const { return std::ssize(ids_); }
  int digits() const { return digits_; }
  // The agent at (level, digit) of the table of `agent`; -1 for a hole.
  int64_t Entry(int64_t agent, int level, int digit) const;
  int64_t NextHop(int64_t agent, int64_t target) const;
  // Bytes of a full table with levels x base entries.
  int64_t table_bytes() const;

  // A tree of one multicast.
  struct Tree {
    int depth = 0;         // steps to the last destination
    int64_t messages = 0;  // one to each hop
    int64_t relays = 0;    // of those, to agents that are no destinations
    // Order of arrival, for PlayPipelined(): each hop after its parent, and
    // the children of one parent in the order in which it sends.
    std::vector<int64_t> parents;  // by position; -1 for the source
    std::vector<int64_t> places;   // by position: which agent it is
  };
  // `tree`: index below the planner's tree_count().
  Tree Multicast(MulticastPlan plan, int64_t source,
                 const std::vector<int64_t>& destinations, int tree = 0) const;

  // A new agent, with an ID that no agent has, joins by way of one agent. It
  // asks that agent for a row of its table, then the next hop towards its own
  // ID for the next row, until there is none nearer.
  struct JoinResult {
    int64_t messages = 0;  // requests and answers
    int64_t entries = 0;   // of the table that is built
    int64_t wrong = 0;     // entries that are holes though some agent would fit
  };
  JoinResult Join(Rng& rng) const;

 private:
  uint64_t Power(int exponent) const;
  int DigitOf(uint64_t id, int level) const;
  int CommonPrefix(uint64_t a, uint64_t b) const;
  // The entry of owner `id` for IDs that begin with `prefix` and `digit`.
  int64_t Pick(uint64_t id, int level, int digit) const;

  int base_;
  int digits_;
  std::vector<uint64_t> ids_;  // sorted
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MODEL_SCALE_H_
