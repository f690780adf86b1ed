// Input sizes: parameters that would make a program want the input that it is
// given. Pure.
#ifndef DOGGED_DSL_LOWER_INPUT_SIZES_H_
#define DOGGED_DSL_LOWER_INPUT_SIZES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "dsl/check/check.h"
#include "dsl/text/ast.h"
#include "dsl/text/given_by.h"
#include "runtime/base/value.h"

namespace dogged::dsl {

// "; it does with  -D N=777", or as `by` has it, if with such numbers the
// program `tree`, which `options` check without errors, would take a file of
// this shape as input `array`; empty if none are found.
std::string HelpWithShape(const ast::Program& tree, CheckOptions options,
                          absl::string_view array, const Shape& shape,
                          GivenBy by);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_INPUT_SIZES_H_
