// Verdict: result of a check of a factorisation. Sound factors stay below 1.
#ifndef DOGGED_APPS_VERIFY_VERDICT_H_
#define DOGGED_APPS_VERIFY_VERDICT_H_

#include <limits>
#include <string>

#include "runtime/base/value.h"

namespace dogged {

// The eps of a verdict on factors of that type: float or double.
inline double EpsilonOf(ElementType type) {
  return type == ElementType::kFloat ? std::numeric_limits<float>::epsilon()
                                     : std::numeric_limits<double>::epsilon();
}

struct Verdict {
  // Type of the factors, which decides eps.
  ElementType type = ElementType::kDouble;
  // ||A - product of the factors||_F / (n ||A||_F eps), n being the longer side
  // of A; 0 if both are; NaN if A or a factor holds one.
  double residual = 0;
  // ||A x - b|| / (n ||A||_F ||x|| eps) for the x that the factors give for a
  // b that is A times known numbers.
  double solve_error = 0;
  // The part of the input that the program did not read, so that it is not
  // judged, and should not be believed; empty mostly.
  std::string unread;
  // Why there is no solve, and solve_error has no meaning; empty if there is.
  std::string unsolved;
};

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_VERDICT_H_
