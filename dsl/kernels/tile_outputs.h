// Inputs and outputs of a tile task, before it runs. Pure functions.
#ifndef DOGGED_DSL_KERNELS_TILE_OUTPUTS_H_
#define DOGGED_DSL_KERNELS_TILE_OUTPUTS_H_

#include <vector>

#include "dsl/kernels/tile_kernel.h"
#include "dsl/kernels/tile_program.h"
#include "runtime/base/value.h"

namespace dogged::dsl {

struct TileOutput {
  ElementType element = ElementType::kDouble;
  Shape shape;

  int64_t bytes() const { return ElementCount(shape) * ElementBytes(element); }
};

// Tile and block of a task of `role` with `index`.
struct TileAndBlock {
  IndexVector tile;
  int64_t block = 0;

  TileAndBlock(const TilePlan& plan, const TileRole& role,
               const IndexVector& index);
};

// Least sizes of the inputs of a task of `role`, in the order of its uses: a
// job may come from anybody, and its plan need not fit its tasks.
std::vector<int64_t> InputBytesOf(const TileProgram& program,
                                  const TileRole& role, const TileAndBlock& at);

// Outputs of a task of `role`, in the order of its creates, see TileRole. A
// carried part has its time steps, if there are several, before its dimensions.
std::vector<TileOutput> OutputsOf(const TileProgram& program,
                                  const TileRole& role, const TileAndBlock& at);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_TILE_OUTPUTS_H_
