#include "dsl/tiling/masked_reductions.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dsl/lower/lower_reductions.h"

namespace dogged::dsl {
namespace {

// Value of a reduction of no point, before its root.
int32_t Neutral(ReduceKind kind, ElementType element, CodeBuilder& builder) {
  const bool is_min = kind == ReduceKind::kMin;
  if (!is_min && kind != ReduceKind::kMax) {
    return builder.Convert(builder.Integer(0), IrTypeOf(element));
  }
  if (element == ElementType::kInt64) {
    return builder.Integer(is_min ? std::numeric_limits<int64_t>::max()
                                  : std::numeric_limits<int64_t>::min());
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return builder.Real(is_min ? infinity : -infinity, IrTypeOf(element));
}

// The condition under which a point of the box around `over` is one of it.
Guard IsIn(const Domain& over) {
  Guard out = over.guard;
  out.Require(over.BoundConstraints());
  return out;
}

CodeBody TakeOrLeave(const PointReduction& reduction, const Guard& is_in,
                     ElementType element) {
  CodeBody out;
  out.code.name = "within";
  out.code.comment = absl::StrCat("what counts in ", reduction.name);
  out.code.index_count = reduction.over.size();
  out.code.loads = {{.element = element, .step = Step::kNone}};
  CodeBuilder builder(out.code);
  std::vector<int32_t> indices;
  for (int d = 0; d < reduction.over.size(); ++d) {
    indices.push_back(builder.Index(d));
  }
  IrNode load{.op = IrOp::kLoad, .type = IrTypeOf(element)};
  load.a = builder.Holds(is_in, indices);
  load.b = Neutral(reduction.kind, element, builder);
  out.code.stores = {
      {.element = element, .step = Step::kNone, .node = builder.Add(load)}};
  return out;
}

}  // namespace

std::optional<PointClass> MaskPoints(PointReduction& reduction,
                                     PointProgram& points) {
  if (TilesFor(reduction, points.repeat).ok()) return std::nullopt;
  const Box hull = HullOf(reduction.over);
  if (hull.IsEmpty()) return std::nullopt;
  PointReduction boxed = reduction;
  std::vector<Domain::Range> ranges;
  for (int d = 0; d < hull.size(); ++d) {
    ranges.push_back({.name = reduction.over.dimensions[d].name,
                      .lower = hull.lower[d],
                      .upper = hull.upper[d]});
  }
  boxed.over = Domain::Box(ranges);
  boxed.over.guard = reduction.domain.guard;
  boxed.source = static_cast<int32_t>(points.arrays.size());
  const absl::StatusOr<PointResult> tiles = TilesFor(boxed, points.repeat);
  if (!tiles.ok()) return std::nullopt;
  PointArray array = points.arrays[reduction.source];
  array.name = absl::StrCat(array.name, "'within", boxed.source);
  array.box = tiles->box;
  const Guard is_in = IsIn(reduction.over);
  PointClass out{
      .name = reduction.name,
      .domain = boxed.over,
      .time = reduction.time,
      .needed = std::nullopt,
      .creates = {{.array = boxed.source, .map = reduction.source_map}},
      .uses = {{.array = reduction.source,
                .map = reduction.source_map,
                .guard = is_in}},
      .code = TakeOrLeave(reduction, is_in, array.element),
      .native = {},
      .input = {}};
  points.arrays.push_back(std::move(array));
  reduction = std::move(boxed);
  return out;
}

}  // namespace dogged::dsl
