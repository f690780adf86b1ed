#include "apps/dogged/run/cluster_target.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/run/patience.h"
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

// True if an agent has the job, running or done.
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

// Jobs that directories hold, the most frequent ones first.
std::vector<StoredJob> StoredOf(const std::vector<StatusReply>& replies) {
  absl::flat_hash_map<Digest, std::pair<int, StoredJob>> counted;
  for (const StatusReply& reply : replies) {
    for (const StoredJob& job : reply.stored) {
      auto& [count, stored] = counted[job.hash];
      ++count;
      stored = job;
    }
  }
  std::vector<std::pair<int, StoredJob>> sorted;
  for (const auto& [hash, job] : counted) sorted.push_back(job);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.agents, a.second.hash) >
           std::tie(b.first, b.second.agents, b.second.hash);
  });
  std::vector<StoredJob> out;
  for (auto& [count, job] : sorted) out.push_back(job);
  return out;
}

}  // namespace

absl::StatusOr<LoadedProgram> LoadForCluster(RunOptions& options,
                                             const KernelSource& kernels) {
  const ProgramOptions given = options.program;
  const auto client =
      ConnectPatiently(options, {.patience = ClusterClient::kNamedPatience,
                                 .connect = ConnectWith(options.credentials)});
  if (!client.ok()) {
    PrintError(client.status().message());
    return client.status();
  }
  const auto replies = (*client)->AwaitStatus();
  if (!replies.ok()) {
    PrintError(replies.status().message());
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
  const std::vector<StatusReply> known =
      (*client)->PollStatus({.jobs = {}, .text_hash = TextHash(program)});
  for (const StatusReply& reply : known) {
    sizes.insert(reply.sizes.begin(), reply.sizes.end());
  }
  options.cluster_agents = (*client)->Addresses();
  // A job for each size, however many jobs have it: cutting compiles again.
  std::map<std::pair<int, int>, absl::StatusOr<LoadedProgram>> cuts;
  cuts.emplace(std::pair{options.program.agents, options.program.workers},
               program);
  const auto cut_now = [&]() -> const absl::StatusOr<LoadedProgram>& {
    const ProgramOptions& now = options.program;
    const std::pair key{now.agents, now.workers};
    auto found = cuts.find(key);
    if (found == cuts.end()) {
      const dsl::TargetSize size{.agents = now.agents, .workers = now.workers};
      found = cuts.emplace(key, Retarget(program, size, kernels)).first;
    }
    return found->second;
  };
  for (const auto& [agents, workers] : sizes) {
    fill({.agents = agents, .workers = workers});
    const absl::StatusOr<LoadedProgram>& cut = cut_now();
    if (cut.ok() && HasResults(**client, JobHash(cut->job.Encode()))) {
      return cut;
    }
  }
  const Digest own_hash = JobHash(program.job.Encode());
  for (const StoredJob& job : StoredOf(known)) {
    if (job.hash == own_hash) break;
    fill({.agents = job.agents, .workers = job.workers});
    const absl::StatusOr<LoadedProgram>& cut = cut_now();
    if (!cut.ok() || JobHash(cut->job.Encode()) != job.hash) continue;
    std::fprintf(stderr,
                 "the directories hold this job in tiles for %d agent%s; it "
                 "goes on with those\n",
                 job.agents, job.agents == 1 ? "" : "s");
    return cut;
  }
  fill(own);
  return program;
}

}  // namespace dogged
