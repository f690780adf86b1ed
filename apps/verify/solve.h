// Check of a solution: programs that solve A * X = B, or minimise what is left
// of it, by the factors of a matrix that is an input.
#ifndef DOGGED_APPS_VERIFY_SOLVE_H_
#define DOGGED_APPS_VERIFY_SOLVE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "runtime/base/value.h"
#include "runtime/graph/job.h"

namespace dogged {

struct SolveVerdict {
  // Type of X, which decides eps.
  ElementType type = ElementType::kDouble;
  // A has more rows than columns, or was factorised so: least squares.
  bool is_least_squares = false;
  // ||A X - B||_F / (n ||A||_F ||X||_F eps), n being the longer side of A; of
  // least squares ||A'(A X - B)||_F / (n ||A||_F (||A||_F ||X||_F + ||B||_F)
  // eps). Sound solutions stay below 1. NaN if one of them holds one.
  double error = 0;
  // ||A X - B||_F / (||A||_F ||X||_F) of least squares: that which is left.
  double left = 0;
  // As Verdict::unread.
  std::string unread;
};

// Judges the first result of `job`, whose elements are `solution()`, n x m, by
// the arrays that were given for A and B. The kernels say what is judged,
// whatever the arrays are called: solve_upper or solve_lower_t makes X, with a
// factor of potrf (which does not read A above its diagonal), getrf or geqrt.
//
// Errors: kFailedPrecondition for another program; kInvalidArgument if A or B
// was not given as an array, or X is not all of the solution.
absl::StatusOr<SolveVerdict> VerifySolve(
    const Job& job, absl::FunctionRef<absl::StatusOr<Value>()> solution);

// The condition, as by EstimateCondition(), of the matrix that `job` solves
// with. Errors: kFailedPrecondition for another program; kInvalidArgument if
// the matrix was not given as an array, square but for least squares.
absl::StatusOr<double> ConditionOfSolve(const Job& job);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_SOLVE_H_
