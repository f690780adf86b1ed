// What a check of a factorisation found. Sound ones stay below 1.
#ifndef DOGGED_APPS_VERIFY_VERDICT_H_
#define DOGGED_APPS_VERIFY_VERDICT_H_

namespace dogged {

struct Verdict {
  // ||A - product of the factors||_F / (n ||A||_F eps), 0 if both are; NaN if A
  // or a factor holds one.
  double residual = 0;
  // ||A x - b|| / (n ||A||_F ||x|| eps) for the x that the factors give for a
  // b that is A times known numbers; NaN if they give none: A is singular.
  double solve_error = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_VERDICT_H_
