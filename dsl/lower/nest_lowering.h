// The way to tiles of loop nests as the compiler sees it: a function that
// executables hand in, for it stands on isl.
#ifndef DOGGED_DSL_LOWER_NEST_LOWERING_H_
#define DOGGED_DSL_LOWER_NEST_LOWERING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

struct NestTarget {
  TargetSize size;
  // Widths of tiles, in turns, instead of chosen ones. With more than one,
  // planes have tiles, however small they are.
  std::vector<int64_t> widths;
  // Steps of linear programs that the search for schedules may take in vain,
  // all together: a second or two, where the numbers in them are as long as
  // they get. No clock, for a program is compiled alike everywhere.
  uint64_t vain_steps_max = 50'000;
};

// The program in tiles of its loop nests; `how` says in words which. Errors:
// kUnimplemented, with the reason as a clause.
using LowerNestFunction = absl::StatusOr<Program> (*)(
    const PointProgram& points, const NestTarget& target, std::string& how);

// Job::lowering of such a program begins with this.
inline constexpr char kLoopNest[] = "loop nest";

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_NEST_LOWERING_H_
