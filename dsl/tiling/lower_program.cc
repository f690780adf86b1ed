#include "dsl/tiling/lower_program.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/ir/tile_bodies.h"
#include "dsl/lower/lower_points.h"
#include "dsl/lower/lower_reductions.h"
#include "dsl/tiling/lift.h"
#include "dsl/tiling/lift_views.h"
#include "dsl/tiling/program_split.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Appends `pointwise` to `program`, arrays behind arrays.
void Append(Program pointwise, Program& program) {
  const auto arrays = static_cast<int32_t>(program.arrays.size());
  const auto kernels = static_cast<int32_t>(program.kernels.size());
  const auto results = static_cast<int32_t>(program.results.size());
  for (Array& array : pointwise.arrays)
    program.arrays.push_back(std::move(array));
  for (KernelSpec& spec : pointwise.kernels) {
    program.kernels.push_back(std::move(spec));
  }
  for (TaskClass& c : pointwise.classes) {
    c.kernel += kernels;
    for (Create& create : c.creates) create.array += arrays;
    for (Use& use : c.uses) use.array += arrays;
    program.classes.push_back(std::move(c));
  }
  for (ResultSet& set : pointwise.results) {
    set.array += arrays;
    program.results.push_back(std::move(set));
  }
  for (ResultView& view : pointwise.views) {
    view.result_set += results;
    program.views.push_back(std::move(view));
  }
  if (!program.repeat) return;
  Repeat& repeat = *program.repeat;
  repeat.array = pointwise.repeat->array + arrays;
  for (const AffineExpr& time : pointwise.repeat->class_time) {
    repeat.class_time.push_back(time);
  }
  for (const Repeat::ResultTime& time : pointwise.repeat->result_time) {
    repeat.result_time.push_back(time);
  }
}

// Brings results and views into the order of the user's program.
void OrderResults(const ProgramSplit& parts, Program& program) {
  std::vector<size_t> places = parts.tiled_results;
  places.insert(places.end(), parts.pointwise_results.begin(),
                parts.pointwise_results.end());
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

absl::StatusOr<Program> CoalesceTiled(const PointProgram& points,
                                      const TargetSize& target,
                                      const std::optional<TileShape>& shape) {
  absl::StatusOr<ProgramSplit> split = Split(points);
  // Where there can only be a stencil, its own obstacle says more.
  if (points.reductions.empty() && !points.repeat &&
      (!split.ok() || split->pointwise.classes.empty())) {
    return Coalesce(points, target, shape);
  }
  DOGGED_RETURN_IF_ERROR(split.status());
  ProgramSplit& parts = *split;
  const size_t wanted = parts.tiled.results.size();
  for (const PointReduction& reduction : parts.bridges) {
    DOGGED_ASSIGN_OR_RETURN(PointResult result,
                            TilesFor(reduction, points.repeat));
    parts.tiled.results.push_back(std::move(result));
  }
  DOGGED_ASSIGN_OR_RETURN(Program program,
                          Coalesce(parts.tiled, target, shape));
  DOGGED_ASSIGN_OR_RETURN(Program pointwise,
                          LowerPoints(parts.pointwise, target));
  // Results may need only a part of the pointwise part: only the analysis
  // knows.
  program.every_task_needed &=
      (points.every_task_needed && !parts.has_spare) ||
      (parts.pointwise.classes.empty() && parts.pointwise.reductions.empty() &&
       std::all_of(parts.bridges.begin(), parts.bridges.end(),
                   [](const PointReduction& r) { return r.is_all_needed; }));
  const auto offset = static_cast<int32_t>(program.arrays.size());
  const std::vector<ResultView> views = program.views;
  const std::vector<ResultSet> tiles = program.results;
  program.views.resize(wanted);
  program.results.resize(wanted);
  if (program.repeat) program.repeat->result_time.resize(wanted);
  Append(std::move(pointwise), program);
  for (size_t r = 0; r < parts.bridges.size(); ++r) {
    const PointReduction& reduction = parts.bridges[r];
    const PointResult& result = parts.tiled.results[wanted + r];
    if (result.time_interval > 0) {
      AddRoundReduction(reduction, parts.tiled, result, tiles[wanted + r],
                        offset + reduction.array, program);
      continue;
    }
    DOGGED_RETURN_IF_ERROR(
        AddTileReduction(reduction, parts.tiled, views[wanted + r],
                         tiles[wanted + r], offset + reduction.array, program));
  }
  OrderResults(parts, program);
  return program;
}

// Indices that a result fixes are no dimensions of it, in tiles as by points.
void FixIndices(const std::vector<PointResult>& results, Program& program) {
  for (size_t r = 0; r < results.size(); ++r) {
    for (size_t d = 0; d < results[r].varies.size(); ++d) {
      if (!results[r].varies[d]) program.views[r].tile_index[d] = -1;
    }
  }
}

absl::StatusOr<Program> InTiles(const PointProgram& points,
                                const TargetSize& target,
                                const std::optional<TileShape>& shape) {
  absl::StatusOr<Program> program = CoalesceTiled(points, target, shape);
  if (program.ok()) FixIndices(points.results, *program);
  return program;
}

// In tiles once arrays of fewer indices are lifted.
absl::StatusOr<Program> Lifted(const PointProgram& points,
                               const TargetSize& target,
                               std::optional<TileShape> shape) {
  const std::optional<LiftedProgram> lifted = LiftPoints(points);
  if (!lifted) return absl::UnimplementedError("there is nothing to lift");
  // The second time tiles have a shape that results ask for.
  for (int round = 0; round < 2; ++round) {
    DOGGED_ASSIGN_OR_RETURN(Program program,
                            CoalesceTiled(lifted->points, target, shape));
    FixIndices(lifted->points.results, program);
    DOGGED_ASSIGN_OR_RETURN(const TilePlan plan,
                            DecodeTilePlan(program.kernels.front()));
    TileShape other{.widths = plan.widths, .depth = plan.depth};
    if (shape) other.slab_points = shape->slab_points;
    if (UnliftViews(*lifted, program, other)) return program;
    shape = other;
  }
  return absl::UnimplementedError("tiles end between results");
}

// "32 x 64 tiles of 128 x 64 points, 16 steps deep".
std::string TilesText(const TilePlan& plan) {
  const bool is_one = std::all_of(plan.counts.begin(), plan.counts.end(),
                                  [](int64_t count) { return count == 1; });
  return absl::StrCat(is_one ? "one tile" : absl::StrJoin(plan.counts, " x "),
                      is_one ? " of " : " tiles of ",
                      absl::StrJoin(plan.widths, " x "), " points, ",
                      plan.depth, " steps deep");
}

}  // namespace

absl::StatusOr<Program> LowerProgram(const PointProgram& points,
                                     const TargetSize& target, bool coalesce,
                                     const std::optional<TileShape>& shape,
                                     std::string& how) {
  if (!coalesce) {
    how = "point by point, as asked for";
    return LowerPoints(points, target);
  }
  absl::StatusOr<Program> program = InTiles(points, target, shape);
  if (absl::IsUnimplemented(program.status())) {
    absl::StatusOr<Program> lifted = Lifted(points, target, shape);
    if (lifted.ok()) program = std::move(lifted);
  }
  if (program.ok()) {
    DOGGED_RETURN_IF_ERROR(program->Validate());
    DOGGED_ASSIGN_OR_RETURN(const TilePlan plan,
                            DecodeTilePlan(program->kernels.front()));
    how = TilesText(plan);
    return program;
  }
  if (!absl::IsUnimplemented(program.status())) return program;
  how = absl::StrCat("point by point: ", program.status().message());
  return LowerPoints(points, target);
}

bool GathersWithoutHalo(const Program& program) {
  const absl::StatusOr<TilePlan> plan = DecodeTilePlan(program.kernels.front());
  const auto is_wide = [](int64_t halo) { return halo > 0; };
  const auto has_halo = [&](const TileField& field) {
    return absl::c_any_of(field.halo_below, is_wide) ||
           absl::c_any_of(field.halo_above, is_wide);
  };
  return plan.ok() && absl::c_none_of(plan->fields, has_halo) &&
         absl::c_any_of(plan->fields, [&](const TileField& field) {
           return field.is_gathered || plan->IsAhead(field);
         });
}

}  // namespace dogged::dsl
