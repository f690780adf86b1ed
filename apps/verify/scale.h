// Scale: a power of two that takes the numbers of a matrix to where products of
// them neither overflow nor get lost. It rounds only numbers that are nothing
// beside the largest of them.
#ifndef DOGGED_APPS_VERIFY_SCALE_H_
#define DOGGED_APPS_VERIFY_SCALE_H_

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"

namespace dogged {

class Scale {
 public:
  Scale() = default;  // 1
  // For numbers of which that is the largest magnitude; 1 where products of
  // them are safe anyway, and where it is no number.
  static Scale For(double largest) {
    if (!(largest > 0) || std::isinf(largest)) return {};
    const int exponent = std::ilogb(largest) / 2 * 2;
    const bool is_safe = std::abs(exponent) <= kSafeExponent;
    return is_safe ? Scale() : Scale(-exponent);
  }
  // For the factor of which a square is scaled by this.
  Scale Root() const { return Scale(exponent_ / 2); }

  bool IsOne() const { return exponent_ == 0; }
  double operator()(double x) const { return x * first_ * second_; }
  void Apply(absl::Span<double> elements) const {
    if (IsOne()) return;
    for (double& x : elements) x = (*this)(x);
  }

 private:
  static constexpr int kSafeExponent = 256;
  // In two steps, for there may be no such double.
  explicit Scale(int exponent)
      : exponent_(exponent),
        first_(std::ldexp(1, exponent / 2)),
        second_(std::ldexp(1, exponent - exponent / 2)) {}

  int exponent_ = 0;  // even
  double first_ = 1;
  double second_ = 1;
};

// The largest magnitude; NaNs are none.
inline double LargestOf(absl::Span<const double> elements) {
  double out = 0;
  for (const double x : elements) out = std::max(out, std::fabs(x));
  return out;
}

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_SCALE_H_
