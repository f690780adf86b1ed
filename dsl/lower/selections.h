// Selections: labels that the command line asks for besides the program's own
// results, as 'phi(:)(50)'. They go through the compiler as results, so that
// its checks hold for them; their errors then point into their own text.
#ifndef DOGGED_DSL_LOWER_SELECTIONS_H_
#define DOGGED_DSL_LOWER_SELECTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/check/checked.h"
#include "dsl/ir/point_program.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Labels that a selection means: those of the view at this position in the
// program, with the first and the last value of each index, and the distance
// between values. In a loop, the labels if it went on to its last round.
struct SelectedLabels {
  int32_t view = 0;
  std::vector<int64_t> lower;
  std::vector<int64_t> upper;
  std::vector<int64_t> step;
  std::vector<std::string> names;  // of indices, as the program calls them
  bool has_blocks = false;         // each label is a block of numbers
};

// A result that goes `to` a file.
struct ResultFile {
  std::string path;
  std::string text;   // the result, as written: "u(:)(T)"
  std::string array;  // "u"
  std::string place;  // of the result: "heat.dog:12:8"
  SelectedLabels labels;
};

// An entry for each selection, and one for each result with a file.
struct PlacedResults {
  std::vector<SelectedLabels> selections;
  std::vector<ResultFile> files;
};

// `text` with a result behind it for each selection that has indices.
std::string WithSelections(absl::string_view text,
                           const std::vector<std::string>& selections);

// Undoes WithSelections(): gives its text back.
absl::string_view WithoutSelections(absl::string_view text,
                                    const std::vector<std::string>& selections);

// Bytes of `text` in front of all that WithSelections() has added, also before
// the text became a job's.
size_t OwnBytes(absl::string_view text);

// `text` without the names of the files that its results go to: they are no
// part of a job.
std::string WithoutFiles(std::string text, const ast::Program& tree);

// Marks results that come from behind `own_bytes`, where the program ends.
void MarkSelections(size_t own_bytes, CheckedProgram& program);

// Drops results that an earlier one covers, but for those with a file, and says
// where selections and files are now; selections with indices made the last
// results. A bare name stands for the program's own result of that array; an
// error of one has no range. `diagnostics` has the program's text.
PlacedResults PlaceResults(const std::vector<std::string>& selections,
                           PointProgram& points, Diagnostics& diagnostics);

// Gives indices the names that they have in the program that `points` is of.
void NameIndices(const CheckedProgram& program, const PointProgram& points,
                 PlacedResults& placed);

// Errors of selections, one after another.
class SelectionErrors {
 public:
  // `sources` as CompileOptions::selection_sources.
  SelectionErrors(const std::vector<std::string>& selections,
                  const std::vector<std::string>& sources);

  // Takes the errors of a program that failed only with selection k, which
  // stands at the end of its text.
  void Add(size_t k, const Diagnostics& errors);
  bool IsEmpty() const { return !diagnostics_.HasErrors(); }
  Diagnostics Take() { return std::move(diagnostics_); }

 private:
  const std::vector<std::string>& selections_;
  std::vector<size_t> begin_;  // of each selection in the text
  Diagnostics diagnostics_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_SELECTIONS_H_
