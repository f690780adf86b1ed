#include "apps/reference.h"

#include <cmath>

namespace dogged::apps {

std::vector<double> Advection1d(int64_t n, int64_t t) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> now(size);
  for (int64_t x = 0; x < n; ++x) {
    const auto distance = static_cast<double>(x - n / 4);
    now[static_cast<std::size_t>(x)] = std::exp(-0.001 * distance * distance);
  }
  for (int64_t step = 0; step < t; ++step) {
    std::vector<double> next(size);
    for (std::size_t x = 0; x < size; ++x) {
      next[x] = now[x] - 0.5 * (now[x] - now[(x + size - 1) % size]);
    }
    now.swap(next);
  }
  return now;
}

}  // namespace dogged::apps
