// Selection: the meaning of `--output 'phi(:)(1000)=heat.npy'`.
#ifndef DOGGED_APPS_OUTPUT_SELECTION_H_
#define DOGGED_APPS_OUTPUT_SELECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apps/output/index_grid.h"
#include "runtime/base/value.h"
#include "runtime/graph/program.h"

namespace dogged {

// The selected values of one index.
struct SelectedIndex {
  enum class Kind : uint8_t { kAll, kOne, kRange };
  Kind kind = Kind::kAll;
  // kOne: first == last; kRange: both ends belong to it; kAll: unused.
  int64_t first = 0;
  int64_t last = 0;
  // kRange: from one value to the next; the last one is not beyond `last`. 0:
  // all that the array has.
  int64_t step = 0;
  // "N-1", as written, where only the program knows the numbers.
  std::string expression;
  friend bool operator==(const SelectedIndex&, const SelectedIndex&) = default;
};

// Formats of files. For a series, kPvd and kApng, the last index of the array
// is time.
enum class OutputFormat : uint8_t { kNpy, kZarr, kPng, kVti, kPvd, kApng };

struct Selection {
  std::string text;   // "phi(:)(1000)", without blanks
  std::string array;  // "phi"
  // An entry for each index; empty if the bare array is wanted: all of its
  // results.
  std::vector<SelectedIndex> indices;
  std::string path;  // "heat.npy"
  OutputFormat format = OutputFormat::kNpy;
};

// By how the file ends; none if that is no format.
std::optional<OutputFormat> FormatOf(absl::string_view path);

// Parses "ARRAY=FILE" or "ARRAY(INDEX)...=FILE" where INDEX is `:`, a number,
// `FIRST:LAST` or `FIRST:LAST:STEP`, and FILE ends as one of the formats.
// Numbers may be expressions of parameters without parentheses, which are not
// looked at further.
//
// Errors: kInvalidArgument, with the place marked and the right form, on
//         lines below the message.
absl::StatusOr<Selection> ParseSelection(absl::string_view argument);
// Parses what stands in front of the file, without one. Errors: likewise.
absl::StatusOr<Selection> ParseLabels(absl::string_view words);

// The step `time` of a selection, of an array with `rank` indices, at least
// one: the last one is fixed. A bare array gets ":" for all other indices. The
// text stays as written up to there: "phi(:)(40)".
Selection AtTime(const Selection& selection, size_t rank, int64_t time);

// The user's indices of what SelectionCut takes.
IndexGrid GridOf(const Selection& selection, const ResultView& view);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_SELECTION_H_
