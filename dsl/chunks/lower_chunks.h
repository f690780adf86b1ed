// Chunks: programs whose labels are read by tables, with a run of points along
// one index as a task, instead of each point.
#ifndef DOGGED_DSL_CHUNKS_LOWER_CHUNKS_H_
#define DOGGED_DSL_CHUNKS_LOWER_CHUNKS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// The program in chunks of at least `points_min` points, as many as make 8
// blocks of the longest array for each worker of `target`, 16 to 64. Says in
// `how` of how many.
//
// Errors: kUnimplemented if the program is not of the kind that this takes,
// with the reason: "it has reductions".
absl::StatusOr<Program> LowerChunks(const PointProgram& points,
                                    const TargetSize& target,
                                    int64_t points_min, std::string& how);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHUNKS_LOWER_CHUNKS_H_
