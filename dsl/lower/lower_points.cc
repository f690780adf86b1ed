#include "dsl/lower/lower_points.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dsl/lower/deferral.h"
#include "dsl/lower/lower_reductions.h"
#include "dsl/lower/static_values.h"

namespace dogged::dsl {
namespace {

// The program's own priority, where it gives any. Else earlier versions first:
// time for a stencil, for tiles the step of the algorithm, which is about the
// sum of a label's indices. Programs without versions run depth first, which is
// cheaper.
AffineExpr PriorityOf(const PointProgram& points, const PointClass& point_class,
                      const std::vector<int32_t>& versions) {
  if (std::any_of(points.classes.begin(), points.classes.end(),
                  [](const PointClass& c) { return c.priority.has_value(); })) {
    return point_class.priority.value_or(AffineExpr());
  }
  const Create& create = point_class.creates.front();
  bool has_versions = false;
  for (const int32_t version : versions) has_versions |= version >= 0;
  if (!has_versions) return {};
  const PointArray& array = points.arrays[create.array];
  const int32_t version = versions[create.array];
  if (array.block_rank == 0 && version >= 0) {
    return create.map[version] * -1;
  }
  AffineExpr sum;
  for (const AffineExpr& expr : create.map) sum = sum + expr;
  return sum * -1;
}

// The array's labels as they are, with the homes that its `place` asks for, or
// else tiles or slabs.
Array MakeArray(const PointArray& point, int32_t version,
                const TargetSize& target) {
  Array array{.name = point.name,
              .rank = point.rank,
              .element = point.element,
              .affinity_block = {},
              .affinity_group = 0,
              .version_index = version};
  if (!point.place.empty()) {
    array.affinity_block = point.place;
  } else if (point.block_rank > 0 || point.box.size() != point.rank) {
    array.affinity_block.assign(point.rank, 1);
    if (array.version_index >= 0) {
      array.affinity_block[array.version_index] = 0;
    }
  } else {
    array.affinity_block = SlabsOf(point.box, array.version_index, target);
  }
  return array;
}

// With the tasks that some result needs alone, if `needed_only`.
Program Lower(const PointProgram& points, const TargetSize& target,
              bool needed_only) {
  Program program;
  program.name = points.name;
  program.every_task_needed = points.every_task_needed || needed_only;
  program.repeat = points.repeat;
  std::vector<int32_t> versions;
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    const PointArray& point = points.arrays[a];
    versions.push_back(VersionIndexOf(points, static_cast<int32_t>(a)));
    Array array = MakeArray(point, versions.back(), target);
    program.arrays.push_back(std::move(array));
  }
  for (const PointClass& point_class : points.classes) {
    KernelSpec spec{.name = point_class.name, .kind = "", .body = ""};
    switch (point_class.body) {
      case PointClass::Body::kCode:
        spec.kind = "code";
        spec.body = point_class.code.Encode();
        break;
      case PointClass::Body::kNative:
        spec.kind = "native";
        spec.body = point_class.native.Encode();
        break;
      case PointClass::Body::kInput:
        spec.kind = "input";
        spec.body = point_class.input.Encode();
        break;
    }
    program.classes.push_back(
        {.name = point_class.name,
         .domain = needed_only ? *point_class.needed : point_class.domain,
         .creates = point_class.creates,
         .uses = point_class.uses,
         .kernel = static_cast<int32_t>(program.kernels.size()),
         .priority = PriorityOf(points, point_class, versions)});
    program.kernels.push_back(std::move(spec));
    if (program.repeat) {
      program.repeat->class_time.push_back(point_class.time);
    }
  }
  for (const PointReduction& reduction : points.reductions) {
    AddPointReduction(reduction, points,
                      needed_only ? *reduction.needed : reduction.domain,
                      program);
    // All classes of the reduction's tree have its indices first, and so its
    // time.
    if (program.repeat) {
      program.repeat->class_time.resize(program.classes.size(), reduction.time);
    }
  }
  for (const PointResult& result : points.results) {
    program.views.push_back(ViewOfPoints(
        points, result, static_cast<int32_t>(program.results.size())));
    program.results.push_back(
        {.array = result.array, .domain = result.domain, .map = result.map});
    if (program.repeat) program.repeat->result_time.push_back(result.time);
  }
  return program;
}

// The program to be run: without tasks that no result needs, if those are known
// exactly.
Program LowerNeeded(const PointProgram& points, const TargetSize& target) {
  const auto is_known = [](const auto& c) { return c.needed.has_value(); };
  const bool are_known =
      !points.every_task_needed &&
      std::all_of(points.classes.begin(), points.classes.end(), is_known) &&
      std::all_of(points.reductions.begin(), points.reductions.end(), is_known);
  return Lower(points, target, are_known);
}

}  // namespace

ResultView ViewOfPoints(const PointProgram& points, const PointResult& result,
                        int32_t result_set) {
  ResultView view{.array = points.arrays[result.array].name,
                  .result_set = result_set,
                  .lower = {result.box.lower.begin(), result.box.lower.end()},
                  .upper = {result.box.upper.begin(), result.box.upper.end()},
                  .step = result.step,
                  .tile_index = {},
                  .origin = {},
                  .extent = {}};
  for (int d = 0; d < result.box.size(); ++d) {
    const bool varies = result.varies[d];
    view.tile_index.push_back(varies ? d : -1);
    view.origin.push_back(0);
    view.extent.push_back(1);
  }
  return view;
}

absl::StatusOr<Program> LowerPoints(const PointProgram& points,
                                    const TargetSize& target) {
  Program program = LowerNeeded(WithStaticValues(points), target);
  if (program.repeat) DeferTasks(program);
  const absl::Status status = program.Validate();
  if (!status.ok()) return status;
  return program;
}

}  // namespace dogged::dsl
