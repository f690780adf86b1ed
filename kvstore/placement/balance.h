// Balance: salts that give each member its share of a job's keys.
//
// A hash spreads many keys evenly, but few keys badly: of 16 that two agents
// share one gets 12 now and then. Here each key in turn, those with most to do
// first, takes the first salt with which its home still has room. So the homes
// are even, and the copies about so, for these members; for others it is plain
// rendezvous hashing of salted keys, which moves no more than it must.
//
// A layout (layouts.h) names a host for each key; then its salt is one that
// puts it there, on an agent with room.
#ifndef DOGGED_KVSTORE_PLACEMENT_BALANCE_H_
#define DOGGED_KVSTORE_PLACEMENT_BALANCE_H_

#include <cstdint>
#include <vector>

#include "kvstore/placement/placement.h"

namespace dogged {

struct KeyLoad {
  uint64_t key = 0;
  int64_t load = 0;  // work of its home, in any unit
  // Where its home is to be: a number of Placement::hosts(); -1: anywhere.
  int32_t host = -1;
  friend bool operator==(const KeyLoad&, const KeyLoad&) = default;
};

// More keys than this a hash spreads evenly enough.
inline constexpr int64_t kBalancedKeysMax = 4096;
inline constexpr int64_t kBalancedMembersMax = 256;

// `keys` are distinct; keys with equal loads are listed with neighbours in
// sequence, and kept together in pairs. None for more keys or members than some
// milliseconds suffice for; then the hash decides.
//
// Cost: O(keys x members), a few times. With hosts named a key has to look at
// as many salts as there are hosts: some tens of milliseconds for 2080 keys and
// 64 hosts. Beyond that some keys, 2 of 100 there, find no salt, and stay where
// they are.
KeySalts BalancedSalts(const std::vector<PlacementMember>& members,
                       int replicas, std::vector<KeyLoad> keys);

}  // namespace dogged

#endif  // DOGGED_KVSTORE_PLACEMENT_BALANCE_H_
