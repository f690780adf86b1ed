// ProgramSplit: a program in two. The tiled part is the stencil, which can run
// in tiles. The pointwise part stands behind it and runs point by point: all
// that depends on reductions, the condition of a loop, and arrays of fewer
// indices that are made of the stencil's values. Bridges lead from the first
// part to the second: reductions, and point reads, which are single points of
// space that tasks of the pointwise part read, as reductions of one point.
// Numbers of the pointwise part that depend on nothing with time are given to
// the stencil. Internal to lower_program.
#ifndef DOGGED_DSL_TILING_PROGRAM_SPLIT_H_
#define DOGGED_DSL_TILING_PROGRAM_SPLIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// Arrays stand at the same positions in all of it.
struct ProgramSplit {
  PointProgram tiled;
  PointProgram pointwise;
  std::vector<PointReduction> bridges;  // of the tiled part
  // By result set of each part: its position in the whole.
  std::vector<size_t> tiled_results;
  std::vector<size_t> pointwise_results;
  // Coefficients that the stencil reads, and that are wanted or read behind it,
  // stand in both. Whether some of their tasks behind may be of no use.
  bool has_spare = false;
};

// kUnimplemented, with the reason as a clause, if a task behind reads more of
// the stencil than tiles give.
absl::StatusOr<ProgramSplit> Split(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_PROGRAM_SPLIT_H_
