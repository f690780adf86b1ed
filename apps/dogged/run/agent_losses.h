// AgentLosses: which agents came to a run, and which were lost to it. An agent
// that took leave is no loss, even if another took its end for a death.
//
// A data structure. Used by one thread.
#ifndef DOGGED_APPS_DOGGED_RUN_AGENT_LOSSES_H_
#define DOGGED_APPS_DOGGED_RUN_AGENT_LOSSES_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "apps/output/run_text.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/ids.h"

namespace dogged {

class AgentLosses {
 public:
  // Takes in the replies of a cluster's agents, `after` the start: dead agents
  // that were alive once are lost. Returns the new losses.
  std::vector<Loss> Note(const std::vector<StatusReply>& replies,
                         absl::Duration after);
  // Notes a loss that is known otherwise.
  // Nobody tells any more what became of those that were there: they are lost,
  // until one of them answers.
  void LoseAll(const std::string& cause, absl::Duration after);
  void Lose(const std::string& who, AgentId agent, const std::string& cause,
            absl::Duration after);
  // Notes that agent `by` came for the one lost at `position`.
  void Replace(size_t position, const std::string& by);

  // Agents that Note() heard of and that were alive once.
  int known_count() const { return static_cast<int>(known_.size()); }
  // Agents of these that took leave.
  int left_count() const;
  // Agents of these that neither left nor are lost, whether they answer or not.
  int alive_count() const;
  const std::vector<Loss>& losses() const { return losses_; }
  // Addresses of agents that `replies` hold for alive, and that did not reply.
  static std::vector<std::string> Unheard(
      const std::vector<StatusReply>& replies);
  // IDs of the agents of losses(), by position; none if not known.
  const std::vector<AgentId>& lost() const { return lost_; }

 private:
  std::set<AgentId> known_;
  std::set<AgentId> left_;
  std::set<AgentId> missing_;  // by LoseAll()
  std::vector<Loss> losses_;
  std::vector<AgentId> lost_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_AGENT_LOSSES_H_
