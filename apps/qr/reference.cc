#include "apps/reference.h"

#include <cmath>

namespace dogged::apps {

std::vector<double> Qr(int64_t n, std::vector<double> a) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t k = 0; k + 1 < size; ++k) {
    double square = 0;
    for (std::size_t i = k; i < size; ++i) {
      square += a[i * size + k] * a[i * size + k];
    }
    std::vector<double> v(size, 0);
    for (std::size_t i = k; i < size; ++i) v[i] = a[i * size + k];
    v[k] += std::copysign(std::sqrt(square), v[k]);
    double length = 0;
    for (const double x : v) length += x * x;
    for (std::size_t j = k; j < size; ++j) {
      double product = 0;
      for (std::size_t i = k; i < size; ++i) product += v[i] * a[i * size + j];
      for (std::size_t i = k; i < size; ++i) {
        a[i * size + j] -= 2 * product / length * v[i];
      }
    }
  }
  return a;
}

}  // namespace dogged::apps
