#include "dsl/lower/code_lowering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::NameKind;

int32_t LowerName(const Expr& expr, const CodeScope& scope,
                  CodeBuilder& builder) {
  const int64_t i = expr.index;
  switch (expr.name_kind) {
    case NameKind::kParameter: {
      const CheckedParameter& parameter = scope.program->parameters[i];
      if (parameter.element == ElementType::kInt64) {
        return builder.Integer(parameter.integer);
      }
      return builder.Real(parameter.real, IrTypeOf(parameter.element));
    }
    case NameKind::kDimension:
      return scope.dimensions[i];
    case NameKind::kUse:
      return scope.uses[i];
    case NameKind::kCreate:
      return scope.creates[i];
    case NameKind::kLocal:
      return scope.locals[i];
    case NameKind::kArray:  // of indices alone, which are in tables
    case NameKind::kNone:
      break;
  }
  DOGGED_CHECK(false) << "unresolved name " << expr.text;
  return -1;
}

int32_t LowerBinary(const Expr& expr, const CodeScope& scope,
                    CodeBuilder& builder) {
  const int32_t a = LowerExpr(expr.args[0], scope, builder);
  const int32_t b = LowerExpr(expr.args[1], scope, builder);
  switch (expr.op) {
    case ast::Op::kAdd:
      return builder.Binary(IrOp::kAdd, a, b);
    case ast::Op::kSubtract:
      return builder.Binary(IrOp::kSubtract, a, b);
    case ast::Op::kMultiply:
      return builder.Binary(IrOp::kMultiply, a, b);
    case ast::Op::kDivide:
      return builder.Binary(IrOp::kDivide, a, b);
    case ast::Op::kModulo:
      return builder.Binary(IrOp::kModulo, a, b);
    case ast::Op::kLess:
      return builder.Binary(IrOp::kLess, a, b);
    case ast::Op::kLessEqual:
      return builder.Binary(IrOp::kLessEqual, a, b);
    case ast::Op::kGreater:
      return builder.Binary(IrOp::kLess, b, a);
    case ast::Op::kGreaterEqual:
      return builder.Binary(IrOp::kLessEqual, b, a);
    case ast::Op::kEqual:
      return builder.Binary(IrOp::kEqual, a, b);
    case ast::Op::kNotEqual:
      return builder.Binary(IrOp::kNotEqual, a, b);
    case ast::Op::kAnd:
      return builder.Binary(IrOp::kAnd, a, b);
    case ast::Op::kOr:
      return builder.Binary(IrOp::kOr, a, b);
    case ast::Op::kNegate:
    case ast::Op::kNot:
      break;
  }
  DOGGED_CHECK(false) << "not a binary operation";
  return -1;
}

int32_t LowerFunction(const Expr& expr, const CodeScope& scope,
                      CodeBuilder& builder) {
  const int32_t a = LowerExpr(expr.args[0], scope, builder);
  if (expr.text == "abs") return builder.Unary(IrOp::kAbs, a);
  const int32_t b =
      expr.args.size() > 1 ? LowerExpr(expr.args[1], scope, builder) : -1;
  if (expr.text == "min") return builder.Binary(IrOp::kMin, a, b);
  if (expr.text == "max") return builder.Binary(IrOp::kMax, a, b);
  const int function = FindMathFunction(expr.text);
  DOGGED_CHECK(function >= 0) << "function " << expr.text;
  return builder.Add({.op = IrOp::kMath,
                      .type = IrTypeOf(expr.type),
                      .a = a,
                      .b = b,
                      .integer = function});
}

}  // namespace

IrType IrTypeOf(Type type) {
  switch (type) {
    case Type::kBool:
      return IrType::kBool;
    case Type::kInt64:
      return IrType::kInt64;
    case Type::kFloat:
      return IrType::kFloat;
    case Type::kDouble:
    case Type::kNone:
      break;
  }
  return IrType::kDouble;
}

int32_t LowerExpr(const Expr& expr, const CodeScope& scope,
                  CodeBuilder& builder) {
  switch (expr.kind) {
    case Expr::Kind::kInteger:
      return builder.Convert(builder.Integer(expr.integer),
                             IrTypeOf(expr.type));
    case Expr::Kind::kReal:
      return builder.Convert(builder.Real(expr.real), IrTypeOf(expr.type));
    case Expr::Kind::kName:
      return LowerName(expr, scope, builder);
    case Expr::Kind::kUnary: {
      const int32_t a = LowerExpr(expr.args[0], scope, builder);
      return builder.Unary(
          expr.op == ast::Op::kNot ? IrOp::kNot : IrOp::kNegate, a);
    }
    case Expr::Kind::kBinary:
      return LowerBinary(expr, scope, builder);
    case Expr::Kind::kConditional: {
      const int32_t a = LowerExpr(expr.args[0], scope, builder);
      const int32_t b = LowerExpr(expr.args[1], scope, builder);
      const int32_t c = LowerExpr(expr.args[2], scope, builder);
      return builder.Add({.op = IrOp::kSelect,
                          .type = builder.node(b).type,
                          .a = a,
                          .b = b,
                          .c = c});
    }
    case Expr::Kind::kFunction:
      return LowerFunction(expr, scope, builder);
    case Expr::Kind::kConvert:
      return builder.Convert(LowerExpr(expr.args[0], scope, builder),
                             IrTypeOf(expr.type));
  }
  return -1;
}

CodeBlock LowerCode(const CheckedTask& task, const CheckedProgram& program,
                    bool has_elements) {
  CodeBlock block;
  block.name = task.name;
  const auto dims = static_cast<int32_t>(task.domain.dimensions.size());
  block.index_count = std::max(1, dims + (has_elements ? 1 : 0));
  std::vector<std::string> created;
  for (const CheckedCreate& create : task.creates) {
    created.push_back(program.arrays[create.ref.array].name);
  }
  block.comment = absl::StrCat(task.name, ": ", created.front());
  CodeBuilder builder(block);
  CodeScope scope{.program = &program,
                  .dimensions = {},
                  .uses = {},
                  .creates = std::vector<int32_t>(task.creates.size(), -1),
                  .locals = {}};
  for (int32_t d = 0; d < dims; ++d) {
    scope.dimensions.push_back(builder.Index(d));
  }
  // Every use is loaded only where its guard holds, whatever the code does.
  for (const CheckedUse& use : task.uses) {
    const CheckedArray& array = program.arrays[use.ref.array];
    const bool is_block = !array.block.empty();
    block.loads.push_back({.element = array.element,
                           .step = is_block ? Step::kUnit : Step::kNone});
    IrNode load{.op = IrOp::kLoad,
                .type = IrTypeOf(array.element),
                .integer = std::ssize(block.loads) - 1};
    const Guard guard = Instantiate(use.guard, program);
    if (!guard.IsAlways()) {
      load.a = builder.Holds(guard, scope.dimensions);
      const int32_t otherwise = use.else_value.has_value()
                                    ? LowerExpr(*use.else_value, scope, builder)
                                    : builder.Integer(0);
      load.b = builder.Convert(otherwise, load.type);
    }
    scope.uses.push_back(builder.Add(load));
  }
  for (const CheckedStatement& statement : task.code) {
    const int32_t value = LowerExpr(statement.value, scope, builder);
    scope.locals.push_back(value);
    if (statement.target == NameKind::kCreate) {
      scope.creates[statement.index] = value;
    }
  }
  for (size_t c = 0; c < task.creates.size(); ++c) {
    const CheckedArray& array = program.arrays[task.creates[c].ref.array];
    DOGGED_CHECK(scope.creates[c] >= 0) << task.creates[c].name;
    block.stores.push_back(
        {.element = array.element,
         .step = array.block.empty() ? Step::kNone : Step::kUnit,
         .node = builder.Convert(scope.creates[c], IrTypeOf(array.element))});
  }
  return block;
}

}  // namespace dogged::dsl
