#include "dsl/lower_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/lower.h"
#include "dsl/lower_reductions.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// A program in two: what makes no use of reductions, and what does. Arrays
// stand at the same positions in both.
struct Halves {
  PointProgram head;
  PointProgram tail;
  std::vector<PointReduction> between;  // of what the head makes
  // By result set of each half: its position in the whole.
  std::vector<size_t> head_results;
  std::vector<size_t> tail_results;
};

// Arrays that reductions create, or tasks that read such arrays.
std::vector<bool> LateArrays(const PointProgram& points) {
  std::vector<bool> is_late(points.arrays.size(), false);
  for (const PointReduction& reduction : points.reductions) {
    is_late[static_cast<size_t>(reduction.array)] = true;
  }
  const auto is_any_late = [&is_late](const auto& refs) {
    return std::any_of(refs.begin(), refs.end(), [&is_late](const auto& ref) {
      return is_late[static_cast<size_t>(ref.array)];
    });
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const PointClass& c : points.classes) {
      if (!is_any_late(c.uses) && !is_any_late(c.creates)) continue;
      for (const Create& create : c.creates) {
        if (is_late[static_cast<size_t>(create.array)]) continue;
        is_late[static_cast<size_t>(create.array)] = true;
        has_changed = true;
      }
    }
  }
  return is_late;
}

absl::StatusOr<Halves> Split(const PointProgram& points) {
  const std::vector<bool> late = LateArrays(points);
  const auto is_late = [&late](int32_t array) {
    return late[static_cast<size_t>(array)];
  };
  Halves out{.head = points,
             .tail = points,
             .between = {},
             .head_results = {},
             .tail_results = {}};
  for (PointProgram* half : {&out.head, &out.tail}) {
    half->classes.clear();
    half->reductions.clear();
    half->results.clear();
  }
  for (const PointClass& c : points.classes) {
    if (!is_late(c.creates.front().array)) {
      out.head.classes.push_back(c);
      continue;
    }
    for (const Use& use : c.uses) {
      if (is_late(use.array)) continue;
      return absl::UnimplementedError(
          absl::StrCat("task ", c.name, " reads ",
                       points.arrays[static_cast<size_t>(use.array)].name,
                       " and what depends on a reduction"));
    }
    out.tail.classes.push_back(c);
  }
  for (const PointReduction& reduction : points.reductions) {
    (is_late(reduction.source) ? out.tail.reductions : out.between)
        .push_back(reduction);
  }
  for (size_t r = 0; r < points.results.size(); ++r) {
    const bool in_tail = is_late(points.results[r].array);
    (in_tail ? out.tail : out.head).results.push_back(points.results[r]);
    (in_tail ? out.tail_results : out.head_results).push_back(r);
  }
  return out;
}

// Appends `tail` to `program`, arrays behind arrays.
void Append(Program tail, Program& program) {
  const auto arrays = static_cast<int32_t>(program.arrays.size());
  const auto kernels = static_cast<int32_t>(program.kernels.size());
  const auto results = static_cast<int32_t>(program.results.size());
  for (Array& array : tail.arrays) program.arrays.push_back(std::move(array));
  for (KernelSpec& spec : tail.kernels) {
    program.kernels.push_back(std::move(spec));
  }
  for (TaskClass& c : tail.classes) {
    c.kernel += kernels;
    for (Create& create : c.creates) create.array += arrays;
    for (Use& use : c.uses) use.array += arrays;
    program.classes.push_back(std::move(c));
  }
  for (ResultSet& set : tail.results) {
    set.array += arrays;
    program.results.push_back(std::move(set));
  }
  for (ResultView& view : tail.views) {
    view.result_set += results;
    program.views.push_back(std::move(view));
  }
  if (!program.repeat) return;
  Repeat& repeat = *program.repeat;
  repeat.array = tail.repeat->array + arrays;
  for (const AffineExpr& time : tail.repeat->class_time) {
    repeat.class_time.push_back(time);
  }
  for (const Repeat::ResultTime& time : tail.repeat->result_time) {
    repeat.result_time.push_back(time);
  }
}

// Brings results and views into the order of the user's program.
void OrderResults(const Halves& halves, Program& program) {
  std::vector<size_t> places = halves.head_results;
  places.insert(places.end(), halves.tail_results.begin(),
                halves.tail_results.end());
  std::vector<ResultSet> results(places.size());
  std::vector<ResultView> views(places.size());
  std::vector<Repeat::ResultTime> times(places.size());
  for (size_t r = 0; r < places.size(); ++r) {
    results[places[r]] = std::move(program.results[r]);
    views[places[r]] = std::move(program.views[r]);
    views[places[r]].result_set = static_cast<int32_t>(places[r]);
    if (program.repeat) times[places[r]] = program.repeat->result_time[r];
  }
  program.results = std::move(results);
  program.views = std::move(views);
  if (program.repeat) program.repeat->result_time = std::move(times);
}

absl::StatusOr<Program> CoalesceHead(const PointProgram& points,
                                     const TargetSize& target,
                                     const std::optional<TileShape>& shape) {
  if (points.repeat &&
      !LateArrays(points)[static_cast<size_t>(points.repeat->array)]) {
    return absl::UnimplementedError("its loop ends by what is no reduction");
  }
  if (points.reductions.empty()) return Coalesce(points, target, shape);
  DOGGED_ASSIGN_OR_RETURN(Halves halves, Split(points));
  const size_t wanted = halves.head.results.size();
  for (const PointReduction& reduction : halves.between) {
    DOGGED_ASSIGN_OR_RETURN(PointResult result,
                            TilesFor(reduction, points.repeat));
    halves.head.results.push_back(std::move(result));
  }
  DOGGED_ASSIGN_OR_RETURN(Program program,
                          Coalesce(halves.head, target, shape));
  DOGGED_ASSIGN_OR_RETURN(Program tail, LowerPoints(halves.tail, target));
  // What the tail's results need is not all of it: only the analysis knows.
  program.every_task_needed &=
      points.every_task_needed ||
      (halves.tail.classes.empty() && halves.tail.reductions.empty() &&
       std::all_of(halves.between.begin(), halves.between.end(),
                   [](const PointReduction& r) { return r.is_all_needed; }));
  const auto offset = static_cast<int32_t>(program.arrays.size());
  const std::vector<ResultView> views = program.views;
  const std::vector<ResultSet> tiles = program.results;
  program.views.resize(wanted);
  program.results.resize(wanted);
  if (program.repeat) program.repeat->result_time.resize(wanted);
  Append(std::move(tail), program);
  for (size_t r = 0; r < halves.between.size(); ++r) {
    const PointReduction& reduction = halves.between[r];
    const PointResult& result = halves.head.results[wanted + r];
    if (result.level_step > 0) {
      AddRoundReduction(reduction, points, result, tiles[wanted + r],
                        offset + reduction.array, program);
      continue;
    }
    DOGGED_RETURN_IF_ERROR(
        AddTileReduction(reduction, points, views[wanted + r],
                         tiles[wanted + r], offset + reduction.array, program));
  }
  OrderResults(halves, program);
  DOGGED_RETURN_IF_ERROR(program.Validate());
  return program;
}

}  // namespace

absl::StatusOr<TilePlan> DecodeTilePlan(const KernelSpec& spec) {
  Decoder in(spec.body);
  TilePlan plan = TilePlan::Decode(in);
  DOGGED_RETURN_IF_ERROR(in.Finish("tile plan"));
  return plan;
}

absl::StatusOr<Program> LowerProgram(const PointProgram& points,
                                     const TargetSize& target, bool coalesce,
                                     const std::optional<TileShape>& shape,
                                     std::string& how) {
  if (!coalesce) {
    how = "point by point, as asked for";
    return LowerPoints(points, target);
  }
  absl::StatusOr<Program> program = CoalesceHead(points, target, shape);
  if (program.ok()) {
    DOGGED_ASSIGN_OR_RETURN(const TilePlan plan,
                            DecodeTilePlan(program->kernels.front()));
    how = ShapeText(plan);
    return program;
  }
  if (!absl::IsUnimplemented(program.status())) return program;
  how = absl::StrCat("point by point: ", program.status().message());
  return LowerPoints(points, target);
}

}  // namespace dogged::dsl
