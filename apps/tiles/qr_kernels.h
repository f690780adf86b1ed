// The kernels of a QR factorisation by block columns: tiles with all rows of
// the matrix. Householder reflectors in the compact WY form.
//
//   geqrt(in a, row, out v, out t)       factors a from `row` on: v is r on and
//                                        above its diagonal, reflectors below;
//                                        t joins them: q = i - v * t * v'
//   reflect(in c, in v, in t, row, out r)    r = q' * c from `row` on
//
// Errors: kInvalidArgument for arguments that do not fit, and from geqrt for a
//         column that is not finite ("column 17 ...", counted within the tile).
#ifndef DOGGED_APPS_TILES_QR_KERNELS_H_
#define DOGGED_APPS_TILES_QR_KERNELS_H_

#include "runtime/graph/kernel.h"

namespace dogged {

void AddQrKernels(KernelRegistry& registry);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_QR_KERNELS_H_
