// Repeat: a loop that ends by a value, in terms of the rest of the front end:
// its parameter, with the end of the range, and a task that binds until(T) to 1
// where the condition holds, else to 0. ADR-26.
#ifndef DOGGED_DSL_CHECK_REPEAT_H_
#define DOGGED_DSL_CHECK_REPEAT_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/check/checked.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// The array of the condition's labels; a program can't write this name.
inline constexpr absl::string_view kConditionArray = "until";
// The task that creates them, as messages call it.
inline constexpr absl::string_view kConditionTask = "'until'";
// The index of the rounds in tasks and arrays made here.
inline constexpr absl::string_view kRoundIndex = "T'";

// `program` with its `repeat` written out. If the parameter `is_given` a value
// from outside, there is no loop, and the condition is left out.
ast::Program WriteOutRepeat(ast::Program program, bool is_given,
                            Diagnostics& diagnostics);

// Calls the index of the rounds as the program calls its parameter, for
// messages.
void NameRounds(CheckedProgram& program);

// The arrays of a program, by all that gives them values.
std::set<std::string> ArrayNames(const ast::Program& program);

// The arrays that the condition of a program names, which repeats.
std::vector<std::string> ArraysOfCondition(const ast::Program& program);

// The time of a point of `domain` in a program that repeats: the point exists
// if this is not beyond the loop's parameter. Taken from a single bound x <= T
// + rest; a number for points of every round. None if it is not so simple.
std::optional<AffineExpr> TimeOf(const CheckedDomain& domain,
                                 const CheckedProgram& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_REPEAT_H_
