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
ResultFetch::ResultFetch(ClusterClient& client, NamedJob named, const Job& job)
    : client_(client),
      relations_(job.program),
      executed_(named.job.stats.tasks_executed),
      was_done_(named.record().state == JobState::kDone),
      watch_(client, std::move(named), clock_.Now()) {}

absl::Status ResultFetch::Run(const std::vector<Label>& labels) {
  const JobOverAll& before = watch_.named().job;
  if (was_done_ && before.keep_left_ms > 0 && before.kept_labels == 0) {
    std::fprintf(stderr,
                 "the results of %s were dropped for want of room; they are "
                 "made again\n",
                 watch_.named().ToWords().c_str());
  }
  DOGGED_RETURN_IF_ERROR(
      client_.Attach(watch_.named().record(), relations_, labels));
  ProgressPrinter progress;
  while (true) {
    if (client_.HasAll()) {
      DOGGED_ASSIGN_OR_RETURN(const bool has_all, client_.CopyLent());
      // Commands that follow may ask for the job's end.
      if (has_all && watch_.IsDone()) break;
    }
    if (IsInterrupted()) {
      return absl::CancelledError(absl::StrCat("interrupted: nothing of ",
                                               watch_.named().ToWords(),
                                               " was written"));
    }
    DOGGED_RETURN_IF_ERROR(client_.Collect(kPollInterval));
    auto now = PollNamedJob(client_, watch_.named().record().hash);
    if (now.empty()) continue;
    DOGGED_RETURN_IF_ERROR(watch_.Note(std::move(now.front()), clock_.Now()));
    Show(progress);
  }
  const int64_t again = watch_.named().job.stats.tasks_executed - executed_;
  if (was_done_ && again > 0) {
    std::fprintf(stderr, "%lld task%s ran again for results that were lost\n",
                 static_cast<long long>(again), again == 1 ? "" : "s");
  }
  return absl::OkStatus();
}

void ResultFetch::Show(ProgressPrinter& progress) {
  if (was_done_) return;
  const JobOverAll& job = watch_.named().job;
  Progress moment{.done = std::min(job.stats.tasks_done, job.tasks_needed),
                  .needed = job.tasks_needed};
  NotePlace(relations_.program(), client_.rounds().time(), moment);
  progress.Update(clock_.Now(), moment);
}

}  // namespace dogged
