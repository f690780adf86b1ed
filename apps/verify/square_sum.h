// SquareSum: a sum of squares that neither overflows nor underflows where its
// root does not. A NaN makes it one.
//
// Source: the scaled sum of squares of LAPACK's DLASSQ, here with powers of
// two, which round nothing.
#ifndef DOGGED_APPS_VERIFY_SQUARE_SUM_H_
#define DOGGED_APPS_VERIFY_SQUARE_SUM_H_

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"

namespace dogged {

class SquareSum {
 public:
  // Each square counts `weight` times.
  void Add(absl::Span<const double> elements, double weight = 1) {
    double largest = 0;
    for (const double x : elements) {
      if (!(std::fabs(x) <= largest)) largest = std::fabs(x);
    }
    SquareSum more;
    more.exponent_ =
        largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
    more.exponent_ = std::clamp(more.exponent_, -kExponentMax, kExponentMax);
    const double factor = std::ldexp(1, -more.exponent_);
    for (const double x : elements) {
      more.sum_ += weight * (x * factor) * (x * factor);
    }
    Add(more);
  }
  void Add(const SquareSum& other) {
    if (other.sum_ == 0) return;
    if (sum_ == 0) {
      *this = other;
      return;
    }
    const int common = std::max(exponent_, other.exponent_);
    sum_ = std::ldexp(sum_, 2 * (exponent_ - common)) +
           std::ldexp(other.sum_, 2 * (other.exponent_ - common));
    exponent_ = common;
  }
  double Root() const { return std::ldexp(std::sqrt(sum_), exponent_); }

 private:
  static constexpr int kExponentMax = 1000;
  // Sum of squares so far, over 2 ^ (2 * exponent_).
  double sum_ = 0;
  int exponent_ = 0;
};

// The Euclidean norm of `x`.
inline double NormOf(absl::Span<const double> x) {
  SquareSum sum;
  sum.Add(x);
  return sum.Root();
}

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_SQUARE_SUM_H_
