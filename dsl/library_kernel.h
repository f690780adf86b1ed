// Kernels from a library of the user's own, by the C ABI of docs/LANGUAGE.md.
#ifndef DOGGED_DSL_LIBRARY_KERNEL_H_
#define DOGGED_DSL_LIBRARY_KERNEL_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/c_kernels.h"
#include "dsl/point_kernels.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// Loads a shared library, given what its file holds. Errors are for the user.
using LoadLibrary =
    std::function<absl::StatusOr<FindSymbol>(absl::string_view content)>;

// Function `body.kernel` of a loaded library. kInvalidArgument if it has none.
absl::StatusOr<NativeKernel> LibraryKernel(const NativeBody& body,
                                           const FindSymbol& symbols);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LIBRARY_KERNEL_H_
