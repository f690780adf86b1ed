// MembershipChanges: news of membership, on their way to the components of one
// agent. Members that come and go are told to the mailbox and to runs, records
// go to the component that reads them, and after them all runs are placed in
// the newest view. The events stay for the loop, which logs them.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_MEMBERSHIP_CHANGES_H_
#define DOGGED_RUNTIME_AGENT_MEMBERSHIP_CHANGES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "routing/membership/membership.h"
#include "routing/membership/view.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_lifecycle.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/mailbox.h"

namespace dogged {

class MembershipChanges {
 public:
  MembershipChanges(AgentContext& agent, Mailbox& mailbox, JobTable& table,
                    JobTakers& takers, JobLifecycle& lifecycle)
      : agent_(agent),
        mailbox_(mailbox),
        table_(table),
        takers_(takers),
        lifecycle_(lifecycle) {}
  MembershipChanges(const MembershipChanges&) = delete;
  MembershipChanges& operator=(const MembershipChanges&) = delete;

  // Acts on what happened since the last call.
  void Handle(absl::Time now);
  // Likewise, if the view has changed: an agent that leaves hands over at once,
  // which counts on the view that it told of.
  void HandleNewView(absl::Time now) {
    if (agent_.membership.view() != placed_view_) Handle(now);
  }
  // Likewise, and places all runs anew: this agent has left.
  void HandleOwnLeave(absl::Time now) {
    placed_view_ = nullptr;
    Handle(now);
  }
  // Since the last call.
  std::vector<MembershipEvent> TakeEvents() {
    return std::exchange(events_, {});
  }

 private:
  void ApplyRecord(absl::Time now, const std::string& key);
  void PlaceRuns(absl::Time now);

  AgentContext& agent_;
  Mailbox& mailbox_;
  JobTable& table_;
  JobTakers& takers_;
  JobLifecycle& lifecycle_;
  std::shared_ptr<const View> placed_view_;  // in which all runs are placed
  std::vector<MembershipEvent> events_;      // until TakeEvents()
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_MEMBERSHIP_CHANGES_H_
