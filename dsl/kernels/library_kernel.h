// Kernels from a library of the user's own, by the C ABI of docs/LANGUAGE.md.
#ifndef DOGGED_DSL_KERNELS_LIBRARY_KERNEL_H_
#define DOGGED_DSL_KERNELS_LIBRARY_KERNEL_H_

#include <memory>

#include "dsl/kernels/point_kernels.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// Function `body.kernel` of `library`, which was loaded for it.
NativeKernel LibraryKernel(const NativeBody& body,
                           std::shared_ptr<KernelLibrary> library);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_LIBRARY_KERNEL_H_
