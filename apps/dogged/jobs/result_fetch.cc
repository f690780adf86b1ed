#include "apps/dogged/jobs/result_fetch.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/client_times.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/dogged/run/run_progress.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// A job that is done, of which no result comes and no task ends for so long,
// gives no more.
constexpr absl::Duration kSilenceMax = absl::Seconds(60);

}  // namespace

ResultFetch::ResultFetch(ClusterClient& client, NamedJob named, const Job& job)
    : client_(client),
      named_(std::move(named)),
      relations_(job.program),
      executed_(named_.job.stats.tasks_executed),
      was_done_(named_.record().state == JobState::kDone) {}

absl::Status ResultFetch::Run(const std::vector<Label>& labels) {
  if (was_done_ && named_.job.keep_left_ms > 0 && named_.job.kept_labels == 0) {
    std::fprintf(stderr,
                 "the results of %s were dropped for want of room; they are "
                 "made again\n",
                 named_.ToWords().c_str());
  }
  DOGGED_RETURN_IF_ERROR(client_.Attach(named_.record(), relations_, labels));
  ProgressPrinter progress;
  absl::Time moved = clock_.Now();
  int64_t known = 0;
  while (true) {
    if (client_.HasAll()) {
      DOGGED_ASSIGN_OR_RETURN(const bool has_all, client_.CopyLent());
      // Commands that follow may ask for the job's end.
      if (has_all && named_.record().state == JobState::kDone) break;
    }
    if (IsInterrupted()) {
      return absl::CancelledError(absl::StrCat(
          "interrupted: nothing of ", named_.ToWords(), " was written"));
    }
    DOGGED_RETURN_IF_ERROR(client_.Collect(kPollInterval));
    auto now = PollNamedJob(client_, named_.record().hash);
    if (now.empty()) continue;
    named_ = std::move(now.front());
    DOGGED_RETURN_IF_ERROR(EndOf(named_.record()));
    DOGGED_RETURN_IF_ERROR(CheckLoss());
    const int64_t moves =
        client_.found_count() + named_.job.stats.tasks_executed;
    if (std::exchange(known, moves) != moves ||
        named_.record().state == JobState::kRunning) {
      moved = clock_.Now();
    }
    if (clock_.Now() - moved > kSilenceMax) {
      return absl::DataLossError(absl::StrCat(
          "results of ", named_.ToWords(),
          " are lost with the agents that had them, and are not made again; "
          "submit it again"));
    }
    Show(progress);
  }
  const int64_t again = named_.job.stats.tasks_executed - executed_;
  if (was_done_ && again > 0) {
    std::fprintf(stderr, "%lld task%s ran again for results that were lost\n",
                 static_cast<long long>(again), again == 1 ? "" : "s");
  }
  return absl::OkStatus();
}

absl::Status ResultFetch::CheckLoss() const {
  if (named_.record().state != JobState::kDone || named_.job.note.empty() ||
      client_.HasAll()) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "results of ", named_.ToWords(),
      " are lost with the agents that had them, and can't be made again: ",
      named_.job.note, "; submit it again with the same inputs"));
}

void ResultFetch::Show(ProgressPrinter& progress) {
  if (was_done_) return;
  Progress moment{
      .done = std::min(named_.job.stats.tasks_done, named_.job.tasks_needed),
      .needed = named_.job.tasks_needed};
  NotePlace(relations_.program(), client_.rounds().time(), moment);
  progress.Update(clock_.Now(), moment);
}

}  // namespace dogged
