#include "apps/dogged/cluster_target.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/dogged/cluster_client.h"
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

// Jobs of this text that can be attached to and say what they were cut for.
std::vector<JobRecord> Candidates(const std::vector<StatusReply>& replies,
                                  uint64_t text_hash) {
  std::vector<JobRecord> out;
  for (const StatusReply& reply : replies) {
    for (const JobSummary& job : reply.jobs) {
      const JobRecord& record = job.record;
      const bool has_results =
          record.state == JobState::kRunning || record.state == JobState::kDone;
      const bool is_known = std::any_of(
          out.begin(), out.end(),
          [&](const JobRecord& other) { return other.hash == record.hash; });
      if (record.text_hash == text_hash && has_results && !is_known &&
          record.options.agents > 0 && record.options.workers > 0) {
        out.push_back(record);
      }
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<LoadedProgram> LoadForCluster(RunOptions& options,
                                             const KernelSource& kernels) {
  const ProgramOptions given = options.program;
  const auto client = ClusterClient::Connect({options.cluster});
  if (!client.ok()) {
    std::fprintf(stderr, "error: %s\n",
                 std::string(client.status().message()).c_str());
    return client.status();
  }
  const std::vector<StatusReply> replies = (*client)->PollStatus();
  const auto fill = [&](const dsl::TargetSize& size) {
    if (given.agents == 0) {
      options.program.agents = static_cast<int>(size.agents);
    }
    if (given.workers == 0) {
      options.program.workers = static_cast<int>(size.workers);
    }
  };
  fill(SizeOf(replies));
  DOGGED_ASSIGN_OR_RETURN(LoadedProgram program,
                          LoadProgram(options.program, kernels));
  const dsl::TargetSize own = program.options.target;
  for (const JobRecord& record : Candidates(replies, TextHash(program))) {
    fill({.agents = record.options.agents, .workers = record.options.workers});
    const dsl::TargetSize size{.agents = options.program.agents,
                               .workers = options.program.workers};
    absl::StatusOr<LoadedProgram> known = Retarget(program, size, kernels);
    if (known.ok() && JobHash(known->job.Encode()) == record.hash) {
      return known;
    }
  }
  fill(own);
  return program;
}

}  // namespace dogged
