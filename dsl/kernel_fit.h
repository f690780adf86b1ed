// Whether a task class of a job can be run by the kernel that it names. A job
// may come from anybody, and kernels take the numbers of their uses and creates
// for granted.
#ifndef DOGGED_DSL_KERNEL_FIT_H_
#define DOGGED_DSL_KERNEL_FIT_H_

#include "absl/status/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// `program` is valid but for what its kernels are. What values have in them is
// for kernels to check. Errors: kInvalidArgument.
absl::Status CheckKernelFits(const Program& program, const TaskClass& c);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNEL_FIT_H_
