// Condition of a matrix: how much a solution may change, relatively, where the
// matrix changes by rounding. A small residual says nothing about that.
#ifndef DOGGED_APPS_VERIFY_CONDITION_H_
#define DOGGED_APPS_VERIFY_CONDITION_H_

#include "runtime/base/value.h"

namespace dogged {

// An estimate of ||A||_1 ||A^-1||_1 of the square matrix of doubles, from
// below and mostly within 3 of it. Infinite if A is singular, NaN if it holds
// something that is no number. Of a matrix with more rows than columns, n, that
// of R in A = QR: it has A's condition in the 2-norm, which is n times as large
// or as small at most.
//
// Cost: that of an LU or QR factorisation, and memory for another A.
// Source: Hager's method in the form of Higham (LAPACK's DLACN2).
double EstimateCondition(Value a);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_CONDITION_H_
