// From a job to the kernels that run its tasks.
#ifndef DOGGED_DSL_KERNELS_LOAD_KERNELS_H_
#define DOGGED_DSL_KERNELS_LOAD_KERNELS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/kernels/c_kernels.h"
#include "dsl/kernels/library_kernel.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// A line of Job::lowering: its kernels are never compiled.
inline constexpr absl::string_view kInterpreted = "kernels: interpreted";

// The C source of all code blocks of `program`; empty if there are none.
absl::StatusOr<std::string> CSourceOf(const Program& program);

// The kernels of a job, by position in its program. Compiles the job's C
// source through `compile`; without it, or if that can't be done here, kernels
// are interpreted. With `trouble` they are so whatever the compiler's failure,
// and it says why. kInvalidArgument if the job is malformed, names a kernel
// that `registry` lacks, or an input does not fit. Libraries that the job holds
// are loaded through `load`.
absl::StatusOr<KernelTable> LoadKernels(const Job& job,
                                        const KernelRegistry& registry,
                                        const CompileSource& compile,
                                        const LoadLibrary& load = nullptr,
                                        absl::Status* trouble = nullptr);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_LOAD_KERNELS_H_
