#include "dsl/text/comparison.h"

namespace dogged::dsl {

std::optional<Comparison> ComparisonOf(ast::Op op) {
  switch (op) {
    case ast::Op::kLess:
      return Comparison::kLess;
    case ast::Op::kLessEqual:
      return Comparison::kLessEqual;
    case ast::Op::kGreater:
      return Comparison::kGreater;
    case ast::Op::kGreaterEqual:
      return Comparison::kGreaterEqual;
    case ast::Op::kEqual:
      return Comparison::kEqual;
    case ast::Op::kNotEqual:
      return Comparison::kNotEqual;
    case ast::Op::kNegate:
    case ast::Op::kNot:
    case ast::Op::kAdd:
    case ast::Op::kSubtract:
    case ast::Op::kMultiply:
    case ast::Op::kDivide:
    case ast::Op::kModulo:
    case ast::Op::kAnd:
    case ast::Op::kOr:
      return std::nullopt;
  }
  return std::nullopt;
}

Comparison Opposite(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess:
      return Comparison::kGreaterEqual;
    case Comparison::kLessEqual:
      return Comparison::kGreater;
    case Comparison::kGreater:
      return Comparison::kLessEqual;
    case Comparison::kGreaterEqual:
      return Comparison::kLess;
    case Comparison::kEqual:
      return Comparison::kNotEqual;
    case Comparison::kNotEqual:
      return Comparison::kEqual;
  }
  return comparison;
}

}  // namespace dogged::dsl
