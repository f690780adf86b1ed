// Outputs: the files that `--output` and results `to` files ask for. A file
// that can't be written is found before anything runs.
#ifndef DOGGED_APPS_DOGGED_REPORT_OUTPUTS_H_
#define DOGGED_APPS_DOGGED_REPORT_OUTPUTS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "apps/output/index_grid.h"
#include "apps/output/selection.h"
#include "dsl/compile.h"
#include "dsl/results.h"

namespace dogged {

// The form of all outputs of a command.
struct OutputForm {
  // The last index, if it varies, is the first dimension.
  bool is_time_first = false;
  std::map<std::string, AxisScale> axes;  // by the names of indices
};

// A file, and which labels go into it.
struct Output {
  std::string from = "--output";  // who asks for it: or "heat.dog:12:8"
  Selection selection;
  dsl::SelectedLabels labels;
  OutputForm form;
};

// Parses the arguments of `--output`; the labels are not known yet.
//
// Errors: kNotFound for mistyped arguments, and for files that can't be
// written.
absl::StatusOr<std::vector<Output>> ParseOutputs(
    const std::vector<std::string>& arguments, const OutputForm& form);

// Takes the labels, which are as many, as the compiler has found them.
//
// Errors: kNotFound for values that the format of a file can't show, and for
// images of a series that can't be written.
absl::Status SetLabels(std::vector<dsl::SelectedLabels> labels,
                       std::vector<Output>& outputs);

// Adds the files that results go `to`, but for files that `outputs` writes
// already: the command line comes first. Errors: as ParseOutputs and SetLabels.
absl::Status AddResultFiles(const std::vector<dsl::ResultFile>& files,
                            const OutputForm& form,
                            std::vector<Output>& outputs);

// Errors: kNotFound for an output that goes to the file of an input, by array
// and path: that would be gone, and the same command would not be the same job.
absl::Status CheckKeepInputs(
    const std::vector<std::pair<std::string, std::string>>& inputs,
    const std::vector<Output>& outputs);

// Errors: kNotFound if the form names an index that no output has.
absl::Status CheckAxes(const OutputForm& form,
                       const std::vector<Output>& outputs);

// A file that was written.
struct WrittenOutput {
  std::string path;
  std::string array;
  std::string labels;  // "u(0:100)(1000)"
  Shape shape;
  ElementType type = ElementType::kDouble;
  // The least and the largest finite number of a picture; none of others.
  std::optional<std::pair<double, double>> range;
  int agents = 0;  // that wrote it; 0: this command

  // "u -> heat.npy: u(0:100)(1000), 101 doubles, written by 4 agents".
  std::string ToWords() const;
};

// The number in a value of one element, in the fewest digits that give its bits
// back.
std::string NumberText(const Value& value);

// The numbers of an output, if it is no series: what an .npy file would hold.
absl::StatusOr<Value> ValueOf(const Output& output, dsl::ResultViews& views);

// "u(0:100)(1000)", of all that the view has.
std::string LabelsText(const ResultView& view);

// Writes the file, and of a .pvd the images that it lists; of a loop, `views`
// are of the program that has ended.
absl::StatusOr<WrittenOutput> WriteOutput(const Output& output,
                                          dsl::ResultViews& views);

// "mass(100) = 3.25", a line for each result that is one number, in the fewest
// digits that give its bits back. Errors: as `lookup`.
absl::StatusOr<std::string> NumbersAmongResults(const Program& program,
                                                dsl::ResultLookup lookup);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_OUTPUTS_H_
