#include "apps/reference.h"

namespace dogged::apps {

std::vector<int64_t> Life(int64_t n, int64_t t) {
  const auto size = static_cast<std::size_t>(n * n);
  std::vector<int64_t> now(size);
  const auto at = [&](int64_t x, int64_t y) -> int64_t {
    if (x < 0 || x >= n || y < 0 || y >= n) return 0;
    return now[static_cast<std::size_t>(x * n + y)];
  };
  for (int64_t x = 0; x < n; ++x) {
    for (int64_t y = 0; y < n; ++y) {
      now[static_cast<std::size_t>(x * n + y)] =
          ((x * x + 3 * x * y + 7 * y + x) % 11) % 3 == 0 ? 1 : 0;
    }
  }
  for (int64_t step = 0; step < t; ++step) {
    std::vector<int64_t> next(size);
    for (int64_t x = 0; x < n; ++x) {
      for (int64_t y = 0; y < n; ++y) {
        int64_t neighbours = -at(x, y);
        for (int64_t i = -1; i <= 1; ++i) {
          for (int64_t j = -1; j <= 1; ++j) neighbours += at(x + i, y + j);
        }
        const bool lives =
            neighbours == 3 || (at(x, y) == 1 && neighbours == 2);
        next[static_cast<std::size_t>(x * n + y)] = lives ? 1 : 0;
      }
    }
    now.swap(next);
  }
  return now;
}

}  // namespace dogged::apps
