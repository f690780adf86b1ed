// The things that decide the bits of a program's kernels, found from these.
#ifndef DOGGED_DSL_KERNELS_NUMERIC_NEEDS_H_
#define DOGGED_DSL_KERNELS_NUMERIC_NEEDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/numeric_class.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// The numeric class that a job of `program` needs. Arithmetic, comparisons and
// roots give the same bits on all processors, so a code block needs more than
// `parts.all_jobs` only if it calls functions that are rounded otherwise
// elsewhere. Errors: kInvalidArgument for kernels that can't be decoded.
absl::StatusOr<std::string> NumericClassOf(const Program& program,
                                           const KernelRegistry& registry,
                                           const NumericParts& parts);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_NUMERIC_NEEDS_H_
