#include "apps/reference.h"

#include <cmath>

namespace dogged::apps {

std::vector<double> Cholesky(int64_t n, std::vector<double> a) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = j; i < size; ++i) {
      double sum = a[i * size + j];
      for (std::size_t k = 0; k < j; ++k) {
        sum -= a[i * size + k] * a[j * size + k];
      }
      a[i * size + j] = i == j ? std::sqrt(sum) : sum / a[j * size + j];
    }
    for (std::size_t i = 0; i < j; ++i) a[i * size + j] = 0;
  }
  return a;
}

}  // namespace dogged::apps
