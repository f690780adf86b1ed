// The C text of one point of a code block, for whatever loops around it. The
// one place that knows how operations look in C.
#ifndef DOGGED_DSL_KERNELS_C_POINT_H_
#define DOGGED_DSL_KERNELS_C_POINT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "dsl/ir/kernel_ir.h"

namespace dogged::dsl {

// CPlaces: the C expressions of the point's indices and operands.
struct CPlaces {
  std::function<std::string(int64_t index)> index;
  std::function<std::string(size_t load)> load;
  std::function<std::string(size_t store)> store;
};

absl::string_view CName(IrType type);

// Statements that compute `block` at one point, each on a line of its own.
std::string CPoint(const CodeBlock& block, const CPlaces& places, int indent);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_C_POINT_H_
