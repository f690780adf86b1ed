// The value of a checked expression whose names are parameters and dimensions.
#ifndef DOGGED_DSL_CHECK_EVALUATE_H_
#define DOGGED_DSL_CHECK_EVALUATE_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "dsl/check/checked.h"

namespace dogged::dsl {

// The value of an int64 or bool expression over parameters and dimensions
// (block extents, scalars of a call, cost): `dims` are the values of the
// dimensions. None on overflow or division by zero.
std::optional<int64_t> EvaluateInteger(const ast::Expr& expr,
                                       absl::Span<const int64_t> dims,
                                       const CheckedProgram& program);
// The same, with the elements of arrays: `read` gives them by the array's
// position and the indices, none where there is no element.
using ReadElement = absl::FunctionRef<std::optional<int64_t>(
    int32_t array, absl::Span<const int64_t> index)>;
std::optional<int64_t> EvaluateInteger(const ast::Expr& expr,
                                       absl::Span<const int64_t> dims,
                                       const CheckedProgram& program,
                                       ReadElement read);
// The same for an expression of any type. Integers become double.
std::optional<double> EvaluateReal(const ast::Expr& expr,
                                   absl::Span<const int64_t> dims,
                                   const CheckedProgram& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_EVALUATE_H_
