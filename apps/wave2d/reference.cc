#include "apps/reference.h"

#include <utility>

namespace dogged::apps {

std::vector<double> Wave2d(int64_t n, int64_t t) {
  const auto row = static_cast<std::size_t>(n);
  const double k = 0.5 * 0.5;
  std::vector<double> before(row * row);
  const auto real = [](int64_t i) { return static_cast<double>(i); };
  for (int64_t x = 1; x + 1 < n; ++x) {
    for (int64_t y = 1; y + 1 < n; ++y) {
      before[static_cast<std::size_t>(x * n + y)] =
          1.0 * real(x) * real(n - 1 - x) * real(y) * real(n - 1 - y) /
          (1.0 * real(n) * real(n) * real(n) * real(n));
    }
  }
  std::vector<double> now = before;
  for (int64_t step = 2; step <= t; ++step) {
    for (int64_t x = 1; x + 1 < n; ++x) {
      for (int64_t y = 1; y + 1 < n; ++y) {
        const auto i = static_cast<std::size_t>(x * n + y);
        before[i] = 2 * now[i] - before[i] +
                    k * (now[i - row] + now[i + row] + now[i - 1] + now[i + 1] -
                         4 * now[i]);
      }
    }
    std::swap(before, now);
  }
  return now;
}

}  // namespace dogged::apps
