// What arrays hold that come from files: into the job, once it fits.
#ifndef DOGGED_DSL_JOB_INPUTS_H_
#define DOGGED_DSL_JOB_INPUTS_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dsl/compile.h"
#include "dsl/ir/point_program.h"
#include "runtime/graph/job.h"

namespace dogged::dsl {

// Adds the inputs of `points` to `job`, by position. What may lack and does is
// noted in `facts`. Errors: kInvalidArgument for an array without a file, and
// for one whose file does not fit what the program declares, tiled or not; for
// one of another shape `help` says what would do, as HelpWithShape().
absl::Status AddInputs(
    const PointProgram& points, const CompileOptions& options,
    absl::FunctionRef<std::string(const std::string& array, const Shape&)> help,
    Job& job, ProgramFacts& facts);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_JOB_INPUTS_H_
