// Taken parameters: those that a program takes from the shapes of the files of
// its inputs, as in  param N from A = 1000. Pure.
#ifndef DOGGED_DSL_LOWER_TAKEN_PARAMETERS_H_
#define DOGGED_DSL_LOWER_TAKEN_PARAMETERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"
#include "runtime/base/value.h"

namespace dogged::dsl {

struct TakenParameter {
  std::string name;
  int64_t value = 0;
  std::string array;  // the first one that it follows from
};

// The parameters of `tree` that name inputs of which a file is there, but for
// those that `options` give: the values with which the program wants files of
// these `shapes`, by array. An extent has to depend on such a parameter alone,
// and to grow by the same number with each step of it. Errors: values that
// differ, none that fits, or several. A program that has errors itself gets any
// values: its check tells.
std::vector<TakenParameter> TakeParameters(
    const ast::Program& tree, const CheckOptions& options,
    const std::map<std::string, Shape>& shapes, Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_TAKEN_PARAMETERS_H_
