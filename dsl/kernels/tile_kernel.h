// The kernels of a tile program: tasks of a TilePlan, which call the functions
// that compute its pieces over boxes.
#ifndef DOGGED_DSL_KERNELS_TILE_KERNEL_H_
#define DOGGED_DSL_KERNELS_TILE_KERNEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/kernel_ir.h"
#include "dsl/ir/tile_plan.h"
#include "dsl/ir/tile_role.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// A plan that can be run, shared by its roles' kernels. Thread-safe.
class TileProgram;

// `functions` has one entry per piece, `inputs` one per input of the plan, of
// its type and shape (kInvalidArgument otherwise).
absl::StatusOr<std::shared_ptr<const TileProgram>> MakeTileProgram(
    TilePlan plan, std::vector<std::unique_ptr<BoxFunction>> functions,
    std::vector<InputArray> inputs);

std::unique_ptr<Kernel> MakeTileKernel(
    std::shared_ptr<const TileProgram> program, TileRole role);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_TILE_KERNEL_H_
