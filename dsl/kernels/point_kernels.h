// The kernels of tasks that are not coalesced: a code block on one point, a
// slice of an input, a native kernel with its arguments bound.
#ifndef DOGGED_DSL_KERNELS_POINT_KERNELS_H_
#define DOGGED_DSL_KERNELS_POINT_KERNELS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/ir/kernel_ir.h"
#include "dsl/ir/point_bodies.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// `function` runs body.code; `inputs` are the arrays of body.reads.
// kInvalidArgument if a read does not fit its array.
absl::StatusOr<std::unique_ptr<Kernel>> MakeCodeKernel(
    CodeBody body, std::unique_ptr<BoxFunction> function,
    std::vector<InputArray> inputs = {});
// kInvalidArgument, naming type or shape, if `content` does not fit.
absl::StatusOr<std::unique_ptr<Kernel>> MakeInputKernel(InputBody body,
                                                        InputArray content);
// kInvalidArgument if `registry` has no such kernel of these formals.
absl::StatusOr<std::unique_ptr<Kernel>> MakeNativeKernel(
    NativeBody body, const KernelRegistry& registry);
// The scalar arguments of the task with that index, and its cost if there is
// one.
std::vector<double> ScalarsOf(const NativeBody& body, const IndexVector& index);
// Shapes of the values of a task with that index, by position.
std::vector<Shape> ShapesAt(const ShapeCode& code, const IndexVector& index);
// "(3)(4)"; "() (a single number)" for no dimension.
std::string ShapeText(const Shape& shape);
// Shape of a dense array that fits; blocks of as many dimensions as there are
// indices are put together.
Shape WantedShape(const InputBody& body);
// `native` has the formals of `body`.
std::unique_ptr<Kernel> MakeNativeKernel(NativeBody body, NativeKernel native);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_POINT_KERNELS_H_
