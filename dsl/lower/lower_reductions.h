// Reductions as task trees: leaves read points or whole tiles, inner nodes join
// a few partial results each, a root makes the number. The tree's task classes
// have affine maps like any others. The tree's shape depends on tiles; the bits
// don't (see exact_sum.h and ADR-25).
#ifndef DOGGED_DSL_LOWER_LOWER_REDUCTIONS_H_
#define DOGGED_DSL_LOWER_LOWER_REDUCTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// Adds the tree for `reduction`, for the points of `outer` (its domain, or
// part of it). Arrays of `points` stand at the same positions in `program`.
void AddPointReduction(const PointReduction& reduction,
                       const PointProgram& points, const Domain& outer,
                       Program& program);

// Leaves of a reduction over what lies in blocks. Their indices are those of
// the reduction's domain, and then as many as `extents` has, from 0 on.
struct ChunkLeaves {
  std::vector<int64_t> extents;
  std::vector<int64_t> affinity;  // of their labels along these
  std::vector<Use> uses;
  KernelSpec kernel;
};
// Adds the tree over `leaves` for all of a reduction's domain.
void AddChunkReduction(const PointReduction& reduction,
                       const PointProgram& points, ChunkLeaves leaves,
                       Program& program);

// The condition under which the point of which all indices are `values` is one
// of `domain`, but for what holds of all points in its hull; `cut` is the index
// of which `values` may go beyond the hull, if any.
Guard Membership(const Domain& domain, int cut,
                 const std::vector<AffineExpr>& values);

// The tiles that a coalesced program must compute for `reduction`: in a loop
// only at some time steps, if it is done for every round. Errors:
// kUnimplemented, with the reason as a clause, if it is not of this form: all
// indices of space under `over`, in a box, and time under `for`, under `over`,
// or a number.
absl::StatusOr<PointResult> TilesFor(const PointReduction& reduction,
                                     const std::optional<Repeat>& repeat);

// Adds the tree over `tiles`, a result set of what TilesFor() gave, which
// `view` describes. `created` is the position of the array it creates.
// kUnimplemented as TilesFor(); `program` is of no use then.
absl::Status AddTileReduction(const PointReduction& reduction,
                              const PointProgram& points,
                              const ResultView& view, const ResultSet& tiles,
                              int32_t created, Program& program);

// The same where `wanted`, which TilesFor() gave, has some time steps only.
void AddRoundReduction(const PointReduction& reduction,
                       const PointProgram& points, const PointResult& wanted,
                       const ResultSet& tiles, int32_t created,
                       Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_LOWER_REDUCTIONS_H_
