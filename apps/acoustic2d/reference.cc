#include "apps/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dogged::apps {
namespace {

constexpr int64_t kSponge = 40;

double Wavelet(int64_t t) {
  const double freq = 0.03;
  const double a =
      3.141592653589793 * freq * (static_cast<double>(t) - 1.0 / freq);
  return (1 - 2 * a * a) * std::exp(-a * a);
}

double Sponge(int64_t i, int64_t n) {
  const auto depth = static_cast<double>(
      std::max<int64_t>(0, std::max(kSponge - i, i - (n - 1 - kSponge))));
  return std::exp(-0.00005 * depth * depth);
}

}  // namespace

Sound Acoustic2d(int64_t n, int64_t t) {
  std::vector<double> damp;
  for (int64_t i = 0; i < n; ++i) damp.push_back(Sponge(i, n));
  // A row and a column of zeros around it.
  const int64_t row = n + 2;
  const auto at = [row](int64_t x, int64_t y) {
    return static_cast<std::size_t>((x + 1) * row + y + 1);
  };
  std::vector<double> before(static_cast<std::size_t>(row * row));
  std::vector<double> now = before;
  Sound out;
  for (int64_t step = 0; step <= t; ++step) {
    for (int64_t x = 0; x < n && step >= 2; ++x) {
      for (int64_t y = 0; y < n; ++y) {
        const double around = now[at(x - 1, y)] + now[at(x + 1, y)] +
                              now[at(x, y - 1)] + now[at(x, y + 1)];
        const double s = x == n / 2 && y == n / 3 ? Wavelet(step - 1) : 0.0;
        double& p = before[at(x, y)];
        p = damp[static_cast<std::size_t>(x)] *
                damp[static_cast<std::size_t>(y)] *
                (2 * now[at(x, y)] - p + 0.25 * (around - 4 * now[at(x, y)])) +
            s;
      }
    }
    if (step >= 2) std::swap(before, now);
    out.heard.push_back(now[at(n / 2, 2 * n / 3)]);
  }
  for (int64_t x = 0; x < n; ++x) {
    for (int64_t y = 0; y < n; ++y) out.pressure.push_back(now[at(x, y)]);
  }
  return out;
}

}  // namespace dogged::apps
