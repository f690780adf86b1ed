#include "apps/reference.h"

#include <algorithm>

namespace dogged::apps {

std::vector<int64_t> SmithWaterman(int64_t n) {
  const auto width = static_cast<std::size_t>(n + 1);
  std::vector<int64_t> h(width * width);
  for (int64_t i = 1; i <= n; ++i) {
    for (int64_t j = 1; j <= n; ++j) {
      const int64_t x = (i * i + i / 3) % 4;
      const int64_t y = (3 * j + j * j / 5) % 4;
      const std::size_t at =
          static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j);
      const int64_t match = h[at - width - 1] + (x == y ? 2 : -1);
      const int64_t gap = std::max(h[at - width], h[at - 1]) - 1;
      h[at] = std::max({int64_t{0}, match, gap});
    }
  }
  return h;
}

}  // namespace dogged::apps
