// Placement: which agents a key's home is, by weighted rendezvous hashing. A
// pure function of the members, so agents with equal views agree without a
// word, and a view change moves only the keys of who came or left.
//
// Immutable but for a cache; used by one thread.
#ifndef DOGGED_KVSTORE_PLACEMENT_H_
#define DOGGED_KVSTORE_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/base/ids.h"

namespace dogged {

// Who may hold shards.
struct PlacementMember {
  AgentId agent;
  std::string host;     // members with the same host die together
  int32_t workers = 1;  // the weight
};

class Placement {
 public:
  // `replicas` >= 1: how many ranks Ranks() gives, as far as there are members.
  Placement(std::vector<PlacementMember> members, int replicas);

  // The home of `key`: its first agent runs producers and answers, the others
  // hold copies. By falling weight, members on other hosts than the first
  // before those on its own. Empty only if there are no members.
  absl::Span<const AgentId> Ranks(uint64_t key) const;
  // The first of Ranks(); none if there are no members.
  AgentId Home(uint64_t key) const;
  // The place of `agent` in Ranks(key); -1 if it is not there.
  int RankOf(uint64_t key, AgentId agent) const;

  const std::vector<PlacementMember>& members() const { return members_; }
  bool Contains(AgentId agent) const;
  int replicas() const { return replicas_; }

 private:
  using RankList = absl::InlinedVector<AgentId, 3>;
  RankList Compute(uint64_t key) const;

  // Forgets all beyond this many keys: a key is cheap to place again.
  static constexpr size_t kCachedKeysMax = 1 << 18;

  std::vector<PlacementMember> members_;  // sorted by agent
  int replicas_;
  mutable absl::flat_hash_map<uint64_t, RankList> cache_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_PLACEMENT_H_
