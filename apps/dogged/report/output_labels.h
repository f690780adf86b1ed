// The labels of an output, with the numbers that ":" and expressions stand for.
#ifndef DOGGED_APPS_DOGGED_REPORT_OUTPUT_LABELS_H_
#define DOGGED_APPS_DOGGED_REPORT_OUTPUT_LABELS_H_

#include <string>
#include <vector>

#include "apps/dogged/report/outputs.h"
#include "apps/output/array_file.h"
#include "apps/output/selection.h"
#include "runtime/graph/program.h"

namespace dogged {

// With ":" and expressions as the numbers that they stand for, as far as the
// view goes: a loop may have ended early.
Selection WithNumbers(const Output& output, const ResultView& view);
// "u(0:100:2)(1000)", of a selection with numbers.
std::string LabelsText(const Selection& selection, const ResultView& view);
// GridOf() with the output's coordinates.
IndexGrid AxesOf(const Output& output, const Selection& selection,
                 const ResultView& view);
// Names of the output's dimensions, in the order of indices.
std::vector<std::string> NamesOf(const Output& output,
                                 const Selection& selection,
                                 const ResultView& view);
// Whether the output's last dimension, which is time, goes before the others.
bool IsTurned(const Output& output, const Selection& selection,
              const ResultView& view);
// The array of an output: its dimensions are the indices that vary, where
// labels are numbers.
ArrayDescription DescriptionOf(const Output& output, const Selection& selection,
                               const ResultView& view,
                               const WrittenOutput& written);
// The view of the selected labels alone, where each is a block: how blocks are
// put together depends on how many indices vary.
ResultView Narrowed(ResultView view, const Selection& selection);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_OUTPUT_LABELS_H_
