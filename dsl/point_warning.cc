#include "dsl/point_warning.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dsl/tiling/lower_program.h"
#include "dsl/tiling/stencil_arrays.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

constexpr absl::string_view kNoTiles = "point by point: ";
// Fewer are done in a moment.
constexpr int64_t kFewTasks = 20'000;

// The recurrent arrays and all that they are made of, with the last step of
// each as the result. No classes if no array is made of itself.
PointProgram StencilOf(const PointProgram& points) {
  std::vector<bool> wanted = RecurrentArrays(points);
  PointProgram out = points;
  out.classes.clear();
  out.reductions.clear();
  out.results.clear();
  for (size_t a = 0; a < wanted.size(); ++a) {
    const PointArray& array = points.arrays[a];
    if (!wanted[a] || array.box.size() != array.rank || array.rank < 1) {
      continue;
    }
    std::vector<Domain::Range> ranges;
    AffineMap map;
    for (int32_t i = 0; i < array.rank; ++i) {
      const bool is_last = i + 1 == array.rank;
      ranges.push_back(
          {.name = absl::StrCat("i", i),
           .lower = (is_last ? array.box.upper : array.box.lower)[i],
           .upper = array.box.upper[i]});
      map.push_back(AffineExpr::Index(i));
    }
    out.results.push_back(MakeResult(static_cast<int32_t>(a),
                                     Domain::Box(ranges), std::move(map)));
  }
  std::vector<bool> is_taken(points.classes.size(), false);
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (size_t k = 0; k < is_taken.size(); ++k) {
      const PointClass& c = points.classes[k];
      const bool is_wanted = std::any_of(
          c.creates.begin(), c.creates.end(),
          [&wanted](const Create& create) { return wanted[create.array]; });
      if (is_taken[k] || !is_wanted) continue;
      is_taken[k] = has_changed = true;
      for (const Use& use : c.uses) {
        wanted[use.array] = true;
      }
    }
  }
  for (size_t k = 0; k < is_taken.size(); ++k) {
    if (is_taken[k]) out.classes.push_back(points.classes[k]);
  }
  return out;
}

// None if it does not run in tiles.
std::optional<int64_t> TasksInTiles(const PointProgram& points,
                                    const CompileOptions& options) {
  std::string how;
  const absl::StatusOr<Program> program =
      LowerProgram(points, options.target, true, options.shape, how);
  if (!program.ok() || absl::StartsWith(how, kNoTiles)) {
    return std::nullopt;
  }
  return program->TaskCount();
}

// The task that `reason` begins with.
const CheckedTask* NamedIn(absl::string_view reason,
                           const CheckedProgram& checked) {
  for (const CheckedTask& task : checked.tasks) {
    if (task.origin == CheckedTask::Origin::kTask &&
        absl::StartsWith(reason, absl::StrCat("task ", task.name, " "))) {
      return &task;
    }
  }
  return nullptr;
}

// A result that would give the labels that the task reads of the stencil, if
// the stencil stays in tiles with it; else where to read more.
std::string WayBack(const CheckedTask* task, const CheckedProgram& checked,
                    const PointProgram& points, const PointProgram& stencil,
                    const CompileOptions& options, const Diagnostics& said) {
  const StencilArrays arrays = FindStencilArrays(points);
  for (const PointClass& c : points.classes) {
    if (task == nullptr || c.name != task->name) continue;
    for (size_t u = 0; u < c.uses.size(); ++u) {
      const Use& use = c.uses[u];
      if (!arrays.has_time[use.array] || use.gather != nullptr) continue;
      PointProgram wanted = stencil;
      wanted.results.push_back(MakeResult(use.array, c.domain, use.map));
      if (!TasksInTiles(wanted, options)) continue;
      const SourceRange at = task->uses[u].ref.range;
      std::string text = absl::StrCat(
          "leave the task out, and take what it reads from  result ",
          said.TextOf(at), " for");
      AffineMap indices;
      for (int d = 0; d < c.domain.size(); ++d) {
        indices.push_back(AffineExpr::Index(d));
      }
      const std::vector<IndexRange> ranges = RangesOf(c.domain, indices);
      for (size_t d = 0; d < ranges.size(); ++d) {
        absl::StrAppend(
            &text, d == 0 ? " " : "  ", c.domain.dimensions[d].name, " = ",
            ranges[d].lower, ":", ranges[d].upper,
            ranges[d].step > 1 ? absl::StrCat(":", ranges[d].step) : "");
      }
      return absl::StrCat(text, " to \"", checked.arrays[use.array].name,
                          ".npy\"");
    }
  }
  return "docs/LANGUAGE.md, Reductions, has a table of what keeps it there";
}

// A stencil that would have tiles without the tasks beside it. False: there is
// none.
bool WarnOfStencil(const CheckedProgram& checked, const PointProgram& points,
                   const CompileOptions& options, int64_t tasks,
                   absl::string_view reason, Diagnostics& diagnostics) {
  const PointProgram stencil = StencilOf(points);
  if (stencil.classes.empty()) return false;
  const std::optional<int64_t> in_tiles = TasksInTiles(stencil, options);
  if (!in_tiles) return false;
  const CheckedTask* task = NamedIn(reason, checked);
  diagnostics
      .Warning(Code::kPoints, task != nullptr ? task->range : SourceRange{},
               absl::StrCat("the stencil runs point by point, in ", tasks,
                            " tasks instead of ", *in_tiles, ": ", reason))
      .Help(WayBack(task, checked, points, stencil, options, diagnostics));
  return true;
}

bool HasBlocks(const PointProgram& points) {
  return std::any_of(points.classes.begin(), points.classes.end(),
                     [](const PointClass& c) {
                       return c.body == PointClass::Body::kNative;
                     }) ||
         std::any_of(
             points.arrays.begin(), points.arrays.end(),
             [](const PointArray& array) { return array.block_rank > 0; });
}

// The first task that `reason` mentions, else the one with most points.
const CheckedTask* BlamedTask(absl::string_view reason,
                              const CheckedProgram& checked,
                              const PointProgram& points) {
  const CheckedTask* out = nullptr;
  size_t first = absl::string_view::npos;
  for (const CheckedTask& task : checked.tasks) {
    const bool is_task = task.origin == CheckedTask::Origin::kTask;
    const std::string words = absl::StrCat(is_task ? "task " : "", task.name);
    const size_t at = reason.find(words);
    if (at >= first) continue;
    const absl::string_view behind = reason.substr(at + words.size());
    const char next = behind.empty() ? ' ' : behind.front();
    if (absl::ascii_isalnum(static_cast<unsigned char>(next)) || next == '_') {
      continue;
    }
    first = at;
    out = &task;
  }
  if (out != nullptr) return out;
  int64_t most = 0;
  for (const PointClass& c : points.classes) {
    for (const CheckedTask& task : checked.tasks) {
      if (task.name != c.name || c.domain.Count() <= most) continue;
      most = c.domain.Count();
      out = &task;
    }
  }
  return out;
}

bool WarnOfNest(const CheckedProgram& checked, const PointProgram& points,
                int64_t tasks, absl::string_view reason,
                Diagnostics& diagnostics) {
  if (HasBlocks(points)) return false;
  const CheckedTask* const task = BlamedTask(reason, checked, points);
  const bool is_order = absl::StrContains(reason, "bounded time");
  diagnostics
      .Warning(Code::kPoints, task != nullptr ? task->range : SourceRange{},
               absl::StrCat("the program runs point by point, in ", tasks,
                            " tasks, for its loop nest has no tiles: ", reason))
      .Help(absl::StrCat(
          is_order ? "let tasks read each other at like distances, or cut the "
                     "program in two with a file between; "
                   : "",
          "docs/LANGUAGE.md, Reductions, says which loop nests have tiles"));
  return true;
}

}  // namespace

bool WarnOfPoints(const CheckedProgram& checked, const PointProgram& points,
                  const CompileOptions& options, const Program& program,
                  absl::string_view how, Diagnostics& diagnostics) {
  if (!absl::ConsumePrefix(&how, kNoTiles) || points.repeat) return false;
  const int64_t tasks = program.TaskCount();
  if (tasks < kFewTasks) return false;
  if (WarnOfStencil(checked, points, options, tasks, how, diagnostics)) {
    return true;
  }
  const size_t nest = how.find(kNoLoopNest);
  return nest != absl::string_view::npos &&
         WarnOfNest(checked, points, tasks,
                    how.substr(nest + kNoLoopNest.size()), diagnostics);
}

}  // namespace dogged::dsl
