#include "apps/reference.h"

#include <cmath>
#include <utility>

namespace dogged::apps {

LuFactors Lu(int64_t n, std::vector<double> a) {
  const auto size = static_cast<std::size_t>(n);
  LuFactors out;
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < size; ++i) {
      if (std::abs(a[i * size + k]) > std::abs(a[pivot * size + k])) pivot = i;
    }
    out.exchanges.push_back(static_cast<int64_t>(pivot));
    for (std::size_t j = k; j < size; ++j) {
      std::swap(a[k * size + j], a[pivot * size + j]);
    }
    for (std::size_t i = k + 1; i < size; ++i) {
      const double factor = a[i * size + k] / a[k * size + k];
      for (std::size_t j = k; j < size; ++j) {
        a[i * size + j] -= factor * a[k * size + j];
      }
    }
  }
  out.u = std::move(a);
  return out;
}

}  // namespace dogged::apps
