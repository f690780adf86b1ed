#include "dsl/nest/element_plane.h"

#include <isl/mat.h>
#include <isl/set.h>

#include <cstdint>

#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// Steps of isl for a plane: without it, all is as large as its box.
constexpr uint64_t kStepsMax = 50'000;

isl::basic_set PlainHull(const isl::set& set) {
  return isl::manage(isl_set_affine_hull(set.copy()));
}

}  // namespace

std::optional<isl::set> PlaneOf(const isl::set& elements) {
  const OperationBudget budget(elements.ctx(), kStepsMax);
  try {
    const isl::basic_set hull = PlainHull(elements);
    const bool is_simple =
        isl_basic_set_dim(hull.get(), isl_dim_div) == 0 &&
        isl_basic_set_is_universe(hull.get()) == isl_bool_false;
    if (!is_simple) return std::nullopt;
    return isl::set(hull);
  } catch (const isl::exception&) {
    return std::nullopt;
  }
}

std::optional<isl::set> PlaneAround(const std::optional<isl::set>& a,
                                    const std::optional<isl::set>& b) {
  if (!a || !b) return std::nullopt;
  return PlaneOf(a->unite(*b));
}

std::vector<bool> FlatDimensions(const std::optional<isl::set>& plane,
                                 size_t rank) {
  std::vector<bool> out(rank, false);
  if (!plane) return out;
  // Equations in echelon form: the last index of each is in no other.
  isl_mat* equations =
      isl_basic_set_equalities_matrix(PlainHull(*plane).get(), isl_dim_set,
                                      isl_dim_param, isl_dim_div, isl_dim_cst);
  const isl_size count = isl_mat_rows(equations);
  for (int row = 0; row < count; ++row) {
    for (size_t d = rank; d-- > 0;) {
      const auto factor = TakeInteger(
          isl_mat_get_element_val(equations, row, static_cast<int>(d)));
      if (factor == 0) continue;
      out[d] = true;
      break;
    }
  }
  isl_mat_free(equations);
  return out;
}

}  // namespace dogged::dsl
