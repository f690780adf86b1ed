// Troubles: defects of agents and not of a job: memory too small for a task, a
// disk that takes no more, a compiler that fails. The agent tells its own in a
// record beside the job's, which travels with membership gossip, and all agents
// place the job without it, as without agents of another numeric class. The job
// fails if no agent is left, in the words of all.
//
// A trouble counts as long as no submission runs but such as came after it: who
// submits a job again has it tried again.
#ifndef DOGGED_RUNTIME_AGENT_RECORDS_TROUBLES_H_
#define DOGGED_RUNTIME_AGENT_RECORDS_TROUBLES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "routing/membership/record_set.h"
#include "routing/membership/view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/job/context/trouble.h"

namespace dogged {

// By agent.
using Troubles = std::map<AgentId, Trouble>;

// The key of an agent's record on a job. Keys on a job begin alike.
std::string TroubleKey(const Digest& job, AgentId agent);
std::string TroublePrefix(const Digest& job);
bool IsTroubleKey(absl::string_view key);

// Troubles on `job` in `records` that count while the submissions `running`
// run.
Troubles TroublesOf(const RecordSet& records, const Digest& job,
                    absl::Span<const SubmissionId> running);

// The members that are to run a job, out of `members` that could: those without
// a trouble, else with the least. Empty if all are unable.
std::vector<const Member*> TakersOf(std::vector<const Member*> members,
                                    const Troubles& troubles);

// "agent 3f2a at HOST:PORT: why"; for each of `members` that has one.
std::vector<std::string> WordsOf(const Troubles& troubles,
                                 absl::Span<const Member> members);
// The failure of a job that none of `members`, which are all unable, runs.
absl::Status NobodyLeft(const Troubles& troubles,
                        const std::vector<const Member*>& members);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_RECORDS_TROUBLES_H_
