#include "apps/reference.h"

namespace dogged::apps {

double Wavefront(int64_t n) {
  std::vector<double> row(static_cast<std::size_t>(n), 1.0);
  for (int64_t i = 0; i < n; ++i) {
    double left = 1;
    for (double& up : row) {
      up = 0.5 * (up + left) + 1;
      left = up;
    }
  }
  return row.back();
}

}  // namespace dogged::apps
