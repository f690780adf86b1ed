#include "apps/dogged/client/forget_command.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/client_times.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/process/errors.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Agents hear of it from each other within a second.
constexpr absl::Duration kHeardWithin = absl::Seconds(5);

// Waits until all agents that answer know that nobody wants the results: each
// would give them until then.
absl::Status AwaitForgotten(ClusterClient& client, const JobRecord& record) {
  SystemClock clock;
  const absl::Time end = clock.Now() + kHeardWithin;
  const auto keeps = [&record](const StatusReply& reply) {
    return std::any_of(reply.jobs.begin(), reply.jobs.end(),
                       [&record](const JobSummary& job) {
                         return job.record.hash == record.hash &&
                                job.record.state == JobState::kDone &&
                                !job.record.is_delivered;
                       });
  };
  while (clock.Now() < end) {
    const std::vector<StatusReply> replies =
        client.PollStatus({.jobs = {.job = record.job()}});
    if (std::none_of(replies.begin(), replies.end(), keeps)) break;
    DOGGED_RETURN_IF_ERROR(client.Serve(kPollInterval));
  }
  return absl::OkStatus();
}

}  // namespace

ExitCode ForgetCommand(const ClusterOptions& options,
                       const Environment& environment) {
  const auto opened = OpenCluster(options, environment);
  if (!opened.ok()) return PrintError(opened.status());
  ClusterClient* const client = opened->get();
  auto named = FindNamedJob(*client, options.job, options.cluster);
  if (!named.ok()) return PrintError(named.status());
  JobRecord record = named->record();
  if (record.state == JobState::kRunning) {
    PrintError(
        absl::StrCat(named->ToWords(), " still runs: `dogged cancel` ends it"));
    return ExitCode::kMistyped;
  }
  if (record.state != JobState::kDone || record.is_delivered) {
    PrintError(
        absl::StrCat(named->ToWords(), " keeps no results: it ",
                     record.state == JobState::kDone
                         ? "was forgotten, or its client has them"
                         : absl::StrCat("is ", JobStateName(record.state))));
    return ExitCode::kMistyped;
  }
  // Agents tell of one submission that is done and not delivered at a time.
  const int64_t submissions = named->job.submission_count;
  for (int64_t i = 0; i < submissions && !record.is_delivered; ++i) {
    record.is_delivered = true;
    const absl::Status said = client->Conclude(record);
    if (!said.ok()) return PrintError(said);
    const auto now = PollNamedJob(*client, record.hash);
    if (now.empty()) break;
    record = now.front().record();
  }
  const absl::Status heard = AwaitForgotten(*client, record);
  if (!heard.ok()) return PrintError(heard);
  std::printf("forgot %s (%s)\n", named->hash.c_str(),
              named->record().name.c_str());
  return ExitCode::kDone;
}

}  // namespace dogged
