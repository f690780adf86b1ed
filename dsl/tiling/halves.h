// A program in two: the stencil, which can run in tiles, and what stands behind
// it, point by point: all that depends on reductions, the condition of a loop,
// and what is made of the stencil's values and has fewer indices. What comes
// between them are reductions, and taps: single points of space that tasks
// behind read, as reductions of one point. Of what stands behind and depends on
// nothing that has time, the stencil is given numbers. Internal to
// lower_program.
#ifndef DOGGED_DSL_TILING_HALVES_H_
#define DOGGED_DSL_TILING_HALVES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// Arrays stand at the same positions in all of it.
struct Halves {
  PointProgram head;
  PointProgram tail;
  std::vector<PointReduction> between;  // of what the head makes
  // By result set of each half: its position in the whole.
  std::vector<size_t> head_results;
  std::vector<size_t> tail_results;
  // Profiles that the stencil reads, and that are wanted or read behind it,
  // stand in both. Whether some of their tasks behind may be of no use.
  bool has_spare = false;
};

// kUnimplemented, with the reason as a clause, if a task behind reads more of
// the stencil than tiles give.
absl::StatusOr<Halves> Split(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_HALVES_H_
