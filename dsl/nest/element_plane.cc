#include "dsl/nest/element_plane.h"

#include <isl/mat.h>
#include <isl/set.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// Steps of isl for a plane: without it, all is as large as its box.
constexpr uint64_t kStepsMax = 50'000;
// Products of factors up to here are exact.
constexpr int64_t kFactorMax = int64_t{1} << 30;

isl::basic_set PlainHull(const isl::set& set) {
  return isl::manage(isl_set_affine_hull(set.copy()));
}

// Factors of the indices, by equation; none of an equation with one too large.
std::vector<std::vector<int64_t>> EquationsOf(const isl::set& plane) {
  const isl::basic_set hull = PlainHull(plane);
  const isl_size rank = isl_basic_set_dim(hull.get(), isl_dim_set);
  isl_mat* matrix = isl_basic_set_equalities_matrix(
      hull.get(), isl_dim_set, isl_dim_param, isl_dim_div, isl_dim_cst);
  const isl_size count = isl_mat_rows(matrix);
  std::vector<std::vector<int64_t>> out;
  for (int row = 0; row < count; ++row) {
    std::vector<int64_t> factors;
    for (int d = 0; d < rank; ++d) {
      const std::optional<int64_t> factor =
          TakeInteger(isl_mat_get_element_val(matrix, row, d));
      if (factor && std::abs(*factor) <= kFactorMax) factors.push_back(*factor);
    }
    if (std::ssize(factors) == rank) out.push_back(std::move(factors));
  }
  isl_mat_free(matrix);
  return out;
}

// Takes index `d` out of `equations` by `told`, which has it. False if numbers
// become too large.
bool Eliminate(size_t d, const std::vector<int64_t>& told,
               std::vector<std::vector<int64_t>>& equations) {
  for (std::vector<int64_t>& row : equations) {
    const int64_t factor = row[d];
    if (factor == 0) continue;
    for (size_t e = 0; e < row.size(); ++e) {
      row[e] = row[e] * told[d] - told[e] * factor;
      if (std::abs(row[e]) > kFactorMax) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<isl::set> PlaneOf(const isl::set& elements) {
  const OperationBudget budget(elements.ctx(), kStepsMax);
  try {
    // Every second element of a plane lies in it, too.
    const isl::basic_set hull =
        isl::manage(isl_basic_set_remove_divs(PlainHull(elements).release()));
    if (isl_basic_set_is_universe(hull.get()) != isl_bool_false) {
      return std::nullopt;
    }
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
                                 absl::Span<const Span> spans) {
  std::vector<bool> out(spans.size(), false);
  if (!plane) return out;
  std::vector<std::vector<int64_t>> equations = EquationsOf(*plane);
  std::vector<size_t> order(spans.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::stable_sort(order.begin(), order.end(), [&spans](size_t a, size_t b) {
    return spans[a].Count() > spans[b].Count();
  });
  // Each index that is left out takes an equation, which tells it.
  for (const size_t d : order) {
    const auto teller = std::find_if(
        equations.begin(), equations.end(),
        [d](const std::vector<int64_t>& row) { return row[d] != 0; });
    if (teller == equations.end()) continue;
    const std::vector<int64_t> told = *teller;
    equations.erase(teller);
    if (!Eliminate(d, told, equations)) return out;
    out[d] = true;
  }
  return out;
}

}  // namespace dogged::dsl
