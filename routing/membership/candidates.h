// Candidates: agents that were named in a meeting, and that this agent has not
// heard. Each is pinged now and then, and forgotten if it says nothing for
// long. Times are awake times, see Membership.
//
// A data structure. Used by one thread.
#ifndef DOGGED_ROUTING_MEMBERSHIP_CANDIDATES_H_
#define DOGGED_ROUTING_MEMBERSHIP_CANDIDATES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "routing/membership/gossip_codec.h"
#include "routing/membership/view.h"
#include "runtime/base/ids.h"

namespace dogged {

class Candidates {
 public:
  // A candidate that says nothing for `time_max` is forgotten.
  explicit Candidates(absl::Duration time_max) : time_max_(time_max) {}
  Candidates(const Candidates&) = delete;
  Candidates& operator=(const Candidates&) = delete;

  // False if it is one. Else all are pinged next.
  bool Add(MemberFact fact, absl::Time now);
  void Remove(AgentId id) { candidates_.erase(id); }
  // It was heard, and is none any more.
  MemberFact Take(AgentId id);

  bool Contains(AgentId id) const { return candidates_.contains(id); }
  int64_t size() const { return std::ssize(candidates_); }
  std::vector<AgentId> ids() const;
  std::vector<MemberFact> facts() const;
  // When Tick() has something to do; never without candidates.
  absl::Time next_ping() const {
    return candidates_.empty() ? absl::InfiniteFuture() : next_ping_;
  }

  struct Due {
    std::vector<Member> forgotten;
    std::vector<AgentId> to_ping;
  };
  Due Tick(absl::Time now);

 private:
  struct Candidate {
    MemberFact fact;
    absl::Time since;
  };

  const absl::Duration time_max_;
  std::map<AgentId, Candidate> candidates_;
  absl::Time next_ping_ = absl::UnixEpoch();
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_CANDIDATES_H_
