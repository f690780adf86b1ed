#include "apps/dogged/client/forget_command.h"

#include <cstdint>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/process/errors.h"

namespace dogged {

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
  std::printf("forgot %s (%s)\n", named->hash.c_str(),
              named->record().name.c_str());
  return ExitCode::kDone;
}

}  // namespace dogged
