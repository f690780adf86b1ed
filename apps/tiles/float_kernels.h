// Tile kernels over blocks of float. Each is the kernel over doubles, on tiles
// that are widened, and its results are rounded: products and sums have no
// error beside that one (ADR-48). The numeric class is the same, for widening
// is exact, and rounding that of IEEE 754. Thread-safe, deterministic.
#ifndef DOGGED_APPS_TILES_FLOAT_KERNELS_H_
#define DOGGED_APPS_TILES_FLOAT_KERNELS_H_

#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"

namespace dogged {

// The elements of `tile`, of floats, as doubles.
Value Widened(const Value& tile);

// The variant of `kernel` by FloatVariantOf() its name. Values that are no
// doubles stay what they are.
// Errors: as `kernel`; kInvalidArgument for a result that is larger than the
//         largest float, with its element, and for a pivot that is zero as a
//         float.
NativeKernel OverFloats(NativeKernel kernel);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_FLOAT_KERNELS_H_
