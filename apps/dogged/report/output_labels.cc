#include "apps/dogged/report/output_labels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace dogged {

Selection WithNumbers(const Output& output, const ResultView& view) {
  Selection out = output.selection;
  for (size_t d = 0; d < out.indices.size(); ++d) {
    SelectedIndex& index = out.indices[d];
    const bool is_all = index.kind == SelectedIndex::Kind::kAll;
    if (!is_all && index.expression.empty() && index.step == 0) continue;
    if (index.kind == SelectedIndex::Kind::kOne) {
      const int64_t at =
          std::clamp(output.labels.lower[d], view.lower[d], view.upper[d]);
      index = {.kind = SelectedIndex::Kind::kOne, .first = at, .last = at};
      continue;
    }
    index = {.kind = SelectedIndex::Kind::kRange,
             .first = std::max(output.labels.lower[d], view.lower[d]),
             .last = std::min(output.labels.upper[d], view.upper[d]),
             .step = index.step};
    if (index.step > 1) index.last -= (index.last - index.first) % index.step;
  }
  return out;
}

std::string LabelsText(const Selection& selection, const ResultView& view) {
  std::string out = selection.array;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    int64_t first = view.lower[d];
    int64_t last = view.upper[d];
    int64_t step = view.step[d];
    bool is_one = view.tile_index[d] < 0;
    if (!selection.indices.empty()) {
      first = selection.indices[d].first;
      last = selection.indices[d].last;
      if (selection.indices[d].step > 0) step = selection.indices[d].step;
      is_one = selection.indices[d].kind == SelectedIndex::Kind::kOne;
    }
    absl::StrAppend(&out, "(", first);
    if (!is_one) absl::StrAppend(&out, ":", last);
    if (!is_one && step > 1) absl::StrAppend(&out, ":", step);
    out += ")";
  }
  return out;
}

std::vector<std::string> NamesOf(const Output& output,
                                 const Selection& selection,
                                 const ResultView& view) {
  std::vector<std::string> out;
  for (size_t d = 0; d < output.labels.names.size(); ++d) {
    const bool varies =
        selection.indices.empty()
            ? view.tile_index[d] >= 0
            : selection.indices[d].kind != SelectedIndex::Kind::kOne;
    if (varies) out.push_back(output.labels.names[d]);
  }
  return out;
}

IndexGrid AxesOf(const Output& output, const Selection& selection,
                 const ResultView& view) {
  IndexGrid out = GridOf(selection, view);
  if (output.form.axes.empty()) return out;
  for (const std::string& name : NamesOf(output, selection, view)) {
    const auto axis = output.form.axes.find(name);
    out.axes.push_back(axis == output.form.axes.end() ? AxisScale{}
                                                      : axis->second);
  }
  return out;
}

bool IsTurned(const Output& output, const Selection& selection,
              const ResultView& view) {
  if (!output.form.is_time_first || view.tile_index.empty()) return false;
  return selection.indices.empty()
             ? view.tile_index.back() >= 0
             : selection.indices.back().kind != SelectedIndex::Kind::kOne;
}

ArrayDescription DescriptionOf(const Output& output, const Selection& selection,
                               const ResultView& view,
                               const WrittenOutput& written) {
  ArrayDescription out{.type = written.type,
                       .shape = written.shape,
                       .array = written.array,
                       .labels = written.labels,
                       .names = {},
                       .indices = {}};
  if (output.labels.has_blocks) return out;
  out.indices = AxesOf(output, selection, view);
  out.names = NamesOf(output, selection, view);
  if (IsTurned(output, selection, view)) {
    TurnLastFirst(out.names);
    TurnLastFirst(out.indices.first);
    TurnLastFirst(out.indices.step);
    TurnLastFirst(out.indices.axes);
  }
  return out;
}

ResultView Narrowed(ResultView view, const Selection& selection) {
  for (size_t d = 0; d < selection.indices.size(); ++d) {
    const SelectedIndex& index = selection.indices[d];
    view.lower[d] = index.first;
    view.upper[d] = index.last;
    if (index.step > 0) view.step[d] = index.step;
    if (index.kind == SelectedIndex::Kind::kOne) view.tile_index[d] = -1;
  }
  return view;
}

}  // namespace dogged
