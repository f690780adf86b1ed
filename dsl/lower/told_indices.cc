#include "dsl/lower/told_indices.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/ir/kernel_ir.h"

namespace dogged::dsl {
namespace {

// The one index of a result's loop that `expr` is, and a number.
std::optional<size_t> LoneIndex(const AffineExpr& expr, int rank) {
  const int last = expr.LastIndex();
  if (last < 0 || last >= rank) return std::nullopt;
  AffineExpr rest = expr;
  if (std::exchange(rest.coefficients[static_cast<size_t>(last)], 0) != 1 ||
      !rest.IsConstant()) {
    return std::nullopt;
  }
  return static_cast<size_t>(last);
}

// By index of the array whether others tell it; none if that is not so of any,
// or if some index of the loop is told by none.
std::optional<std::vector<bool>> ToldIndices(const PointResult& result) {
  const int rank = result.domain.size();
  std::vector<bool> is_known(static_cast<size_t>(rank), false);
  std::vector<bool> is_told;
  for (const AffineExpr& expr : result.map) {
    const std::optional<size_t> index = LoneIndex(expr, rank);
    const bool tells = index.has_value() && !is_known[*index];
    if (tells) is_known[*index] = true;
    is_told.push_back(!tells && !expr.IsConstant());
  }
  const auto all = [](const std::vector<bool>& of) {
    return std::all_of(of.begin(), of.end(), [](bool is) { return is; });
  };
  is_told.flip();
  if (all(is_told) || !all(is_known)) return std::nullopt;
  is_told.flip();
  return is_told;
}

bool MayMove(const PointProgram& points, const PointResult& result) {
  const PointArray& array = points.arrays[static_cast<size_t>(result.array)];
  const auto is_of_array = [&](const auto& one) {
    return one.array == result.array;
  };
  return array.block_rank == 0 && !array.is_scalar_input &&
         std::count_if(points.results.begin(), points.results.end(),
                       is_of_array) == 1 &&
         std::find(points.inputs.begin(), points.inputs.end(), array.name) ==
             points.inputs.end();
}

CodeBlock CopyCode(ElementType element, int index_count) {
  CodeBlock out;
  CodeBuilder builder(out);
  out.index_count = std::max(1, index_count);
  out.loads = {{.element = element}};
  out.stores = {
      {.element = element,
       .node = builder.Add(
           {.op = IrOp::kLoad, .type = IrTypeOf(element), .integer = 0})}};
  return out;
}

void Move(const std::vector<bool>& is_told, PointResult& result,
          PointProgram& points) {
  AffineMap map;
  for (size_t d = 0; d < is_told.size(); ++d) {
    if (!is_told[d]) map.push_back(result.map[d]);
  }
  const auto at = static_cast<int32_t>(points.arrays.size());
  PointResult moved = MakeResult(at, result.domain, map);
  moved.range = result.range;
  moved.file = result.file;
  PointArray& from = points.arrays[static_cast<size_t>(result.array)];
  PointArray own{.name = from.name,
                 .rank = static_cast<int32_t>(map.size()),
                 .element = from.element,
                 .box = moved.box};
  from.name = absl::StrCat(from.name, "'");
  PointClass copy{.name = absl::StrCat("result of ", own.name),
                  .domain = result.domain,
                  .needed = result.domain};
  copy.creates = {{.array = at, .map = std::move(map)}};
  copy.uses = {{.array = result.array, .map = result.map}};
  copy.code.code = CopyCode(own.element, result.domain.size());
  points.classes.push_back(std::move(copy));
  points.arrays.push_back(std::move(own));
  result = std::move(moved);
}

}  // namespace

PointProgram WithoutToldIndices(PointProgram points) {
  if (points.repeat.has_value()) return points;
  for (PointResult& result : points.results) {
    const std::optional<std::vector<bool>> is_told = ToldIndices(result);
    if (is_told.has_value() && MayMove(points, result)) {
      Move(*is_told, result, points);
    }
  }
  return points;
}

}  // namespace dogged::dsl
