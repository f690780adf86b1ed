#include "apps/dogged/client/cancel_command.h"

#include <cstdio>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/cluster_jobs.h"
#include "apps/dogged/process/errors.h"

namespace dogged {

ExitCode CancelCommand(const ClusterOptions& options,
                       const Environment& environment) {
  // Every hash starts with nothing.
  if (options.job.empty()) {
    PrintError(absl::StrCat("which job? `dogged status --cluster ",
                            options.cluster, "` lists them"));
    return ExitCode::kMistyped;
  }
  auto keys = OpenKeys(options.keys, environment);
  if (!keys.ok()) {
    PrintError(keys.status().message());
    return ExitCode::kMistyped;
  }
  const auto client = ClusterClient::Connect(
      {options.cluster}, {.patience = ClusterClient::kNamedPatience,
                          .connect = ConnectWith(*std::move(keys))});
  if (!client.ok()) return PrintError(client.status());
  const auto replies = (*client)->AwaitStatus();
  if (!replies.ok()) return PrintError(replies.status());
  std::map<std::string, JobOverAll> named;
  for (auto& [hash, job] : JobsOf(*replies)) {
    if (!absl::StartsWith(hash, options.job)) continue;
    if (Foremost(job).state == JobState::kRunning) named[hash] = job;
  }
  if (named.size() > 1) {
    PrintError(absl::StrCat("more than one running job starts with \"",
                            options.job, "\"; give more digits"));
    return ExitCode::kMistyped;
  }
  int cancelled = 0;
  for (auto& [hash, job] : named) {
    for (auto& [submission, record] : job.submissions) {
      if (record.state != JobState::kRunning) continue;
      record.state = JobState::kCancelled;
      if ((*client)->Conclude(record).ok()) ++cancelled;
    }
    if (cancelled > 0) {
      std::printf("cancelled %s (%s)\n", hash.c_str(),
                  Foremost(job).name.c_str());
    }
  }
  if (cancelled > 0) return ExitCode::kDone;
  PrintError(absl::StrCat("no running job starts with ", options.job,
                          "; `dogged status --cluster ", options.cluster,
                          "` lists them"));
  return ExitCode::kMistyped;
}

}  // namespace dogged
