#include "apps/dogged/jobs/wait_command.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/report/member_news.h"
#include "apps/dogged/report/progress_printer.h"
#include "apps/dogged/report/run_report.h"
#include "apps/dogged/run/agent_losses.h"
#include "apps/dogged/run/interrupt.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::Duration kWaitPollInterval = absl::Milliseconds(150);

// Tells of agents that come and go, where somebody wants to hear it.
class MemberEvents {
 public:
  explicit MemberEvents(ClusterClient& client) : client_(client) { Poll(); }
  void Poll() {
    if (!WantsEvents()) return;
    const std::vector<StatusReply> replies = client_.PollStatus();
    for (const Loss& loss : losses_.Note(replies, clock_.Now() - start_)) {
      PrintEvent("lost", LossJson(loss));
    }
    for (const MemberNews::News& one : news_.Note(replies)) {
      PrintEvent(one.has_left ? "left" : "joined", {{"who", one.address}});
    }
  }

  // Agents; one where nobody wants events.
  int alive_count() const { return std::max(1, losses_.alive_count()); }

 private:
  ClusterClient& client_;
  SystemClock clock_;
  const absl::Time start_ = clock_.Now();
  AgentLosses losses_;
  MemberNews news_;
};

// The time for which agents keep its results is over.
bool HasExpired(const NamedJob& named) {
  return named.record().options.keep_ms > 0 && named.job.keep_left_ms == 0 &&
         named.job.kept_labels == 0;
}

absl::StatusOr<NamedJob> AwaitEnd(ClusterClient& client, NamedJob job) {
  SystemClock clock;
  ProgressPrinter progress;
  absl::Time answered = clock.Now();
  const Digest hash = job.record().hash;
  MemberEvents members(client);
  while (job.record().state == JobState::kRunning) {
    if (IsInterrupted()) {
      return absl::CancelledError(absl::StrCat("interrupted: ", job.ToWords(),
                                               " goes on without this client"));
    }
    const int64_t done = job.job.stats.tasks_done;
    progress.Update(clock.Now(), {.done = std::min(done, job.job.tasks_needed),
                                  .needed = job.job.tasks_needed,
                                  .alive = members.alive_count(),
                                  .wanted = members.alive_count()});
    DOGGED_RETURN_IF_ERROR(client.Serve(kWaitPollInterval));
    members.Poll();
    auto now = PollNamedJob(client, hash);
    if (!now.empty()) {
      job = std::move(now.front());
      answered = clock.Now();
    } else if (clock.Now() - answered > ClusterClient::kNamedPatience) {
      return absl::UnavailableError(
          absl::StrCat("no agent answers any more; ", job.ToWords(),
                       " goes on by itself where agents come back with their "
                       "directories"));
    }
  }
  return job;
}

}  // namespace

ExitCode WaitCommand(const ClusterOptions& options,
                     const Environment& environment) {
  const auto opened = OpenCluster(options, environment);
  if (!opened.ok()) return PrintError(opened.status());
  ClusterClient* const client = opened->get();
  auto named = FindNamedJob(*client, options.job, options.cluster);
  if (!named.ok()) return PrintError(named.status());
  PrintEvent("submitted",
             {{"job", named->hash}, {"program", named->record().name}});
  const InterruptsDeferred deferred;
  const auto ended = AwaitEnd(*client, *std::move(named));
  if (!ended.ok()) return PrintError(ended.status());
  const JobRecord& record = ended->record();
  if (options.json) {
    const nlohmann::ordered_json out = {
        {"job", ended->hash},
        {"program", record.name},
        {"state", std::string(JobStateName(record.state))},
        {"message", record.message},
        {"result_digest", record.result_digest == Digest()
                              ? ""
                              : record.result_digest.ToString()},
        {"keep_left_seconds",
         static_cast<double>(ended->job.keep_left_ms) / 1000}};
    SetAnswer(out);
  }
  const absl::Status end = EndOf(record);
  if (!end.ok()) return PrintError(end);
  if (!options.json) {
    std::printf("done %s (%s)%s\n", ended->hash.c_str(), record.name.c_str(),
                record.is_delivered || HasExpired(*ended)
                    ? ", whose results are no longer kept: its client has "
                      "them, their time is over, or they were forgotten"
                    : "");
  }
  return ExitCode::kDone;
}

}  // namespace dogged
