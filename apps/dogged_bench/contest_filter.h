// ContestFilter: the contests of a benchmark that run.
#ifndef DOGGED_APPS_DOGGED_BENCH_CONTEST_FILTER_H_
#define DOGGED_APPS_DOGGED_BENCH_CONTEST_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace dogged {

class ContestFilter {
 public:
  ContestFilter() = default;  // takes all
  // Takes contests whose names contain one of `words`, parted by commas.
  explicit ContestFilter(absl::string_view words);

  bool Takes(absl::string_view contest) const;
  // Once all contests were asked about: an error that names them if none was
  // taken, so that a mistyped word is not taken for an empty result.
  absl::Status CheckTaken() const;

 private:
  std::vector<std::string> words_;
  mutable std::vector<std::string> asked_;  // each once
  mutable bool has_taken_ = false;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_CONTEST_FILTER_H_
