#include "apps/dogged/client/cancel_command.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/process/errors.h"

namespace dogged {

ExitCode CancelCommand(const ClusterOptions& options,
                       const Environment& environment) {
  const auto opened = OpenCluster(options, environment);
  if (!opened.ok()) return PrintError(opened.status());
  ClusterClient* const client = opened->get();
  auto named = FindNamedJob(*client, options.job, options.cluster,
                            /*prefers_running=*/true);
  if (!named.ok()) return PrintError(named.status());
  int cancelled = 0;
  for (auto& [submission, record] : named->job.submissions) {
    if (record.state != JobState::kRunning) continue;
    record.state = JobState::kCancelled;
    if (client->Conclude(record).ok()) ++cancelled;
  }
  if (cancelled > 0) {
    std::printf("cancelled %s (%s)\n", named->hash.c_str(),
                named->record().name.c_str());
    return ExitCode::kDone;
  }
  PrintError(absl::StrCat(named->ToWords(), " does not run: it is ",
                          JobStateName(named->record().state)));
  return ExitCode::kMistyped;
}

}  // namespace dogged
