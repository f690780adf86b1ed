#include "apps/dogged/cluster_target.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/dogged/cluster_client.h"
#include "apps/dogged/errors.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// The members alive, and the mean of their workers, rounded up.
dsl::TargetSize SizeOf(const std::vector<StatusReply>& replies) {
  int64_t agents = 0;
  int64_t workers = 0;
  for (const StatusReply& reply : replies) {
    int64_t alive = 0;
    int64_t sum = 0;
    for (const MemberStatus& m : reply.members) {
      if (m.state != "alive") continue;
      ++alive;
      sum += m.member.workers;
    }
    if (alive <= agents) continue;  // of a view that lags behind
    agents = alive;
    workers = sum;
  }
  const int64_t most = JobOptions::kTargetMax;
  agents = std::clamp<int64_t>(agents, 1, most);
  return {
      .agents = agents,
      .workers = std::clamp<int64_t>((workers + agents - 1) / agents, 1, most)};
}

// One of the agents has it, running or done.
bool HasResults(ClusterClient& client, const Digest& hash) {
  const StatusRequest request{.jobs = {.job = JobId(hash.high)}};
  for (const StatusReply& reply : client.PollStatus(request)) {
    for (const JobSummary& job : reply.jobs) {
      const JobState state = job.record.state;
      if (job.record.hash == hash &&
          (state == JobState::kRunning || state == JobState::kDone)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<LoadedProgram> LoadForCluster(RunOptions& options,
                                             const KernelSource& kernels) {
  const ProgramOptions given = options.program;
  const auto client = ClusterClient::Connect(
      {options.cluster}, {.patience = ClusterClient::kNamedPatience});
  if (!client.ok()) {
    SayError(client.status().message());
    return client.status();
  }
  const auto replies = (*client)->AwaitStatus();
  if (!replies.ok()) {
    SayError(replies.status().message());
    return replies.status();
  }
  const auto fill = [&](const dsl::TargetSize& size) {
    if (given.agents == 0) {
      options.program.agents = static_cast<int>(size.agents);
    }
    if (given.workers == 0) {
      options.program.workers = static_cast<int>(size.workers);
    }
  };
  fill(SizeOf(*replies));
  DOGGED_ASSIGN_OR_RETURN(LoadedProgram program,
                          LoadProgram(options.program, kernels));
  const dsl::TargetSize own = program.options.target;
  std::set<std::pair<int, int>> sizes;
  for (const StatusReply& reply :
       (*client)->PollStatus({.jobs = {}, .text_hash = TextHash(program)})) {
    sizes.insert(reply.sizes.begin(), reply.sizes.end());
  }
  options.cluster_agents = (*client)->Addresses();
  for (const auto& [agents, workers] : sizes) {
    fill({.agents = agents, .workers = workers});
    const dsl::TargetSize size{.agents = options.program.agents,
                               .workers = options.program.workers};
    absl::StatusOr<LoadedProgram> known = Retarget(program, size, kernels);
    if (known.ok() && HasResults(**client, JobHash(known->job.Encode()))) {
      return known;
    }
  }
  fill(own);
  return program;
}

}  // namespace dogged
