#include "apps/dogged/report/output_parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged/report/declared_shapes.h"
#include "apps/dogged/report/output_labels.h"
#include "apps/output/npy_header.h"
#include "apps/output/selection_cut.h"
#include "dsl/dense_view.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using Range = SelectionCut::Range;

// Bytes from one element to the next, by dimension, where so many are taken.
IndexVector StridesOf(const std::vector<Range>& taken, int64_t element_bytes) {
  IndexVector out;
  for (size_t d = 0; d < taken.size(); ++d) out.push_back(0);
  int64_t stride = element_bytes;
  for (int d = out.size() - 1; d >= 0; --d) {
    out[d] = stride;
    stride *= taken[static_cast<size_t>(d)].count;
  }
  return out;
}

}  // namespace

absl::StatusOr<OutputParts> PartsOf(const Output& output,
                                    const Relations& relations) {
  const Program& program = relations.program();
  const ResultView& view =
      program.views[static_cast<size_t>(output.labels.view)];
  const Selection selection = WithNumbers(output, view);
  if (selection.format != OutputFormat::kNpy) {
    return absl::FailedPreconditionError(
        absl::StrCat(selection.path, " is no .npy file"));
  }
  if (IsTurned(output, selection, view)) {
    return absl::FailedPreconditionError(
        "--time-first: values of agents have time last");
  }
  const DeclaredShapes shapes(relations);
  const bool has_blocks = output.labels.has_blocks;
  const auto shape_of = [&shapes](const Label& label) {
    return shapes.Of(label);
  };
  DOGGED_ASSIGN_OR_RETURN(
      const dsl::DenseView dense,
      dsl::DenseView::Of(program, has_blocks ? Narrowed(view, selection) : view,
                         dsl::ShapeLookup(shape_of)));
  if (!dense.HasBoxes()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "values of ", selection.array, " lie askew in their tiles"));
  }
  const Selection all{.text = selection.text,
                      .array = selection.array,
                      .indices = {},
                      .path = selection.path};
  DOGGED_ASSIGN_OR_RETURN(
      const SelectionCut cut,
      SelectionCut::Of(has_blocks ? all : selection, view, dense.shape()));
  // A part of a value is a box.
  if (std::any_of(cut.ranges().begin(), cut.ranges().end(),
                  [](const Range& range) { return range.step > 1; })) {
    return absl::FailedPreconditionError(
        absl::StrCat("labels of ", selection.text,
                     " are a step apart, and others lie between them"));
  }
  OutputParts out{
      .written = {.path = selection.path,
                  .array = selection.array,
                  .labels = LabelsText(selection, view),
                  .shape = cut.shape(),
                  .type = dense.type()},
      .header = EncodeNpyHeader(dense.type(), cut.shape()),
      .data_bytes = ElementCount(cut.shape()) * ElementBytes(dense.type()),
      .parts = {}};
  const std::vector<Range>& taken = cut.ranges();
  const IndexVector strides = StridesOf(taken, ElementBytes(dense.type()));
  for (size_t i = 0; i < dense.labels().size(); ++i) {
    const dsl::DenseView::Box box = dense.PlaceOf(i);
    FilePart part{.label = dense.labels()[i],
                  .extents = box.extents,
                  .stride = strides,
                  .offset = std::ssize(out.header),
                  .element_bytes = ElementBytes(dense.type())};
    bool is_empty = false;
    for (int d = 0; d < strides.size(); ++d) {
      const Range& range = taken[static_cast<size_t>(d)];
      const int64_t begin = std::max(range.first, box.first[d]);
      const int64_t end =
          std::min(range.first + range.count, box.first[d] + box.extents[d]);
      is_empty = is_empty || end <= begin;
      part.first.push_back(begin - box.first[d]);
      part.count.push_back(end - begin);
      part.offset += (begin - range.first) * strides[d];
    }
    if (!is_empty) out.parts.push_back(std::move(part));
  }
  return out;
}

}  // namespace dogged
