// The bodies of kernels of a tile program, encoded in KernelSpec::body. Plain
// data.
#ifndef DOGGED_DSL_IR_TILE_BODIES_H_
#define DOGGED_DSL_IR_TILE_BODIES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/ir/tile_plan.h"
#include "dsl/ir/tile_role.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// A kernel's body: which spec (of kind "tile-plan") holds the plan, and the
// role.
struct TileBody {
  int32_t plan = 0;
  TileRole role;

  std::string Encode() const;
  static absl::StatusOr<TileBody> Decode(absl::string_view body);
};

// Decodes a kernel of kind "tile-plan".
absl::StatusOr<TilePlan> DecodeTilePlan(const KernelSpec& spec);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_TILE_BODIES_H_
