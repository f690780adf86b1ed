// The kernel of a tile class of a loop nest.
#ifndef DOGGED_DSL_KERNELS_NEST_KERNEL_H_
#define DOGGED_DSL_KERNELS_NEST_KERNEL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/nest_body.h"
#include "runtime/graph/input_array.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// A compiled function of EmitNestC().
using NestFunction = std::function<void(const int64_t*, void* const*)>;

// `function` computes a tile; without one it is walked. `inputs` are the arrays
// of the body's blocks of that kind, in their order: kInvalidArgument for one
// of another type or rank.
absl::StatusOr<std::unique_ptr<Kernel>> MakeNestKernel(
    NestBody body, NestFunction function, std::vector<InputArray> inputs);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_NEST_KERNEL_H_
