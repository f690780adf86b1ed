#include "dsl/nest/align_arrays.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/ir/substitute.h"
#include "dsl/nest/decompose.h"
#include "dsl/nest/integer_rows.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {
namespace {

// The indices of a statement as forms of the element that it makes, less
// constants; none if the element is not just those, in some order.
std::optional<std::vector<AffineExpr>> IndicesOf(const NestPoint& point,
                                                 const AffineMap& map) {
  if (std::ssize(map) != point.dims) return std::nullopt;
  std::vector<AffineExpr> out(map.size());
  for (size_t d = 0; d < map.size(); ++d) {
    const int last = map[d].LastIndex();
    if (last < 0 || !out[last].IsConstant() ||
        map[d] != AffineExpr::Index(last, map[d].constant)) {
      return std::nullopt;
    }
    out[last] = AffineExpr::Index(static_cast<int>(d));
  }
  return out;
}

// Boxes of new indices have so many places for each element, at most:
// hyperplanes of red and black points that take turns have two.
constexpr int64_t kPlacesMax = 2;

// `planes`, forms of an element, completed by indices of the element to as many
// forms as it has indices, such that these tell the element, and leave the
// fewest places between elements. None if there is no such choice.
std::optional<std::vector<Row>> Completed(const std::vector<Row>& planes,
                                          size_t rank) {
  std::vector<bool> is_kept(rank, false);
  std::fill(is_kept.begin(),
            is_kept.end() - static_cast<ptrdiff_t>(planes.size()), true);
  std::optional<std::vector<Row>> best;
  int64_t places = kPlacesMax + 1;
  do {
    std::vector<Row> out;
    size_t next = 0;
    for (size_t d = 0; d < rank; ++d) {
      if (is_kept[d]) {
        out.emplace_back(rank, 0);
        out.back()[d] = 1;
      } else {
        out.push_back(planes[next++]);
      }
    }
    const int64_t own = std::abs(Determinant(out));
    if (own == 0 || own >= places) continue;
    places = own;
    best = std::move(out);
  } while (std::prev_permutation(is_kept.begin(), is_kept.end()));
  return best;
}

// The new indices of the elements that `create` of the statement makes; none if
// the old ones are as good.
std::optional<AffineMap> AlignedIndices(const NestPoint& point,
                                        const NestTouch& create) {
  const auto indices = IndicesOf(point, create.map);
  if (!indices || point.theta.size() > indices->size()) return std::nullopt;
  const size_t rank = indices->size();
  std::vector<Row> planes;
  bool is_skewed = false;
  for (const AffineExpr& theta : point.theta) {
    const AffineExpr plane = Substitute(theta, *indices);
    is_skewed |= IndexCount(plane) != 1;
    planes.push_back(RowOf(plane, rank));
  }
  if (!is_skewed) return std::nullopt;
  const auto rows = Completed(planes, rank);
  if (!rows) return std::nullopt;
  AffineMap out;
  for (const Row& row : *rows) out.push_back(ExprOf(row));
  return out;
}

void Align(const AffineMap& indices, int32_t array, Nest& nest) {
  std::vector<std::string> forms;
  for (const AffineExpr& expr : indices) forms.push_back(IslText(expr, "x"));
  const std::string name = absl::StrCat("A", array);
  const isl::map to(
      nest.context,
      absl::StrCat("{ ", IslTuple(name, static_cast<int>(indices.size()), "x"),
                   " -> ", name, "[", absl::StrJoin(forms, ", "), "] }"));
  for (NestPoint& point : nest.points) {
    for (auto* touches : {&point.creates, &point.uses}) {
      for (NestTouch& touch : *touches) {
        if (touch.array != array) continue;
        touch.map = Substitute(indices, {touch.map.begin(), touch.map.end()});
        touch.relation = touch.relation.apply_range(to);
      }
    }
  }
}

}  // namespace

void AlignArrays(Nest& nest) {
  for (int32_t array = 0; array < nest.array_count; ++array) {
    std::optional<AffineMap> indices;
    for (const NestPoint& point : nest.points) {
      for (const NestTouch& create : point.creates) {
        if (create.array != array || indices) continue;
        indices = AlignedIndices(point, create);
      }
    }
    if (indices) Align(*indices, array, nest);
  }
}

}  // namespace dogged::dsl
