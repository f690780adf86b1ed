#include "apps/reference.h"

namespace dogged::apps {

std::vector<double> Heat1d(int64_t n, int64_t t) {
  std::vector<double> now(static_cast<std::size_t>(n));
  for (int64_t x = 0; x < n; ++x) {
    now[static_cast<std::size_t>(x)] = static_cast<double>(x * (n - 1 - x));
  }
  std::vector<double> next = now;
  for (int64_t step = 0; step < t; ++step) {
    for (std::size_t x = 1; x + 1 < now.size(); ++x) {
      next[x] = now[x] + 0.0125 * (now[x - 1] + now[x + 1] - 2 * now[x]);
    }
    next.front() = next.back() = 0;
    now.swap(next);
  }
  return now;
}

}  // namespace dogged::apps
