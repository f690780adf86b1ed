// Boxes of the job's inputs that a tile task reads, and their bytes. Internal
// to tile_kernel.
#ifndef DOGGED_DSL_KERNELS_TILE_INPUTS_H_
#define DOGGED_DSL_KERNELS_TILE_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/kernels/tile_kernel.h"
#include "dsl/kernels/tile_program.h"
#include "dsl/kernels/tile_sweep.h"
#include "dsl/kernels/tile_window.h"

namespace dogged::dsl {

// Some task of that role reads inputs.
bool ReadsInputs(const TileProgram& program, const TileRole& role);

// By input of the plan, the least box around all that a task reads that
// computes time steps `first` to `last`, if it is not a static one; maybe
// empty. The fields of `sweep` have their windows, maybe without memory.
std::vector<Box> InputBoxes(const TileProgram& program, const TileRole& role,
                            const TileSweep& sweep, int64_t first,
                            int64_t last);

// Bytes of the boxes of inputs that are not whole in memory already.
int64_t InputBytes(const TileProgram& program, const std::vector<Box>& boxes);

// As elements of the dense array; within it, if its plan is none of somebody's
// making.
DenseBox InArray(const TileInput& input, const Box& box);

// A window of each input: on the array if it is whole in memory, else on a copy
// of its box, in the value returned. Errors: as InputArray::Read();
// kInvalidArgument for a box that is not in its array.
absl::StatusOr<Value> PlaceInputs(const TileProgram& program,
                                  const std::vector<Box>& boxes,
                                  std::vector<Window>& windows);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_TILE_INPUTS_H_
