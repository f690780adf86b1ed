// The kernels of an LU factorisation with partial pivoting by block columns:
// tiles with all rows of the matrix.
//
//   getrf(in a, row, out f, out p)       factors a from `row` on: f is l below
//                                        its diagonal, u on and above; p is
//                                        int64, the row of the matrix that row
//                                        row + q was exchanged with, in turn
//   rows_from(in f, row, out d)          d is f from `row` on: readers on other
//                                        hosts need no more
//   eliminate(in c, in f, in p, row, out r)  r is c after the same step; f may
//                                        be d instead
//
// Partial pivoting: no element of l exceeds 1, and the error is LAPACK's.
// Errors: kInvalidArgument for arguments that do not fit, and from getrf for a
//         matrix that is singular ("pivot 17 ...", counted from 0 within the
//         tile; a column that is not finite is named the same way).
#ifndef DOGGED_APPS_TILES_LU_KERNELS_H_
#define DOGGED_APPS_TILES_LU_KERNELS_H_

#include "runtime/graph/kernel.h"

namespace dogged {

void AddLuKernels(KernelRegistry& registry);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_LU_KERNELS_H_
