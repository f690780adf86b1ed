// Placement: the home and further holders of a key, by weighted rendezvous
// hashing. A pure function of the members and of the job's salts, so agents
// with equal views agree without a message, and a view change moves only keys
// of agents that came or left.
//
// Immutable but for a cache; used by one thread.
#ifndef DOGGED_KVSTORE_PLACEMENT_PLACEMENT_H_
#define DOGGED_KVSTORE_PLACEMENT_PLACEMENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/base/ids.h"

namespace dogged {

// PlacementMember: an agent that may hold shards.
struct PlacementMember {
  AgentId agent;
  std::string host;     // members with the same host die together
  int32_t workers = 1;  // the weight
};

// KeySalts: salts of some keys of a job, mixed into these before they are
// hashed, so that they fall elsewhere. See balance.h. 1 to 255; a key without a
// salt has 0.
using KeySalts = absl::flat_hash_map<uint64_t, uint8_t>;

// All that decides the homes of a job.
struct PlacementView {
  std::vector<PlacementMember> members;
  std::shared_ptr<const KeySalts> salts;  // null: none
};

class Placement {
 public:
  // `replicas` >= 1: how many ranks Ranks() gives, as far as there are members.
  Placement(std::vector<PlacementMember> members, int replicas,
            std::shared_ptr<const KeySalts> salts = nullptr);

  // The home of `key`: its first agent runs producers and answers, the others
  // hold copies. By falling weight, members on other hosts than the first
  // before those on its own. Empty only if there are no members.
  absl::Span<const AgentId> Ranks(uint64_t key) const;
  // The first of Ranks(); none if there are no members.
  AgentId Home(uint64_t key) const;
  // The place of `agent` in Ranks(key); -1 if it is not there.
  int RankOf(uint64_t key, AgentId agent) const;

  const std::vector<PlacementMember>& members() const { return members_; }
  // By position in members(): their hosts, numbered from 0 on.
  const std::vector<int32_t>& hosts() const { return hosts_; }
  bool Contains(AgentId agent) const;
  int replicas() const { return replicas_; }

  // Positions in members() of Ranks(), as they would be with this salt.
  using Positions = absl::InlinedVector<size_t, 3>;
  Positions RanksWith(uint64_t key, uint8_t salt) const;
  // The first of these is on `host`, a number of hosts().
  bool IsHomeHostWith(uint64_t key, uint8_t salt, int32_t host) const;

 private:
  using RankList = absl::InlinedVector<AgentId, 3>;
  RankList Compute(uint64_t key) const;
  double ScoreOf(uint64_t key, size_t position) const;
  // Among members without a rank, `a` gets the next one rather than `b`.
  bool ComesBefore(size_t a, size_t b, const Positions& ranks) const;

  // Forgets all keys beyond this number: a key is cheap to place again.
  static constexpr size_t kCachedKeysMax = 1 << 18;

  std::vector<PlacementMember> members_;  // sorted by agent
  std::vector<int32_t> hosts_;            // numbered, by position
  bool is_weighted_ = false;              // numbers of workers differ
  int replicas_;
  std::shared_ptr<const KeySalts> salts_;
  mutable std::vector<double> scores_;  // of one key; less than 0: has a rank
  mutable absl::flat_hash_map<uint64_t, RankList> cache_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_PLACEMENT_PLACEMENT_H_
