#include "apps/reference.h"

#include <cmath>

namespace dogged::apps {

std::vector<double> Maxwell2d(int64_t n, int64_t t) {
  const double c = 0.5;
  const auto extent = static_cast<std::size_t>(n);
  const auto at = [n](int64_t x, int64_t y) {
    return static_cast<std::size_t>(x * n + y);
  };
  const auto wide = [n](int64_t x, int64_t y) {
    return static_cast<std::size_t>(x * (n + 1) + y);
  };
  std::vector<double> hz(extent * extent);
  std::vector<double> ex(extent * (extent + 1));
  std::vector<double> ey((extent + 1) * extent);
  const auto speed = [&](int64_t x) { return x < n / 2 ? c : c / 2.25; };
  for (int64_t step = 1; step <= t; ++step) {
    for (int64_t x = 0; x < n; ++x) {
      for (int64_t y = 1; y < n; ++y) {
        double& e = ex[wide(x, y)];
        e = e + speed(x) * (hz[at(x, y)] - hz[at(x, y - 1)]);
      }
    }
    for (int64_t x = 1; x < n; ++x) {
      for (int64_t y = 0; y < n; ++y) {
        double& e = ey[at(x, y)];
        e = e - speed(x) * (hz[at(x, y)] - hz[at(x - 1, y)]);
      }
    }
    for (int64_t x = 0; x < n; ++x) {
      for (int64_t y = 0; y < n; ++y) {
        const bool is_source = x == n / 4 && y == n / 2;
        const double source =
            is_source ? std::sin(0.1 * static_cast<double>(step)) : 0.0;
        double& h = hz[at(x, y)];
        h = h +
            c * (ex[wide(x, y + 1)] - ex[wide(x, y)] -
                 (ey[at(x + 1, y)] - ey[at(x, y)])) +
            source;
      }
    }
  }
  return hz;
}

}  // namespace dogged::apps
