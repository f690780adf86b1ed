#include "apps/reference.h"

#include <algorithm>
#include <cstdlib>

namespace dogged::apps {

std::vector<double> GrayScott(int64_t n, int64_t t) {
  const auto size = static_cast<std::size_t>(n * n);
  const double feed = 0.035;
  const double kill = 0.060;
  // u, then v.
  std::vector<double> now(2 * size);
  for (int64_t x = 0; x < n; ++x) {
    for (int64_t y = 0; y < n; ++y) {
      const bool inside =
          std::abs(2 * x - n) < n / 8 && std::abs(2 * y - n) < n / 8;
      const auto i = static_cast<std::size_t>(x * n + y);
      now[i] = inside ? 0.5 : 1.0;
      now[size + i] = inside ? 0.25 : 0.0;
    }
  }
  for (int64_t step = 0; step < t; ++step) {
    std::vector<double> next(2 * size);
    for (int64_t x = 0; x < n; ++x) {
      for (int64_t y = 0; y < n; ++y) {
        const auto at = [&](int64_t i, int64_t j) {
          return static_cast<std::size_t>(std::clamp<int64_t>(i, 0, n - 1) * n +
                                          std::clamp<int64_t>(j, 0, n - 1));
        };
        const auto around = [&](std::size_t first) {
          return now[first + at(x - 1, y)] + now[first + at(x + 1, y)] +
                 now[first + at(x, y - 1)] + now[first + at(x, y + 1)] -
                 4 * now[first + at(x, y)];
        };
        const std::size_t i = at(x, y);
        const double u = now[i];
        const double v = now[size + i];
        const double r = u * v * v;
        next[i] = u + 0.16 * around(0) - r + feed * (1 - u);
        next[size + i] = v + 0.08 * around(size) + r - (feed + kill) * v;
      }
    }
    now.swap(next);
  }
  return now;
}

}  // namespace dogged::apps
