#include "apps/dogged/jobs/result_watch.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// A job that is done, of which no result comes and no task ends for so long,
// gives no more.
constexpr absl::Duration kSilenceMax = absl::Seconds(60);

}  // namespace

absl::Status ResultWatch::Note(NamedJob named, absl::Time now) {
  named_ = std::move(named);
  DOGGED_RETURN_IF_ERROR(EndOf(named_.record()));
  if (IsDone() && !named_.job.note.empty() && !client_.HasAll()) {
    return absl::DataLossError(absl::StrCat(
        "results of ", named_.ToWords(),
        " are lost with the agents that had them, and can't be made again: ",
        named_.job.note, "; submit it again with the same inputs"));
  }
  const int64_t moves = client_.found_count() + named_.job.stats.tasks_executed;
  if (std::exchange(moves_, moves) != moves || !IsDone()) moved_ = now;
  if (now - moved_ <= kSilenceMax) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "results of ", named_.ToWords(),
      " are lost with the agents that had them, and are not made again; "
      "submit it again"));
}

}  // namespace dogged
