#include "apps/reference.h"

#include <utility>

namespace dogged::apps {

std::vector<double> Heat3d(int64_t n, int64_t t) {
  const auto plane = static_cast<std::size_t>(n * n);
  const auto row = static_cast<std::size_t>(n);
  std::vector<double> now(plane * row);
  std::vector<double> next(plane * row);
  const auto for_each = [&](auto visit) {
    for (int64_t x = 1; x + 1 < n; ++x) {
      for (int64_t y = 1; y + 1 < n; ++y) {
        for (int64_t z = 1; z + 1 < n; ++z) visit(x, y, z);
      }
    }
  };
  const auto at = [n](int64_t x, int64_t y, int64_t z) {
    return static_cast<std::size_t>((x * n + y) * n + z);
  };
  const auto real = [](int64_t i) { return static_cast<double>(i); };
  for_each([&](int64_t x, int64_t y, int64_t z) {
    now[at(x, y, z)] = 1.0 * real(x) * real(n - 1 - x) * real(y) *
                       real(n - 1 - y) * real(z) * real(n - 1 - z) /
                       (1.0 * real(n) * real(n) * real(n));
  });
  for (int64_t step = 0; step < t; ++step) {
    for_each([&](int64_t x, int64_t y, int64_t z) {
      const std::size_t i = at(x, y, z);
      next[i] = now[i] +
                0.125 * (now[i - plane] + now[i + plane] + now[i - row] +
                         now[i + row] + now[i - 1] + now[i + 1] - 6 * now[i]);
    });
    std::swap(now, next);
  }
  return now;
}

}  // namespace dogged::apps
