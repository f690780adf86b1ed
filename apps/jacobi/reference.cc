#include "apps/reference.h"

#include <cmath>

namespace dogged::apps {

std::vector<double> Jacobi(int64_t n, double bound) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> now(size * size);
  for (int64_t sweep = 1; sweep <= 20000; ++sweep) {
    std::vector<double> next = now;
    for (std::size_t y = 1; y + 1 < size; ++y) next[y] = 1;
    double sum = 0;
    for (std::size_t i = size + 1; i + size + 1 < now.size(); ++i) {
      if (i % size == 0 || i % size == size - 1) continue;
      next[i] =
          0.25 * (now[i - size] + now[i + size] + now[i - 1] + now[i + 1]);
      sum += (next[i] - now[i]) * (next[i] - now[i]);
    }
    now.swap(next);
    if (sweep % 50 == 0 && std::sqrt(sum) < bound) break;
  }
  return now;
}

}  // namespace dogged::apps
