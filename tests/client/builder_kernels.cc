#include "tests/client/builder_kernels.h"

#include <stdexcept>

namespace dogged {

void Mix(double factor, std::span<const double> a, std::span<int64_t> whole,
         int64_t offset, Block<const float> b, std::span<double> sum) {
  for (int64_t i = 0; i < b.rows(); ++i) {
    for (int64_t j = 0; j < b.columns(); ++j) {
      const auto at = static_cast<size_t>(i * b.columns() + j);
      whole[at] = static_cast<int64_t>(a[at]) + offset;
      sum[at] = factor * a[at] + b(i, j);
    }
  }
}

int GiveUp(std::span<const double> a, std::span<double> b) {
  b[0] = a[0];
  return 7;
}

void Throw(std::span<const double>, std::span<double>) {
  throw std::runtime_error("no");
}

DOGGED_KERNEL(Mix)
DOGGED_KERNEL(GiveUp)
DOGGED_KERNEL(Throw)

}  // namespace dogged
