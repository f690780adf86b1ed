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

// By index of the array whether others tell it; none if that is so of none, or
// if some index of the result's loop is told by none.
std::optional<std::vector<bool>> ToldIndices(const PointResult& result) {
  std::vector<bool> is_known(static_cast<size_t>(result.domain.size()), false);
  int known = 0;
  int told = 0;
  std::vector<bool> is_told;
  for (const AffineExpr& expr : result.map) {
    const std::optional<int> index = SingleIndex(expr);
    const bool tells = index && !is_known[*index];
    if (tells) is_known[*index] = true;
    is_told.push_back(!tells && !expr.IsConstant());
    known += tells ? 1 : 0;
    told += is_told.back() ? 1 : 0;
  }
  if (told == 0 || known < result.domain.size()) return std::nullopt;
  return is_told;
}

bool MayMove(const PointProgram& points, const PointResult& result) {
  const PointArray& array = points.arrays[result.array];
  const auto is_of_array = [&](const auto& one) {
    return one.array == result.array;
  };
  return array.block_rank == 0 && !array.is_scalar_input &&
         std::count_if(points.results.begin(), points.results.end(),
                       is_of_array) == 1 &&
         std::find(points.inputs.begin(), points.inputs.end(), array.name) ==
             points.inputs.end();
}

// Gives `result` an array of its own.
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
  PointArray& from = points.arrays[result.array];
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
