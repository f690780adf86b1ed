// The code of a component's tiles.
#ifndef DOGGED_DSL_NEST_NEST_CODE_H_
#define DOGGED_DSL_NEST_NEST_CODE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/nest_body.h"
#include "dsl/nest/nest.h"

namespace dogged::dsl {

// A use of a tile class: a parcel of the tiles that `source` names.
struct NestUse {
  int32_t parcel = 0;
  AffineMap source;
  isl::set tiles;
};

// The uses of a component, in order; equal ones are one.
std::vector<NestUse> UsesOf(const Nest& nest, int32_t component);
// Positions of the parcels that a component creates, in order.
std::vector<int32_t> ParcelsOf(const Nest& nest, int32_t component);

// What a tile of `component` runs. `limits` are those of the created block of a
// result's copy, else empty. Errors: as AddLoops(); kUnimplemented if a tile
// would have more than kNestElementsMax values in all its blocks.
absl::StatusOr<NestBody> MakeNestBody(const Nest& nest, int32_t component,
                                      const std::vector<int64_t>& limits);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_NEST_CODE_H_
