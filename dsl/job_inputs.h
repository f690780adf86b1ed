// Adds the arrays that come from files to the job, if they fit.
#ifndef DOGGED_DSL_JOB_INPUTS_H_
#define DOGGED_DSL_JOB_INPUTS_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dsl/compile.h"
#include "dsl/ir/point_program.h"
#include "runtime/graph/job.h"

namespace dogged::dsl {

// Adds the inputs of `points` to `job`, by position. An input that may lack its
// file and does is noted in `facts`. Errors: kInvalidArgument for an array
// without a file, and for a file that does not fit the declaration, tiled or
// not; for another shape `help` says which would do, as HelpWithShape().
absl::Status AddInputs(
    const PointProgram& points, const CompileOptions& options,
    absl::FunctionRef<std::string(const std::string& array, const Shape&)> help,
    Job& job, ProgramFacts& facts);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_JOB_INPUTS_H_
