// Tiles for loops: a block of a tile program ends wherever a round may, so that
// no task reaches beyond the condition. ADR-26.
#ifndef DOGGED_DSL_TILING_TILE_ROUNDS_H_
#define DOGGED_DSL_TILING_TILE_ROUNDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_plan.h"

namespace dogged::dsl {

// Makes `plan` one of the loop of `points`, which has one. kUnimplemented, with
// the reason as a clause, if it may end too early, or if a result or reduction
// needs time steps that its round does not reach.
absl::Status FitRounds(const PointProgram& points, TilePlan& plan);

// The depths that blocks of a loop may have, up to `limit`; 1 at least.
// Ascending.
std::vector<int64_t> RoundTileDepths(const TilePlan& plan, int64_t limit);

// Where the start task of a loop's plan with this depth ends.
int64_t RoundBase(const TilePlan& plan, int64_t depth);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_TILE_ROUNDS_H_
