#include "apps/dogged/jobs/watch_command.h"

#include <cstdio>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/jobs/watched_labels.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/run/interrupt.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Results come at once, the job's end is asked for so often.
constexpr absl::Duration kWatchPollInterval = absl::Milliseconds(250);

// Watch: labels of a job on their way to standard output.
class Watch {
 public:
  Watch(ClusterClient& client, NamedJob named, const Program& program,
        const std::vector<Label>& labels)
      : client_(client),
        named_(std::move(named)),
        program_(program),
        missing_(labels.begin(), labels.end()) {}

  absl::Status Run() {
    while (named_.record().state == JobState::kRunning && !missing_.empty()) {
      if (IsInterrupted()) {
        return absl::CancelledError(absl::StrCat(
            "interrupted: ", named_.ToWords(), " goes on without this client"));
      }
      DOGGED_ASSIGN_OR_RETURN(const auto bound,
                              client_.Watch(named_.record().job(),
                                            {missing_.begin(), missing_.end()},
                                            kWatchPollInterval));
      if (!Print(bound)) return absl::OkStatus();
      if (!bound.empty() && clock_.Now() < next_poll_) continue;
      next_poll_ = clock_.Now() + kWatchPollInterval;
      auto now = PollNamedJob(client_, named_.record().hash);
      if (!now.empty()) named_ = std::move(now.front());
    }
    // Labels that were bound at the very end, or before it was asked for them.
    DOGGED_ASSIGN_OR_RETURN(
        const auto held, client_.TakeHeld(named_.record().job(),
                                          {missing_.begin(), missing_.end()}));
    if (!Print(held)) return absl::OkStatus();
    return EndOf(named_.record());
  }

 private:
  // False if nobody reads it any more, which main() reports.
  bool Print(const ClusterClient::Bound& bound) {
    for (const auto& [label, value] : bound) {
      if (missing_.erase(label) == 0) continue;
      std::printf("%s\n", LabelLine(program_.LabelText(label), value).c_str());
    }
    return bound.empty() || std::fflush(stdout) == 0;
  }

  ClusterClient& client_;
  NamedJob named_;
  const Program& program_;
  std::set<Label> missing_;
  SystemClock clock_;
  absl::Time next_poll_ = absl::InfinitePast();
};

absl::Status RunWatch(const ClusterOptions& options,
                      const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(const NamedLabels asked,
                          OpenLabels(options, environment));
  DOGGED_ASSIGN_OR_RETURN(const std::vector<Label> labels,
                          LabelsOf(asked.wanted));
  const InterruptsDeferred deferred;
  return Watch(*asked.client, asked.named, asked.job.program, labels).Run();
}

}  // namespace

ExitCode WatchCommand(const ClusterOptions& options,
                      const Environment& environment) {
  const absl::Status status = RunWatch(options, environment);
  return status.ok() ? ExitCode::kDone : PrintError(status);
}

}  // namespace dogged
