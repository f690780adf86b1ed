// Kernels that solve with factors: L of a Cholesky factorisation in tiles, and
// block columns of an LU or QR factorisation.
//
//   solve_lower(in b, in l, out y)       y is inverse(l) * b
//   solve_lower_t(in b, in l, out x)     x is inverse(l') * b
//   subtract(in c, in a, in b, out r)    r is c - a * b
//   subtract_t(in c, in a, in b, out r)  r is c - a' * b
//   solve_upper(in b, in f, row, out x)  a step of back substitution: rows of x
//                                        from `row` on, as many as f has
//                                        columns, are solved with f's upper
//                                        triangle there, and subtracted from
//                                        those above. x may have fewer rows
//                                        than b and f, which then are cut off.
//   exchange(in f, in p, row, out r)     r is f whose row row + q was exchanged
//                                        with row p(q), in turn
//
// Errors: kInvalidArgument for arguments that do not fit, and for a triangle
//         with a zero on its diagonal.
// Source: Golub & Van Loan, Matrix Computations, 3.1 (row-oriented forms).
#ifndef DOGGED_APPS_TILES_SOLVE_KERNELS_H_
#define DOGGED_APPS_TILES_SOLVE_KERNELS_H_

#include "runtime/graph/kernel.h"

namespace dogged {

void AddSolveKernels(KernelRegistry& registry);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_SOLVE_KERNELS_H_
