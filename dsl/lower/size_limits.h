// Size limits of programs, held by an estimate from the description alone.
#ifndef DOGGED_DSL_LOWER_SIZE_LIMITS_H_
#define DOGGED_DSL_LOWER_SIZE_LIMITS_H_

#include "dsl/ir/point_program.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Points beyond which a program is refused: at 10^10 a second, 11 days.
inline constexpr double kPointsMax = 1e16;
// Bytes of results beyond which it is: no computer that we know holds them.
inline constexpr double kResultBytesMax = 1e12;

// Reports in `diagnostics` a size beyond these, with the estimate.
void CheckSize(const PointProgram& points, Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_SIZE_LIMITS_H_
