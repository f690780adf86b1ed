// From a checked result to one with numbers.
#ifndef DOGGED_DSL_LOWER_LOWER_RESULT_H_
#define DOGGED_DSL_LOWER_LOWER_RESULT_H_

#include <optional>

#include "dsl/check/checked.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// `result` with numbers. In a program that repeats, u(x)(T) is a result at
// every round at which the loop may end: its domain gets a last index for that.
// None if the round of a label can't be told.
std::optional<PointResult> ResultOf(const CheckedResult& result,
                                    const CheckedProgram& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_LOWER_RESULT_H_
