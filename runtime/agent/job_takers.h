// JobTakers: the agents that run each job: members of its numeric class without
// a trouble of their own (troubles.h). Its runs are placed among them, anew
// when the view, a trouble or the salts change; its own troubles are told to
// all. A job that no agent has been able to run for too long fails.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_TAKERS_H_
#define DOGGED_RUNTIME_AGENT_JOB_TAKERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kvstore/placement/placement.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/records/troubles.h"
#include "runtime/base/hash.h"
#include "runtime/graph/job.h"

namespace dogged {

class JobTakers {
 public:
  JobTakers(AgentContext& agent, const JobRecords& records, JobTable& table)
      : agent_(agent),
        records_(records),
        table_(table),
        has_settled_(!agent.options.membership.looks_for_others) {}
  JobTakers(const JobTakers&) = delete;
  JobTakers& operator=(const JobTakers&) = delete;

  // --- questions
  std::vector<const Member*> TakersOf(const Job& job, const Digest& hash) const;
  // The takers as homes of labels; an agent that leaves is none of them, if
  // there are others.
  PlacementView PlacementOf(const Job& job, const Digest& hash) const;
  Troubles TroublesOfJob(const Digest& hash) const;
  // Another agent would take over what is here.
  bool HasHeirs(const JobEntry& entry) const;

  // --- changes
  // Places the run of `entry` in the view, unless no agent is left for it.
  void Place(absl::Time now, JobEntry& entry);
  // A record of this key has come: salts, or a trouble.
  void ApplySalts(absl::Time now, const std::string& key);
  void ApplyTrouble(absl::Time now, const std::string& key);
  // Submissions of a job began or ended: other troubles count.
  void ReadTroubles(absl::Time now, JobEntry& entry);
  // Tells all what runs suffer from.
  void TellTroubles(absl::Time now);
  // Jobs that have to fail, and why.
  std::vector<std::pair<JobId, absl::Status>> TakeUnservable(absl::Time now);

  void NoteSettled() { has_settled_ = true; }
  bool HasSettled() const { return has_settled_; }
  // A member died, of this cause.
  void NoteLoss(absl::string_view cause);

 private:
  // Members of the job's numeric class.
  std::vector<const Member*> ClassOf(const Job& job) const;
  // Agents may live that this one is cut off from, or has not met yet.
  bool MayHaveOthers() const;

  AgentContext& agent_;
  const JobRecords& records_;
  JobTable& table_;
  // Contacts were asked for other agents.
  bool has_settled_;
  bool has_lost_ = false;         // members that died
  bool has_lost_silent_ = false;  // of which nobody knows the end
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_TAKERS_H_
