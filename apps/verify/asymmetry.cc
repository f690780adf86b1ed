#include "apps/verify/asymmetry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/verify/verdict.h"

namespace dogged {
namespace {

double At(const Value& matrix, int64_t i, int64_t j) {
  const int64_t at = i * matrix.shape()[1] + j;
  return matrix.type() == ElementType::kFloat
             ? static_cast<double>(matrix.span<float>()[at])
             : matrix.span<double>()[at];
}

}  // namespace

std::string AsymmetryOf(absl::string_view name, const Value& a) {
  if (a.IsNone() || a.shape().size() != 2 || a.shape()[0] != a.shape()[1] ||
      a.type() == ElementType::kInt64) {
    return "";
  }
  const int64_t n = a.shape()[0];
  bool has_upper = false;
  double largest = 0;
  double apart = 0;
  std::pair<int64_t, int64_t> where;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const double below = At(a, i, j);
      const double above = At(a, j, i);
      largest = std::max(largest, std::fabs(below));
      has_upper = has_upper || (i != j && above != 0);
      if (std::fabs(above - below) <= apart) continue;
      apart = std::fabs(above - below);
      where = {i, j};
    }
  }
  const double rounding =
      static_cast<double>(n) * EpsilonOf(a.type()) * largest;
  if (!has_upper || apart <= rounding) return "";
  const auto [i, j] = where;
  return absl::StrCat(name, " above its diagonal, where ", name, "(", j, ")(",
                      i, ") = ", At(a, j, i), " and ", name, "(", i, ")(", j,
                      ") = ", At(a, i, j));
}

}  // namespace dogged
