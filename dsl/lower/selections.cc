#include "dsl/lower/selections.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "dsl/check/index_names.h"

namespace dogged::dsl {
namespace {

// The line in front of a selection, as no program has it.
constexpr absl::string_view kSelected = "\nresult  # selected\n";

bool HasIndices(const std::string& selection) {
  return selection.find('(') != std::string::npos;
}

// Drops results behind the first `own` that an earlier one covers; the
// program's own stay, so that it has as many whatever its parameters are. By
// position before: where it is now, or the one that covers it, but for those
// with a file: that is of the result as it stands.
std::vector<int32_t> DropCovered(size_t own, PointProgram& points) {
  std::vector<PointResult> kept;
  std::vector<int32_t> places;
  for (PointResult& result : points.results) {
    const auto covers = std::find_if(
        kept.begin(), kept.end(), [&result](const PointResult& other) {
          return result.file.empty() && other.array == result.array &&
                 other.is_whole_box && other.time == result.time &&
                 Intersect(other.box, result.box) == result.box;
        });
    places.push_back(static_cast<int32_t>(covers - kept.begin()));
    if (covers == kept.end() || kept.size() < own) {
      kept.push_back(std::move(result));
    }
  }
  points.results = std::move(kept);
  return places;
}

// "u(0:9)(10)": the labels of a box, as a selection has them; empty where no
// selection has the same, as of a triangle, or of the end of a loop.
std::string SelectionOf(const PointResult& result, const PointProgram& points) {
  if (points.repeat.has_value() || !result.is_grid) return "";
  std::string out = points.arrays[result.array].name;
  for (int i = 0; i < result.box.size(); ++i) {
    const auto [lower, upper] =
        std::pair{result.box.lower[i], result.box.upper[i]};
    absl::StrAppend(&out, "(", lower);
    if (upper != lower) absl::StrAppend(&out, ":", upper);
    if (upper != lower && result.step[i] > 1) {
      absl::StrAppend(&out, ":", result.step[i]);
    }
    absl::StrAppend(&out, ")");
  }
  return out;
}

// How to say which of the results at `places` is meant.
std::string HelpWithSeveral(const std::vector<int32_t>& places,
                            const std::string& array,
                            const PointProgram& points) {
  constexpr size_t kShownMax = 4;
  std::set<std::string> selections;
  for (const int32_t place : places) {
    const PointResult& result = points.results[place];
    if (points.arrays[result.array].name != array) continue;
    selections.insert(SelectionOf(result, points));
  }
  if (selections.count("") > 0) {
    return "say which, by its indices, or write  to \"FILE\"  behind it in the "
           "program";
  }
  std::vector<std::string> shown(selections.begin(), selections.end());
  if (shown.size() > kShownMax) {
    shown.resize(kShownMax);
    shown.push_back("...");
  }
  return absl::StrCat("say which:  ", absl::StrJoin(shown, "  or  "));
}

// The position of the one result of this array among the first `own`, or of
// those the one that the program has itself; -1 after an error.
int32_t FindResult(const std::string& array, std::vector<int32_t> own,
                   const PointProgram& points, Diagnostics& diagnostics) {
  const auto end = static_cast<int64_t>(OwnBytes(diagnostics.text()));
  const auto is_written = [&](int32_t place) {
    const PointResult& result = points.results[place];
    return points.arrays[result.array].name == array &&
           result.range.begin < end;
  };
  if (std::any_of(own.begin(), own.end(), is_written)) {
    std::erase_if(own, [&](int32_t place) { return !is_written(place); });
  }
  int32_t found = -1;
  std::vector<std::string> names;
  for (const int32_t place : own) {
    const PointResult& result = points.results[place];
    names.push_back(points.arrays[result.array].name);
    if (names.back() != array || place == found) continue;
    if (found < 0) {
      found = place;
      continue;
    }
    diagnostics
        .Error(Code::kResult, {},
               absl::StrCat("the program has several results of ", array))
        .Help(HelpWithSeveral(own, array, points));
    return -1;
  }
  if (found >= 0) return found;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  Diagnostic& error =
      diagnostics.Error(Code::kResult, {},
                        absl::StrCat("the program has no result ", array,
                                     DidYouMean(array, names)));
  error.Help(absl::StrCat("it has ", absl::StrJoin(names, ", ")));
  for (const PointArray& other : points.arrays) {
    if (other.name != array) continue;
    std::string all = array;
    for (int32_t i = 0; i < other.rank; ++i) all += "(:)";
    error.Help(other.rank > 0
                   ? absl::StrCat("write  ", all, "  to get all of it")
                   : absl::StrCat("add  result ", array, "  to the program"));
  }
  return -1;
}

// The labels of `result`, which is at position `view` now.
SelectedLabels LabelsOf(const PointResult& result, int32_t view,
                        const PointProgram& points) {
  const Box box = LastBox(result);
  return {.view = view,
          .lower = {box.lower.begin(), box.lower.end()},
          .upper = {box.upper.begin(), box.upper.end()},
          .step = result.step,
          .has_blocks = points.arrays[result.array].block_rank > 0};
}

}  // namespace

std::string WithSelections(absl::string_view text,
                           const std::vector<std::string>& selections) {
  std::string out(text.data(), text.size());
  for (const std::string& selection : selections) {
    if (!HasIndices(selection)) continue;
    absl::StrAppend(&out, kSelected, selection, "\n");
  }
  return out;
}

size_t OwnBytes(absl::string_view text) {
  while (absl::EndsWith(text, "\n")) {
    const size_t before = text.rfind('\n', text.size() - 2);
    absl::string_view rest = text.substr(0, before + 1);
    if (before == absl::string_view::npos ||
        !absl::ConsumeSuffix(&rest, kSelected)) {
      break;
    }
    text = rest;
  }
  return text.size();
}

absl::string_view WithoutSelections(
    absl::string_view text, const std::vector<std::string>& selections) {
  text.remove_suffix(WithSelections("", selections).size());
  return text;
}

void MarkSelections(size_t own_bytes, CheckedProgram& program) {
  for (CheckedResult& result : program.results) {
    result.is_selection = static_cast<size_t>(result.range.begin) >= own_bytes;
  }
}

std::string WithoutFiles(std::string text, const ast::Program& tree) {
  for (auto result = tree.results.rbegin(); result != tree.results.rend();
       ++result) {
    const SourceRange range = result->file_range;
    text.erase(static_cast<size_t>(range.begin),
               static_cast<size_t>(range.end - range.begin));
  }
  return text;
}

PlacedResults PlaceResults(const std::vector<std::string>& selections,
                           PointProgram& points, Diagnostics& diagnostics) {
  const std::vector<PointResult> results = points.results;
  const auto count =
      std::count_if(selections.begin(), selections.end(), HasIndices);
  const std::vector<int32_t> places =
      DropCovered(results.size() - static_cast<size_t>(count), points);
  const std::vector<int32_t> own(places.begin(), places.end() - count);
  PlacedResults out;
  size_t next = own.size();
  for (const std::string& selection : selections) {
    if (HasIndices(selection)) {
      out.selections.push_back(LabelsOf(results[next], places[next], points));
      ++next;
      continue;
    }
    const int32_t view = FindResult(selection, own, points, diagnostics);
    out.selections.push_back(
        view < 0 ? SelectedLabels{.view = view}
                 : LabelsOf(points.results[view], view, points));
  }
  for (size_t r = 0; r < own.size(); ++r) {
    const PointResult& result = results[r];
    if (result.file.empty()) continue;
    const int64_t begin = result.range.begin;
    const int64_t end = result.range.end;
    out.files.push_back(
        {.path = result.file,
         .text = absl::StrReplaceAll(
             absl::string_view(diagnostics.text()).substr(begin, end - begin),
             {{" ", ""}, {"\t", ""}, {"\n", ""}, {"\r", ""}}),
         .array = points.arrays[result.array].name,
         .place = diagnostics.PlaceOf(result.range.begin),
         .labels = LabelsOf(result, places[r], points)});
  }
  return out;
}

void NameIndices(const CheckedProgram& program, const PointProgram& points,
                 PlacedResults& placed) {
  const auto name = [&](SelectedLabels& labels) {
    const PointResult& result = points.results[labels.view];
    const int32_t array = program.FindArray(points.arrays[result.array].name);
    if (array >= 0) labels.names = IndexNames(program, array);
  };
  for (SelectedLabels& labels : placed.selections) name(labels);
  for (ResultFile& file : placed.files) name(file.labels);
}

SelectionErrors::SelectionErrors(const std::vector<std::string>& selections,
                                 const std::vector<std::string>& sources)
    : selections_(selections),
      diagnostics_("--output", absl::StrJoin(selections, "\n")) {
  size_t begin = 0;
  std::vector<SourcePart> parts;
  for (size_t k = 0; k < selections.size(); ++k) {
    begin_.push_back(begin);
    begin += selections[k].size() + 1;
    parts.push_back({.first_line = static_cast<int>(k) + 1,
                     .file = k < sources.size() ? sources[k] : "--output",
                     .line_there = 0});
  }
  diagnostics_.SetParts(std::move(parts));
}

void SelectionErrors::Add(size_t k, const Diagnostics& errors) {
  const auto begin = static_cast<int32_t>(begin_[k]);
  const auto bytes = static_cast<int32_t>(selections_[k].size());
  // A new line ends the text.
  const int32_t there = static_cast<int32_t>(errors.text().size()) - bytes - 1;
  for (const Diagnostic& error : errors.all()) {
    if (error.severity != Severity::kError) continue;
    SourceRange range{begin, begin + bytes};
    if (HasIndices(selections_[k]) && error.range.begin >= there) {
      range = {begin + error.range.begin - there,
               begin + error.range.end - there};
    }
    Diagnostic& said = diagnostics_.Error(error.code, range, error.message);
    said.Note(error.note);
    // How to change the program is no help here.
    if (error.code == Code::kNoProducer || error.code == Code::kOutOfRange) {
      continue;
    }
    said.Help(error.help);
  }
}

}  // namespace dogged::dsl
