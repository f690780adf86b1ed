#include "apps/dogged/jobs/get_command.h"

#include <cstdio>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/jobs/watched_labels.h"
#include "apps/dogged/process/errors.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

absl::Status Get(const ClusterOptions& options,
                 const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(const NamedLabels asked,
                          OpenLabels(options, environment));
  const auto& [client, named, job, labels] = asked;
  if (labels.size() != 1) {
    return absl::NotFoundError(absl::StrCat(
        options.label, " are ", labels.size(),
        " labels: name one by its indices, or `dogged fetch` them"));
  }
  DOGGED_ASSIGN_OR_RETURN(const auto held,
                          client->TakeHeld(named.record().job(), labels));
  if (held.empty()) {
    const std::string name = job.program.LabelText(labels.front());
    return absl::AbortedError(
        named.record().state == JobState::kRunning
            ? absl::StrCat(name,
                           " is at no agent now: it is not made yet, or "
                           "was used up and dropped")
            : absl::StrCat(name,
                           " is at no agent any more; results of this "
                           "job are ",
                           ResultWords(job.program)));
  }
  const auto& [label, value] = held.front();
  std::printf("%s\n", LabelLine(job.program, label, value).c_str());
  return absl::OkStatus();
}

}  // namespace

ExitCode GetCommand(const ClusterOptions& options,
                    const Environment& environment) {
  const absl::Status status = Get(options, environment);
  return status.ok() ? ExitCode::kDone : PrintError(status);
}

}  // namespace dogged
