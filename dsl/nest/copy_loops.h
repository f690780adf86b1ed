// Loops that run through the elements of a set by its own conditions, each a
// bound of the loop of its last index. isl's AST generator projects a set onto
// its outer indices to give each loop its least bounds, which takes it up to
// half a second for the elements that leave a skewed tile. A copy has a box
// around its elements at hand, so outer loops run through that, and rows
// without an element are empty. Internal to dsl/nest. Part of an isl adapter.
#ifndef DOGGED_DSL_NEST_COPY_LOOPS_H_
#define DOGGED_DSL_NEST_COPY_LOOPS_H_

#include <isl/cpp.h>

#include <cstdint>
#include <vector>

#include "dsl/ir/nest_body.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {

// Values of an index, both included, by the tile's indices.
struct LoopRange {
  AffineExpr first;
  AffineExpr last;
};

// Adds loops to the node `parent` that call `statement` at each point of
// `elements`, some twice where its pieces overlap. Parameters T0, T1, ... are
// the tile's indices; `box` is around the elements, a range an index. False,
// and nothing is added, if a division in a condition has no form, or a number
// is beyond an index's.
bool AddCopyLoops(const isl::set& elements, const std::vector<LoopRange>& box,
                  int32_t statement, int32_t parent, NestBody& body);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_COPY_LOOPS_H_
