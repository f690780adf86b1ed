// Verdict: result of a check of a factorisation. Sound factors stay below 1.
#ifndef DOGGED_APPS_VERIFY_VERDICT_H_
#define DOGGED_APPS_VERIFY_VERDICT_H_

#include <string>

namespace dogged {

struct Verdict {
  // ||A - product of the factors||_F / (n ||A||_F eps), n being the longer side
  // of A; 0 if both are; NaN if A or a factor holds one.
  double residual = 0;
  // ||A x - b|| / (n ||A||_F ||x|| eps) for the x that the factors give for a
  // b that is A times known numbers.
  double solve_error = 0;
  // Why there is no solve, and solve_error has no meaning; empty if there is.
  std::string unsolved;
};

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_VERDICT_H_
