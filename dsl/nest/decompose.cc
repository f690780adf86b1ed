#include "dsl/nest/decompose.h"

#include <cstdlib>
#include <tuple>
#include <utility>

namespace dogged::dsl {
namespace {

constexpr int64_t kTermMax = 2;

// The indices in `rest`, and their factors.
std::pair<int64_t, int64_t> WeightOf(const AffineExpr& rest, int dims) {
  std::pair<int64_t, int64_t> out;
  for (int d = 0; d < dims; ++d) {
    const int64_t factor = rest.coefficients[d];
    out.first += factor != 0 ? 1 : 0;
    out.second += std::abs(factor);
  }
  return out;
}

}  // namespace

Decomposition Decompose(const AffineExpr& form,
                        const std::vector<AffineExpr>& theta, int dims) {
  Decomposition best{.factors = std::vector<int64_t>(theta.size(), 0),
                     .rest = form};
  auto best_weight = std::make_tuple(WeightOf(form, dims), int64_t{0});
  std::vector<int64_t> factors(theta.size(), -kTermMax);
  while (!theta.empty()) {
    AffineExpr rest = form;
    int64_t size = 0;
    for (size_t m = 0; m < theta.size(); ++m) {
      rest = rest - theta[m] * factors[m];
      size += std::abs(factors[m]);
    }
    const auto weight = std::make_tuple(WeightOf(rest, dims), size);
    if (weight < best_weight) {
      best = {.factors = factors, .rest = rest};
      best_weight = weight;
    }
    size_t m = 0;
    while (m < factors.size() && factors[m] == kTermMax) {
      factors[m++] = -kTermMax;
    }
    if (m == factors.size()) break;
    ++factors[m];
  }
  return best;
}

Decomposition DecomposeBy(const AffineExpr& form,
                          const std::vector<AffineExpr>& theta,
                          const std::vector<int64_t>& factors) {
  Decomposition out{.factors = factors, .rest = form};
  for (size_t m = 0; m < theta.size(); ++m) {
    out.rest = out.rest - theta[m] * factors[m];
  }
  return out;
}

int IndexCount(const AffineExpr& expr) {
  int out = 0;
  for (const int64_t factor : expr.coefficients) out += factor != 0 ? 1 : 0;
  return out;
}

}  // namespace dogged::dsl
