// Comparison: the operators that compare, apart from all others, so that a walk
// over them has six cases. Pure.
#ifndef DOGGED_DSL_TEXT_COMPARISON_H_
#define DOGGED_DSL_TEXT_COMPARISON_H_

#include <cstdint>
#include <optional>

#include "dsl/text/ast.h"

namespace dogged::dsl {

enum class Comparison : uint8_t {
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
};

// None if `op` does not compare.
std::optional<Comparison> ComparisonOf(ast::Op op);

// Holds of integers where `comparison` does not.
Comparison Opposite(Comparison comparison);

template <typename T>
bool Compare(Comparison comparison, T a, T b) {
  switch (comparison) {
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterEqual:
      return a >= b;
    case Comparison::kEqual:
      return a == b;
    case Comparison::kNotEqual:
      return a != b;
  }
  return false;
}

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_COMPARISON_H_
