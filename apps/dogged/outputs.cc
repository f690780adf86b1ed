#include "apps/dogged/outputs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/output/file.h"
#include "apps/output/npy.h"
#include "apps/output/png.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

absl::Status Mistyped(absl::string_view what) {
  return absl::NotFoundError(absl::StrCat("--output: ", what));
}

// With ":" and expressions as the numbers that they stand for, as far as the
// view goes: a loop may have ended early.
Selection WithNumbers(const Output& output, const ResultView& view) {
  Selection out = output.selection;
  for (size_t d = 0; d < out.indices.size(); ++d) {
    SelectedIndex& index = out.indices[d];
    const bool is_all = index.kind == SelectedIndex::Kind::kAll;
    if (!is_all && index.expression.empty()) continue;
    if (index.kind == SelectedIndex::Kind::kOne) {
      const int64_t at =
          std::clamp(output.labels.lower[d], view.lower[d], view.upper[d]);
      index = {.kind = SelectedIndex::Kind::kOne, .first = at, .last = at};
      continue;
    }
    index = {.kind = SelectedIndex::Kind::kRange,
             .first = std::max(output.labels.lower[d], view.lower[d]),
             .last = std::min(output.labels.upper[d], view.upper[d])};
  }
  return out;
}

// The view of just what is selected, where each label is a block: how blocks
// are put together depends on how many indices vary.
ResultView Narrowed(ResultView view, const Selection& selection) {
  for (size_t d = 0; d < selection.indices.size(); ++d) {
    const SelectedIndex& index = selection.indices[d];
    view.lower[d] = index.first;
    view.upper[d] = index.last;
    if (index.kind == SelectedIndex::Kind::kOne) view.tile_index[d] = -1;
  }
  return view;
}

absl::Status WriteValue(const Selection& selection, const Value& value,
                        const IndexVector& first) {
  if (selection.format == OutputFormat::kNpy) {
    return WriteNpy(selection.path, value);
  }
  return WritePng(selection.path, value, selection.text, first);
}

}  // namespace

absl::StatusOr<std::vector<Output>> ParseOutputs(
    const std::vector<std::string>& arguments) {
  std::vector<Output> out;
  std::set<std::string> paths;
  for (const std::string& argument : arguments) {
    absl::StatusOr<Selection> selection = ParseSelection(argument);
    if (!selection.ok()) return Mistyped(selection.status().message());
    const std::string& path = selection->path;
    if (const absl::Status s = CheckWritable(path); !s.ok()) {
      return Mistyped(s.message());
    }
    if (!paths.insert(path).second) {
      return Mistyped(absl::StrCat(path, ": two outputs go to this file"));
    }
    out.push_back({.selection = *std::move(selection), .labels = {}});
  }
  return out;
}

absl::Status SetLabels(std::vector<dsl::SelectedLabels> labels,
                       std::vector<Output>& outputs) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    Output& output = outputs[k];
    output.labels = std::move(labels[k]);
    int dimensions = 0;
    for (size_t d = 0; d < output.labels.lower.size(); ++d) {
      dimensions += output.labels.upper[d] > output.labels.lower[d] ? 1 : 0;
    }
    // Blocks have dimensions of their own.
    if (output.selection.format != OutputFormat::kPng ||
        output.labels.has_blocks || dimensions == 1 || dimensions == 2) {
      continue;
    }
    return Mistyped(absl::StrCat(
        "a picture has one or two dimensions, ", output.selection.text, " has ",
        dimensions,
        dimensions == 0 ? "; write it to an .npy file"
                        : "; fix an index, or write it to an .npy file"));
  }
  return absl::OkStatus();
}

absl::Status WriteOutput(const Output& output, const Program& program,
                         dsl::ResultLookup lookup) {
  const ResultView& view =
      program.views[static_cast<size_t>(output.labels.view)];
  const Selection selection = WithNumbers(output, view);
  if (output.labels.has_blocks) {
    DOGGED_ASSIGN_OR_RETURN(
        const Value blocks,
        dsl::AssembleView(program, Narrowed(view, selection), lookup));
    return WriteValue(selection, blocks, {});
  }
  DOGGED_ASSIGN_OR_RETURN(const Value dense,
                          dsl::AssembleView(program, view, lookup));
  DOGGED_ASSIGN_OR_RETURN(const Value part,
                          ExtractSelection(selection, view, dense));
  return WriteValue(selection, part, FirstIndices(selection, view));
}

}  // namespace dogged
