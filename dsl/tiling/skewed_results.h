// Copies a view's values out of tiles of a skewed array: see SkewedBox.
#ifndef DOGGED_DSL_TILING_SKEWED_RESULTS_H_
#define DOGGED_DSL_TILING_SKEWED_RESULTS_H_

#include "runtime/base/value.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// The view of a skewed array as its labels hold it, by their own indices.
ResultView HeldView(const ResultView& view);

// True if `view` may want elements of a tile, as of CopySkewed().
bool HoldsSkewed(const ResultView& view, const IndexVector& first,
                 const IndexVector& extents);

// Copies the elements that `view` wants of a tile, which holds `extents`
// elements of the HeldView(), from its position `first` on. `dense` is all of
// `view`, C order.
void CopySkewed(const ResultView& view, const Value& tile,
                const IndexVector& first, const IndexVector& extents,
                Value& dense);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_SKEWED_RESULTS_H_
