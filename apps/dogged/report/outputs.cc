#include "apps/dogged/report/outputs.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/report/output_labels.h"
#include "apps/output/apng.h"
#include "apps/output/array_file.h"
#include "apps/output/file.h"
#include "apps/output/plot.h"
#include "apps/output/png.h"
#include "apps/output/run_text.h"
#include "apps/output/selection_cut.h"
#include "apps/output/vti.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

absl::Status Mistyped(absl::string_view what,
                      absl::string_view from = "--output") {
  return absl::NotFoundError(absl::StrCat(from, ": ", what));
}

template <typename T>
std::string Shortest(T number) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), number);
  return {text, end.ptr};
}

// Takes the numbers that a picture shows.
void NoteRange(const Value& value, WrittenOutput& written) {
  const Block all = Reduce(value, 1, 1).front();
  if (all.finite == 0) return;
  auto& range = written.range;
  if (!range.has_value()) range.emplace(all.lower, all.upper);
  range->first = std::min(range->first, all.lower);
  range->second = std::max(range->second, all.upper);
}

// A picture, or an image.
absl::Status WriteValue(const Selection& selection, const Value& value,
                        const IndexGrid& indices) {
  return selection.format == OutputFormat::kPng
             ? WritePng(selection.path, value, selection.text, indices)
             : WriteVti(selection.path, value, selection.array, indices);
}

// The cut of view number `view`.
absl::StatusOr<Value> Selected(const SelectionCut& cut, ElementType type,
                               size_t view, dsl::ResultViews& views) {
  if (cut.IsWhole()) return views.Assembled(view);
  Value out = Value::Allocate(type, cut.shape());
  auto* next = static_cast<char*>(out.mutable_data());
  DOGGED_RETURN_IF_ERROR(
      views.ForEachPiece(view, [&](const dsl::DensePiece& piece) {
        cut.Copy(piece.first, piece.value, next);
        next +=
            cut.CountIn(piece.first, piece.value.shape()) * ElementBytes(type);
        return absl::OkStatus();
      }));
  out.SealLazily();
  return out;
}

// Likewise, to a file of numbers.
absl::Status WriteCut(const Selection& selection, const SelectionCut& cut,
                      const ArrayDescription& array, size_t view,
                      dsl::ResultViews& views) {
  DOGGED_ASSIGN_OR_RETURN(
      const std::unique_ptr<ArrayFile> file,
      CreateArrayFile(selection.path, selection.format, array));
  std::string part;
  DOGGED_RETURN_IF_ERROR(
      views.ForEachPiece(view, [&](const dsl::DensePiece& piece) {
        if (cut.IsWhole()) return file->Append(piece.value.view());
        part.resize(cut.CountIn(piece.first, piece.value.shape()) *
                    ElementBytes(array.type));
        cut.Copy(piece.first, piece.value, part.data());
        return file->Append(part);
      }));
  return file->Commit();
}

// WriteCut() with the last dimension as the first one: a piece has a run of
// elements for each of its places along that.
absl::Status WriteTurned(const Selection& selection, const SelectionCut& cut,
                         const ArrayDescription& array, size_t view,
                         dsl::ResultViews& views) {
  DOGGED_ASSIGN_OR_RETURN(
      const std::unique_ptr<ArrayFile> file,
      CreateArrayFile(selection.path, selection.format, array));
  const int64_t bytes = ElementBytes(array.type);
  const int64_t rest = ElementCount(array.shape) / cut.ranges().back().count;
  const auto write = [&](const dsl::DensePiece& piece) -> absl::Status {
    const int64_t count = cut.CountIn(piece.first, piece.value.shape());
    if (count == 0) return absl::OkStatus();
    const int64_t last =
        cut.RangesIn(piece.first, piece.value.shape()).back().count;
    Value part = Value::Allocate(array.type, {count / last, last});
    cut.Copy(piece.first, piece.value, static_cast<char*>(part.mutable_data()));
    part = LastFirst(part);
    const IndexVector place = cut.PlaceOf(piece.first);
    int64_t begin = 0;  // among the elements of one place
    for (int d = 0; d + 1 < place.size(); ++d) {
      begin = begin * cut.ranges()[d].count + place[d];
    }
    const int64_t run = count / last;
    for (int64_t t = 0; t < last; ++t) {
      const int64_t to = (place[place.size() - 1] + t) * rest + begin;
      DOGGED_RETURN_IF_ERROR(file->WriteAt(
          to * bytes, part.view().substr(t * run * bytes, run * bytes)));
    }
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(views.ForEachPiece(view, write));
  return file->Commit();
}

// The labels of `dense` are blocks.
absl::Status WriteBlocks(const Selection& selection,
                         const dsl::DenseView& dense,
                         const ArrayDescription& array,
                         const dsl::ResultViews& views,
                         WrittenOutput& written) {
  if (!IsArrayFormat(selection.format)) {
    DOGGED_ASSIGN_OR_RETURN(const Value blocks, dense.Assemble(views.lookup()));
    NoteRange(blocks, written);
    return WriteValue(selection, blocks, {});
  }
  DOGGED_ASSIGN_OR_RETURN(
      const std::unique_ptr<ArrayFile> file,
      CreateArrayFile(selection.path, selection.format, array));
  DOGGED_RETURN_IF_ERROR(
      dense.ForEachPiece(views.piece_bytes(), views.lookup(),
                         [&file](const dsl::DensePiece& piece) {
                           return file->Append(piece.value.view());
                         }));
  return file->Commit();
}

bool IsSeries(const Selection& selection) {
  return selection.format == OutputFormat::kApng ||
         selection.format == OutputFormat::kPvd;
}

// The steps of a series that was cut from `dense`.
struct Series {
  const Output& output;
  const Selection& selection;
  const ResultView& view;
  const Value& dense;
  int64_t first = 0;
  int64_t last = 0;
  int64_t step = 1;

  int64_t Count() const { return (last - first) / step + 1; }
};

// A time step of a series: its labels, its values and their indices.
struct Step {
  Selection selection;
  Value value;
  IndexGrid indices;
};

absl::StatusOr<Step> StepAt(const Series& series, int64_t time) {
  Step step{
      .selection = AtTime(series.selection, series.view.lower.size(), time),
      .value = {},
      .indices = {}};
  DOGGED_ASSIGN_OR_RETURN(
      step.value, ExtractSelection(step.selection, series.view, series.dense));
  step.indices = AxesOf(series.output, step.selection, series.view);
  return step;
}

Series SeriesOf(const Output& output, const Selection& selection,
                const ResultView& view, const Value& dense) {
  Series out = {
      .output = output,
      .selection = selection,
      .view = view,
      .dense = dense,
      .first = std::max(output.labels.lower.back(), view.lower.back()),
      .last = std::min(output.labels.upper.back(), view.upper.back()),
      .step = output.labels.step.back()};
  if (selection.indices.empty()) {  // all of it, wherever a loop has ended
    out.first = view.lower.back();
    out.last = view.upper.back();
    out.step = view.step.back();
  }
  return out;
}

// All frames have one scale, of all numbers that they show.
absl::Status WriteAnimation(const Series& series, WrittenOutput& written) {
  std::vector<int64_t> times = FrameSteps(0, series.Count() - 1);
  for (int64_t& time : times) time = series.first + time * series.step;
  PlotRange scale;
  for (const int64_t time : times) {
    DOGGED_ASSIGN_OR_RETURN(const Step step, StepAt(series, time));
    DOGGED_ASSIGN_OR_RETURN(const PlotRange range,
                            RangeOf(step.value, step.selection.text));
    Widen(scale, range);
    NoteRange(step.value, written);
  }
  Apng apng(std::ssize(times));
  for (const int64_t time : times) {
    DOGGED_ASSIGN_OR_RETURN(const Step step, StepAt(series, time));
    DOGGED_ASSIGN_OR_RETURN(
        const Canvas frame,
        Plot(step.value, step.selection.text, step.indices, &scale));
    DOGGED_RETURN_IF_ERROR(apng.Add(frame));
  }
  const std::string bytes = apng.Finish();
  const absl::string_view pieces[] = {bytes};
  DOGGED_RETURN_IF_ERROR(WriteWholeFile(series.selection.path, pieces));
  if (times.size() > 1 && times[1] > times[0] + series.step) {
    std::fprintf(
        stderr, "%s shows %s of %s steps: one in %s from %lld, and the last\n",
        series.selection.path.c_str(), GroupedCount(std::ssize(times)).c_str(),
        GroupedCount(series.Count()).c_str(),
        GroupedCount((times[1] - times[0]) / series.step).c_str(),
        static_cast<long long>(series.first));
  }
  return absl::OkStatus();
}

// The list comes last, when all files that it names are there.
absl::Status WriteImages(const Series& series) {
  std::vector<int64_t> times;
  for (int64_t time = series.first; time <= series.last; time += series.step) {
    DOGGED_ASSIGN_OR_RETURN(const Step step, StepAt(series, time));
    DOGGED_RETURN_IF_ERROR(WriteVti(ImagePath(series.selection.path, time),
                                    step.value, series.selection.array,
                                    step.indices));
    times.push_back(time);
  }
  const auto& axes = series.output.form.axes;
  const auto& names = series.output.labels.names;
  const auto time = names.empty() ? axes.end() : axes.find(names.back());
  return WritePvd(series.selection.path, times,
                  time == axes.end() ? 1 : time->second.spacing);
}

// Dimensions that a format can show, and the words of an error. Files of
// numbers take any.
struct FormatRule {
  OutputFormat format;
  int dimensions_max;
  absl::string_view what;
  absl::string_view instead;
};
constexpr FormatRule kRules[] = {
    {OutputFormat::kPng, 2, "a picture has one or two dimensions",
     "fix an index, show the last one as time in an .apng, or write"},
    {OutputFormat::kApng, 2,
     "an animation has one or two dimensions besides the last index",
     "fix an index, or write"},
    {OutputFormat::kVti, 3, "an image has one to three dimensions",
     "fix an index, show the last one as time in a .pvd, or write"},
    {OutputFormat::kPvd, 3,
     "images over time have one to three dimensions besides the last index",
     "fix an index, or write"}};

// Checks that the last index can be time.
absl::Status CheckSeries(const Output& output) {
  const auto wrong = [&output](absl::string_view what) {
    return Mistyped(what, output.from);
  };
  const Selection& selection = output.selection;
  const dsl::SelectedLabels& labels = output.labels;
  const bool is_animation = selection.format == OutputFormat::kApng;
  const std::string file = is_animation ? "an .apng" : "a .pvd";
  const std::string still = is_animation ? "a .png" : "a .vti";
  if (labels.has_blocks) {
    return wrong(absl::StrCat(file, " is of labels that are numbers, those of ",
                              selection.array,
                              " are blocks; write them to an .npy file"));
  }
  if (labels.lower.empty() || labels.lower.back() == labels.upper.back()) {
    return wrong(absl::StrCat(
        file, " shows the last index as time, and ", selection.text,
        " has one value of it; write ':' or a range there, or write to ",
        still));
  }
  const int64_t count =
      (labels.upper.back() - labels.lower.back()) / labels.step.back() + 1;
  if (!is_animation && count > kImagesMax) {
    return wrong(absl::StrCat(
        file, " lists at most ", GroupedCount(kImagesMax), " images, ",
        selection.text, " has ", GroupedCount(count),
        " values of its last index; write a range of them, or an .npy file"));
  }
  for (int64_t k = 0; !is_animation && k < count; ++k) {
    const int64_t time = labels.lower.back() + k * labels.step.back();
    const absl::Status writable =
        CheckWritable(ImagePath(selection.path, time));
    if (!writable.ok()) return wrong(writable.message());
  }
  return absl::OkStatus();
}

absl::Status CheckDimensions(const Output& output) {
  const auto wrong = [&output](absl::string_view what) {
    return Mistyped(what, output.from);
  };
  const Selection& selection = output.selection;
  const dsl::SelectedLabels& labels = output.labels;
  const auto* rule = std::find_if(std::begin(kRules), std::end(kRules),
                                  [&](const FormatRule& known) {
                                    return known.format == selection.format;
                                  });
  if (rule == std::end(kRules)) return absl::OkStatus();
  if (labels.has_blocks) {
    // Blocks have dimensions of their own; a matrix can be looked at.
    if (selection.format == OutputFormat::kPng) return absl::OkStatus();
    return wrong(absl::StrCat(
        "an image is of labels that are numbers, those of ", selection.array,
        " are blocks; write them to an .npy file"));
  }
  const size_t count = labels.lower.size() - (IsSeries(selection) ? 1 : 0);
  int dimensions = 0;
  for (size_t d = 0; d < count; ++d) {
    const int64_t points =
        (labels.upper[d] - labels.lower[d]) / labels.step[d] + 1;
    dimensions += points > 1 ? 1 : 0;
    if (rule->dimensions_max == 3 && points > kImagePointsMax) {
      return wrong(absl::StrCat("an image has at most ",
                                GroupedCount(kImagePointsMax),
                                " points along an index; write an .npy file"));
    }
  }
  if (dimensions >= 1 && dimensions <= rule->dimensions_max) {
    return absl::OkStatus();
  }
  return wrong(absl::StrCat(
      rule->what, ", ", selection.text, " has ", dimensions, "; ",
      dimensions == 0 ? "write" : rule->instead, " it to an .npy file"));
}

absl::Status CheckFormat(const Output& output) {
  if (output.form.is_time_first && output.labels.has_blocks) {
    return Mistyped(
        absl::StrCat("--time-first: the labels of ", output.selection.array,
                     " are blocks, whose dimensions come last"),
        output.from);
  }
  if (IsSeries(output.selection)) DOGGED_RETURN_IF_ERROR(CheckSeries(output));
  return CheckDimensions(output);
}

// One for each file, whatever its path is written like.
std::string FilePlaceOf(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::weakly_canonical(
      std::filesystem::absolute(ResolveLinks(path), ignored), ignored);
  return ignored ? path : file.string();
}

}  // namespace

std::string NumberText(const Value& value) {
  switch (value.type()) {
    case ElementType::kDouble:
      return Shortest(value.span<double>()[0]);
    case ElementType::kFloat:
      return Shortest(value.span<float>()[0]);
    case ElementType::kInt64:
      return Shortest(value.span<int64_t>()[0]);
  }
  return "";
}

absl::StatusOr<std::vector<Output>> ParseOutputs(
    const std::vector<std::string>& arguments, const OutputForm& form) {
  std::vector<Output> out;
  std::set<std::string> paths;
  for (const std::string& argument : arguments) {
    absl::StatusOr<Selection> selection = ParseSelection(argument);
    if (!selection.ok()) return Mistyped(selection.status().message());
    const std::string& path = selection->path;
    // "u=$UNSET.npy" comes to that.
    const std::string name = std::filesystem::path(path).filename();
    if (name.rfind('.') == 0) {
      return Mistyped(absl::StrCat(path, ": a file's name stands before ", name,
                                   "; is a variable empty?"));
    }
    const absl::Status writable = CheckWritable(path, selection->format);
    if (!writable.ok()) {
      return Mistyped(writable.message());
    }
    if (!paths.insert(FilePlaceOf(path)).second) {
      return Mistyped(absl::StrCat(path, ": two outputs go to this file"));
    }
    out.push_back(
        {.selection = *std::move(selection), .labels = {}, .form = form});
  }
  return out;
}

absl::Status SetLabels(std::vector<dsl::SelectedLabels> labels,
                       std::vector<Output>& outputs) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    outputs[k].labels = std::move(labels[k]);
    DOGGED_RETURN_IF_ERROR(CheckFormat(outputs[k]));
  }
  return absl::OkStatus();
}

absl::Status AddResultFiles(const std::vector<dsl::ResultFile>& files,
                            const OutputForm& form,
                            std::vector<Output>& outputs) {
  const size_t given = outputs.size();
  for (const dsl::ResultFile& file : files) {
    if (std::any_of(outputs.begin(),
                    outputs.begin() + static_cast<ptrdiff_t>(given),
                    [&file](const Output& output) {
                      return output.selection.path == file.path;
                    })) {
      continue;
    }
    const OutputFormat format = *FormatOf(file.path);
    const absl::Status writable = CheckWritable(file.path, format);
    if (!writable.ok()) return Mistyped(writable.message(), file.place);
    // No indices: all of the result, which has its own view.
    outputs.push_back({.from = file.place,
                       .selection = {.text = file.text,
                                     .array = file.array,
                                     .indices = {},
                                     .path = file.path,
                                     .format = format},
                       .labels = file.labels,
                       .form = form});
    DOGGED_RETURN_IF_ERROR(CheckFormat(outputs.back()));
  }
  return absl::OkStatus();
}

absl::Status CheckKeepInputs(
    const std::vector<std::pair<std::string, std::string>>& inputs,
    const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    const std::string& path = output.selection.path;
    for (const auto& [array, file] : inputs) {
      if (FilePlaceOf(file) != FilePlaceOf(path)) continue;
      return Mistyped(absl::StrCat(path, ": input ", array,
                                   " is read from this file, which would be "
                                   "overwritten: give the output another name"),
                      output.from);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAxes(const OutputForm& form,
                       const std::vector<Output>& outputs) {
  std::set<std::string> names;
  for (const Output& output : outputs) {
    names.insert(output.labels.names.begin(), output.labels.names.end());
  }
  for (const auto& [name, axis] : form.axes) {
    if (names.count(name) > 0) continue;
    return Mistyped(outputs.empty() ? "there is no output"
                                    : absl::StrCat("no output has an index ",
                                                   name, "; theirs are ",
                                                   absl::StrJoin(names, ", ")),
                    "--spacing");
  }
  return absl::OkStatus();
}

std::string WrittenOutput::ToWords() const {
  const bool is_one = ElementCount(shape) == 1;
  const std::string extents =
      shape.empty() ? "1" : absl::StrJoin(shape.begin(), shape.end(), " x ");
  return absl::StrCat(
      array, " -> ", path, ": ", labels, ", ", extents, " ", ElementName(type),
      is_one || type == ElementType::kInt64 ? "" : "s",
      range.has_value()
          ? absl::StrFormat(", from %.4g to %.4g", range->first, range->second)
          : "",
      agents > 0 ? absl::StrCat(", written by ", agents,
                                agents == 1 ? " agent" : " agents")
                 : "");
}

absl::StatusOr<Value> ValueOf(const Output& output, dsl::ResultViews& views) {
  const Program& program = views.program();
  const auto number = static_cast<size_t>(output.labels.view);
  const ResultView& view = program.views[number];
  const Selection selection = WithNumbers(output, view);
  if (output.labels.has_blocks) {
    return dsl::AssembleView(program, Narrowed(view, selection),
                             views.lookup());
  }
  DOGGED_ASSIGN_OR_RETURN(const Value dense, views.Assembled(number));
  return ExtractSelection(selection, view, dense);
}

std::string LabelsText(const ResultView& view) {
  return LabelsText(
      {.text = "", .array = view.array, .indices = {}, .path = ""}, view);
}

absl::StatusOr<WrittenOutput> WriteOutput(const Output& output,
                                          dsl::ResultViews& views) {
  const auto number = static_cast<size_t>(output.labels.view);
  const ResultView& view = views.program().views[number];
  const Selection selection = WithNumbers(output, view);
  WrittenOutput written{.path = selection.path,
                        .array = selection.array,
                        .labels = LabelsText(selection, view)};
  if (output.labels.has_blocks) {
    DOGGED_ASSIGN_OR_RETURN(
        const dsl::DenseView dense,
        dsl::DenseView::Of(views.program(), Narrowed(view, selection),
                           views.lookup()));
    written.shape = dense.shape();
    written.type = dense.type();
    DOGGED_RETURN_IF_ERROR(WriteBlocks(
        selection, dense, DescriptionOf(output, selection, view, written),
        views, written));
    return written;
  }
  if (IsSeries(selection)) {
    DOGGED_ASSIGN_OR_RETURN(const Value dense, views.Assembled(number));
    const Series series = SeriesOf(output, selection, view, dense);
    DOGGED_RETURN_IF_ERROR(selection.format == OutputFormat::kApng
                               ? WriteAnimation(series, written)
                               : WriteImages(series));
    DOGGED_ASSIGN_OR_RETURN(const Step step, StepAt(series, series.first));
    written.shape = step.value.shape();
    written.shape.push_back(series.Count());
    written.type = step.value.type();
    return written;
  }
  DOGGED_ASSIGN_OR_RETURN(const dsl::DenseView* const dense,
                          views.Dense(number));
  DOGGED_ASSIGN_OR_RETURN(const SelectionCut cut,
                          SelectionCut::Of(selection, view, dense->shape()));
  const bool is_turned = IsTurned(output, selection, view);
  written.shape = cut.shape();
  written.type = dense->type();
  if (is_turned) TurnLastFirst(written.shape);
  if (IsArrayFormat(selection.format)) {
    const auto write = is_turned ? WriteTurned : WriteCut;
    DOGGED_RETURN_IF_ERROR(
        write(selection, cut, DescriptionOf(output, selection, view, written),
              number, views));
    return written;
  }
  DOGGED_ASSIGN_OR_RETURN(Value part,
                          Selected(cut, written.type, number, views));
  if (is_turned) part = LastFirst(part);
  if (selection.format == OutputFormat::kPng) NoteRange(part, written);
  DOGGED_RETURN_IF_ERROR(
      WriteValue(selection, part,
                 DescriptionOf(output, selection, view, written).indices));
  return written;
}

absl::StatusOr<std::string> NumbersAmongResults(const Program& program,
                                                dsl::ResultLookup lookup) {
  std::string out;
  for (const ResultView& view : program.views) {
    bool is_one = true;
    for (size_t d = 0; d < view.lower.size(); ++d) {
      is_one = is_one && view.Count(d) == 1;
    }
    if (!is_one) continue;
    DOGGED_ASSIGN_OR_RETURN(const Value value,
                            dsl::AssembleView(program, view, lookup));
    if (!value.shape().empty()) continue;  // a block
    std::string index;
    for (const int64_t at : view.lower) absl::StrAppend(&index, "(", at, ")");
    absl::StrAppend(&out, view.array, index, " = ", NumberText(value), "\n");
  }
  return out;
}

}  // namespace dogged
