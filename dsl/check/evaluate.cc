#include "dsl/check/evaluate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dsl/text/comparison.h"
#include "dsl/text/functions.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::NameKind;
using ast::Op;

struct KnownNames {
  absl::Span<const int64_t> dims;
  const CheckedProgram& program;
  const ReadElement* read = nullptr;
};

std::optional<int64_t> Integer(const Expr& e, const KnownNames& known);
std::optional<double> Real(const Expr& e, const KnownNames& known);

std::optional<int64_t> IntegerName(const Expr& e, const KnownNames& known) {
  const auto i = static_cast<size_t>(e.index);
  if (e.name_kind == NameKind::kParameter &&
      i < known.program.parameters.size()) {
    return known.program.parameters[i].integer;
  }
  if (e.name_kind == NameKind::kDimension && i < known.dims.size()) {
    return known.dims[i];
  }
  return std::nullopt;
}

std::optional<int64_t> Arithmetic(Op op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case Op::kAdd:
      if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
      return out;
    case Op::kSubtract:
      if (__builtin_sub_overflow(a, b, &out)) return std::nullopt;
      return out;
    case Op::kMultiply:
      if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
      return out;
    case Op::kDivide:
    case Op::kModulo: {
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      const int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)));
      return op == Op::kDivide ? quotient : a - quotient * b;
    }
    case Op::kNegate:
    case Op::kNot:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kAnd:
    case Op::kOr:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> IntegerBinary(const Expr& e, const KnownNames& known) {
  const auto comparison = ComparisonOf(e.op);
  if (comparison && e.args[0].type != Type::kInt64 &&
      e.args[0].type != Type::kBool) {
    const auto a = Real(e.args[0], known);
    const auto b = Real(e.args[1], known);
    if (!a || !b) return std::nullopt;
    return Compare(*comparison, *a, *b);
  }
  const auto a = Integer(e.args[0], known);
  if (!a) return std::nullopt;
  if (e.op == Op::kAnd && *a == 0) return 0;
  if (e.op == Op::kOr && *a != 0) return 1;
  const auto b = Integer(e.args[1], known);
  if (!b) return std::nullopt;
  if (e.op == Op::kAnd || e.op == Op::kOr) return *b != 0;
  if (comparison) return Compare(*comparison, *a, *b);
  return Arithmetic(e.op, *a, *b);
}

std::optional<int64_t> Element(const Expr& e, const KnownNames& known) {
  std::vector<int64_t> index;
  for (const Expr& arg : e.args) {
    const auto value = Integer(arg, known);
    if (!value) return std::nullopt;
    index.push_back(*value);
  }
  if (known.read == nullptr) return std::nullopt;
  return (*known.read)(e.index, index);
}

std::optional<int64_t> IntegerFunction(const Expr& e, const KnownNames& known) {
  if (e.name_kind == NameKind::kArray) return Element(e, known);
  const auto a = Integer(e.args[0], known);
  if (!a || *a == INT64_MIN) return std::nullopt;
  if (e.text == "abs") return *a < 0 ? -*a : *a;
  const auto b = Integer(e.args[1], known);
  if (!b) return std::nullopt;
  if (e.text == "min") return std::min(*a, *b);
  if (e.text == "max") return std::max(*a, *b);
  return std::nullopt;
}

// An int64 or bool expression.
std::optional<int64_t> Integer(const Expr& e, const KnownNames& known) {
  switch (e.kind) {
    case Expr::Kind::kInteger:
      return e.integer;
    case Expr::Kind::kReal:
      return std::nullopt;
    case Expr::Kind::kName:
      return IntegerName(e, known);
    case Expr::Kind::kUnary: {
      const auto a = Integer(e.args[0], known);
      if (!a || *a == INT64_MIN) return std::nullopt;
      return e.op == Op::kNot ? *a == 0 : -*a;
    }
    case Expr::Kind::kBinary:
      return IntegerBinary(e, known);
    case Expr::Kind::kConditional: {
      const auto condition = Integer(e.args[0], known);
      if (!condition) return std::nullopt;
      return Integer(e.args[*condition != 0 ? 1 : 2], known);
    }
    case Expr::Kind::kFunction:
      return IntegerFunction(e, known);
    case Expr::Kind::kConvert: {
      if (e.args[0].type == Type::kInt64) return Integer(e.args[0], known);
      const auto a = Real(e.args[0], known);
      if (!a || !(std::abs(*a) < 9.2e18)) return std::nullopt;
      return static_cast<int64_t>(*a);
    }
  }
  return std::nullopt;
}

std::optional<double> RealFunction(const Expr& e, const KnownNames& known) {
  const auto a = Real(e.args[0], known);
  if (!a) return std::nullopt;
  double b_value = 0;
  if (e.args.size() > 1) {
    const auto b = Real(e.args[1], known);
    if (!b) return std::nullopt;
    b_value = *b;
  }
  using Unary = double (*)(double);
  struct Row {
    absl::string_view name;
    Unary call;
  };
  static constexpr Row kUnary[] = {
      {"abs", std::fabs},    {"acos", std::acos}, {"asin", std::asin},
      {"atan", std::atan},   {"cbrt", std::cbrt}, {"ceil", std::ceil},
      {"cos", std::cos},     {"cosh", std::cosh}, {"exp", std::exp},
      {"floor", std::floor}, {"log", std::log},   {"log10", std::log10},
      {"log2", std::log2},   {"sin", std::sin},   {"sinh", std::sinh},
      {"sqrt", std::sqrt},   {"tan", std::tan},   {"tanh", std::tanh},
  };
  for (const Row& row : kUnary) {
    if (row.name == e.text) return row.call(*a);
  }
  if (e.text == "min") return MinOf(*a, b_value);
  if (e.text == "max") return MaxOf(*a, b_value);
  if (e.text == "atan2") return std::atan2(*a, b_value);
  if (e.text == "fmod") return std::fmod(*a, b_value);
  if (e.text == "hypot") return std::hypot(*a, b_value);
  if (e.text == "pow") return std::pow(*a, b_value);
  return std::nullopt;
}

std::optional<double> RealBinary(const Expr& e, const KnownNames& known) {
  const auto a = Real(e.args[0], known);
  const auto b = Real(e.args[1], known);
  if (!a || !b) return std::nullopt;
  if (e.op == Op::kAdd) return *a + *b;
  if (e.op == Op::kSubtract) return *a - *b;
  if (e.op == Op::kMultiply) return *a * *b;
  if (e.op == Op::kDivide) return *a / *b;
  return std::nullopt;
}

std::optional<double> Unrounded(const Expr& e, const KnownNames& known) {
  if (e.type == Type::kInt64 || e.type == Type::kBool) {
    const auto value = Integer(e, known);
    if (!value) return std::nullopt;
    return static_cast<double>(*value);
  }
  switch (e.kind) {
    case Expr::Kind::kInteger:
      return static_cast<double>(e.integer);
    case Expr::Kind::kReal:
      return e.real;
    case Expr::Kind::kName:
      if (e.name_kind != NameKind::kParameter) return std::nullopt;
      return known.program.parameters[e.index].real;
    case Expr::Kind::kUnary: {
      const auto a = Real(e.args[0], known);
      if (!a) return std::nullopt;
      return -*a;
    }
    case Expr::Kind::kBinary:
      return RealBinary(e, known);
    case Expr::Kind::kConditional: {
      const auto condition = Integer(e.args[0], known);
      if (!condition) return std::nullopt;
      return Real(e.args[*condition != 0 ? 1 : 2], known);
    }
    case Expr::Kind::kFunction:
      return RealFunction(e, known);
    case Expr::Kind::kConvert:
      return Real(e.args[0], known);
  }
  return std::nullopt;
}

// A float expression is rounded to float at each step, as in code.
std::optional<double> Real(const Expr& e, const KnownNames& known) {
  const std::optional<double> value = Unrounded(e, known);
  if (!value || e.type != Type::kFloat) return value;
  return static_cast<double>(static_cast<float>(*value));
}

}  // namespace

std::optional<int64_t> EvaluateInteger(const Expr& expr,
                                       absl::Span<const int64_t> dims,
                                       const CheckedProgram& program) {
  return Integer(expr, {dims, program});
}

std::optional<int64_t> EvaluateInteger(const ast::Expr& expr,
                                       absl::Span<const int64_t> dims,
                                       const CheckedProgram& program,
                                       ReadElement read) {
  return Integer(expr, {dims, program, &read});
}

std::optional<double> EvaluateReal(const Expr& expr,
                                   absl::Span<const int64_t> dims,
                                   const CheckedProgram& program) {
  return Real(expr, {dims, program});
}

}  // namespace dogged::dsl
