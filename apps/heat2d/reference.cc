#include "apps/reference.h"

#include <cmath>

namespace dogged::apps {

std::vector<double> Heat2d(int64_t n, int64_t t) {
  const auto size = static_cast<std::size_t>(n);
  const auto real_n = static_cast<double>(n);
  std::vector<double> now(size * size);
  for (std::size_t x = 1; x + 1 < size; ++x) {
    for (std::size_t y = 1; y + 1 < size; ++y) {
      now[x * size + y] = std::sin(3.0 * static_cast<double>(x) / real_n) *
                          std::cos(5.0 * static_cast<double>(y) / real_n);
    }
  }
  for (int64_t step = 0; step < t; ++step) {
    std::vector<double> next(size * size, 0.0);
    for (std::size_t i = size + 1; i + size + 1 < now.size(); ++i) {
      if (i % size == 0 || i % size == size - 1) continue;
      next[i] = now[i] + 0.2 * (now[i - size] + now[i + size] + now[i - 1] +
                                now[i + 1] - 4 * now[i]);
    }
    now.swap(next);
  }
  return now;
}

}  // namespace dogged::apps
