#include "apps/dogged_bench/contest_filter.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace dogged {

ContestFilter::ContestFilter(absl::string_view words)
    : words_(absl::StrSplit(words, ',')) {}

bool ContestFilter::Takes(absl::string_view contest) const {
  if (words_.empty()) return true;
  if (std::find(asked_.begin(), asked_.end(), contest) == asked_.end()) {
    asked_.emplace_back(contest);
  }
  const bool takes = std::any_of(words_.begin(), words_.end(),
                                 [contest](const std::string& word) {
                                   return absl::StrContains(contest, word);
                                 });
  has_taken_ |= takes;
  return takes;
}

absl::Status ContestFilter::CheckTaken() const {
  if (words_.empty() || has_taken_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--only ", absl::StrJoin(words_, ","), " takes no contest",
      asked_.empty()
          ? ": this benchmark has one alone"
          : absl::StrCat("; there are ", absl::StrJoin(asked_, ", "))));
}

}  // namespace dogged
