// Kinds of reductions, in one definition for the tree, the lowering and the
// kernels.
#ifndef DOGGED_DSL_TEXT_REDUCE_KIND_H_
#define DOGGED_DSL_TEXT_REDUCE_KIND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace dogged::dsl {

enum class ReduceKind : uint8_t {
  kSum = 0,
  kMin = 1,
  kMax = 2,
  kNorm2 = 3,    // the root of the sum of squares
  kNormMax = 4,  // the largest absolute value
};

// "sum", "min", ..., by kind.
inline std::vector<std::string> ReduceNames() {
  return {"sum", "min", "max", "norm2", "normmax"};
}
inline std::string ReduceName(ReduceKind kind) {
  return ReduceNames()[static_cast<size_t>(kind)];
}
inline std::optional<ReduceKind> FindReduceKind(absl::string_view name) {
  const std::vector<std::string> names = ReduceNames();
  for (size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<ReduceKind>(i);
  }
  return std::nullopt;
}

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_REDUCE_KIND_H_
