// Check: makes a CheckedProgram of the tree. Resolves names, gives types and
// numbers to parameters, turns indices into affine forms. Reports errors to
// Diagnostics; after an error the program returned is of no use. Pure.
#ifndef DOGGED_DSL_CHECK_CHECK_H_
#define DOGGED_DSL_CHECK_CHECK_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/checked.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// -D NAME=VALUE, as typed; a later one overrules an earlier.
using ParameterValues = std::vector<std::pair<std::string, std::string>>;

struct CheckOptions {
  ParameterValues parameters;
  // Arrays that --input gives a file for.
  std::set<std::string> input_files;
  // Takes every input as coming from a file: to check without any.
  bool assume_input_files = false;
  // Inputs that have no file and nothing behind 'else' are no error either.
  bool may_lack_inputs = false;
  // Where native kernels are looked up; null: names are not looked up.
  const KernelRegistry* kernels = nullptr;
};

CheckedProgram Check(const ast::Program& program, const CheckOptions& options,
                     Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_H_
