#include "dsl/ir/kernel_ir.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

int OperandCount(const IrNode& node) {
  switch (node.op) {
    case IrOp::kConstant:
    case IrOp::kIndex:
      return 0;
    case IrOp::kLoad:
      return node.a >= 0 ? 2 : 0;
    case IrOp::kConvert:
    case IrOp::kNegate:
    case IrOp::kNot:
    case IrOp::kAbs:
      return 1;
    case IrOp::kSelect:
      return 3;
    case IrOp::kMath:
      return MathFunctions()[node.integer].argument_count;
    case IrOp::kAdd:
    case IrOp::kSubtract:
    case IrOp::kMultiply:
    case IrOp::kDivide:
    case IrOp::kModulo:
    case IrOp::kLess:
    case IrOp::kLessEqual:
    case IrOp::kEqual:
    case IrOp::kNotEqual:
    case IrOp::kAnd:
    case IrOp::kOr:
    case IrOp::kMin:
    case IrOp::kMax:
      return 2;
  }
  return 0;
}

// The types of operands follow from that of the node, for all but these.
bool TypesFit(const CodeBlock& block, const IrNode& node) {
  const auto type_of = [&block](int32_t position) {
    return block.nodes[position].type;
  };
  const bool is_number = node.type != IrType::kBool;
  switch (node.op) {
    case IrOp::kConstant:
      return true;
    case IrOp::kIndex:
      return node.type == IrType::kInt64;
    case IrOp::kLoad:
      return node.a < 0 ||
             (type_of(node.a) == IrType::kBool && type_of(node.b) == node.type);
    case IrOp::kConvert:
      return is_number;
    case IrOp::kModulo:
      return node.type == IrType::kInt64 && type_of(node.a) == node.type &&
             type_of(node.b) == node.type;
    case IrOp::kNegate:
    case IrOp::kAbs:
      return is_number && type_of(node.a) == node.type;
    case IrOp::kNot:
      return !is_number && type_of(node.a) == IrType::kBool;
    case IrOp::kAnd:
    case IrOp::kOr:
      return !is_number && type_of(node.a) == IrType::kBool &&
             type_of(node.b) == IrType::kBool;
    case IrOp::kLess:
    case IrOp::kLessEqual:
    case IrOp::kEqual:
    case IrOp::kNotEqual:
      return !is_number && type_of(node.a) == type_of(node.b);
    case IrOp::kAdd:
    case IrOp::kSubtract:
    case IrOp::kMultiply:
    case IrOp::kDivide:
    case IrOp::kMin:
    case IrOp::kMax:
      return is_number && type_of(node.a) == node.type &&
             type_of(node.b) == node.type;
    case IrOp::kSelect:
      return type_of(node.a) == IrType::kBool && type_of(node.b) == node.type &&
             type_of(node.c) == node.type;
    case IrOp::kMath:
      return (node.type == IrType::kDouble || node.type == IrType::kFloat) &&
             type_of(node.a) == node.type &&
             (OperandCount(node) == 1 || type_of(node.b) == node.type);
  }
  return false;
}

bool IsBelow(int64_t position, size_t limit) {
  return position >= 0 && position < static_cast<int64_t>(limit);
}

// True if node.integer is a position in the table that the operation reads.
bool IntegerFits(const CodeBlock& block, const IrNode& node) {
  switch (node.op) {
    case IrOp::kMath:
      return IsBelow(node.integer, MathFunctions().size());
    case IrOp::kIndex:
      return node.integer >= 0 && node.integer < block.index_count;
    case IrOp::kLoad:
      return IsBelow(node.integer, block.loads.size()) &&
             node.type == IrTypeOf(block.loads[node.integer].element);
    default:
      return true;
  }
}

bool IsValid(const CodeBlock& block, size_t position) {
  const IrNode& node = block.nodes[position];
  if (!IntegerFits(block, node)) return false;
  const int operands = OperandCount(node);
  const int32_t all[] = {node.a, node.b, node.c};
  for (int i = 0; i < 3; ++i) {
    if (i < operands ? !IsBelow(all[i], position) : all[i] >= 0) return false;
  }
  return TypesFit(block, node);
}

bool IsValid(const CodeBlock& block) {
  if (block.index_count < 1 || block.index_count > kMaxIndices) return false;
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    if (!IsValid(block, i)) return false;
  }
  for (const IrStore& store : block.stores) {
    if (!IsBelow(store.node, block.nodes.size())) return false;
    const IrNode& node = block.nodes[store.node];
    if (node.type != IrTypeOf(store.element)) return false;
  }
  return block.mask == -1 || (IsBelow(block.mask, block.nodes.size()) &&
                              block.nodes[block.mask].type == IrType::kBool);
}

template <typename Enum>
Enum GetEnum(Decoder& in, Enum last) {
  const uint8_t value = in.GetU8();
  if (value > static_cast<uint8_t>(last)) {
    in.Fail();
    return last;
  }
  return static_cast<Enum>(value);
}

// Positions are stored plus one, so that "none" is zero.
void PutPosition(Encoder& out, int32_t position) {
  out.PutVarint(static_cast<uint64_t>(position + 1));
}

int32_t GetPosition(Decoder& in) {
  const uint64_t value = in.GetVarint();
  if (value > 0x7fffffff) in.Fail();
  return static_cast<int32_t>(value) - 1;
}

}  // namespace

IrType IrTypeOf(ElementType element) {
  switch (element) {
    case ElementType::kDouble:
      return IrType::kDouble;
    case ElementType::kFloat:
      return IrType::kFloat;
    case ElementType::kInt64:
      return IrType::kInt64;
  }
  return IrType::kDouble;
}

const std::vector<MathFunction>& MathFunctions() {
#define DOGGED_UNARY(name, exact) \
  MathFunction { #name, 1, exact, ::name, ::name##f, nullptr, nullptr }
#define DOGGED_BINARY(name) \
  MathFunction { #name, 2, false, nullptr, nullptr, ::name, ::name##f }
  static const auto& functions = *new std::vector<MathFunction>{
      DOGGED_UNARY(sqrt, true),   DOGGED_UNARY(floor, true),
      DOGGED_UNARY(ceil, true),   DOGGED_UNARY(exp, false),
      DOGGED_UNARY(log, false),   DOGGED_UNARY(log2, false),
      DOGGED_UNARY(log10, false), DOGGED_UNARY(sin, false),
      DOGGED_UNARY(cos, false),   DOGGED_UNARY(tan, false),
      DOGGED_UNARY(asin, false),  DOGGED_UNARY(acos, false),
      DOGGED_UNARY(atan, false),  DOGGED_UNARY(sinh, false),
      DOGGED_UNARY(cosh, false),  DOGGED_UNARY(tanh, false),
      DOGGED_UNARY(cbrt, false),  DOGGED_UNARY(round, false),
      DOGGED_UNARY(trunc, true),  DOGGED_UNARY(erf, false),
      DOGGED_BINARY(pow),         DOGGED_BINARY(atan2),
      DOGGED_BINARY(hypot),       DOGGED_BINARY(fmod),
      DOGGED_UNARY(exp2, false),  DOGGED_UNARY(expm1, false),
      DOGGED_UNARY(log1p, false),
  };
#undef DOGGED_UNARY
#undef DOGGED_BINARY
  return functions;
}

int FindMathFunction(absl::string_view name) {
  const std::vector<MathFunction>& functions = MathFunctions();
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

void CodeBlock::Encode(Encoder& out) const {
  out.PutString(name);
  out.PutString(comment);
  out.PutVarint(static_cast<uint64_t>(index_count));
  out.PutVarint(loads.size());
  for (const IrLoad& load : loads) {
    out.PutU8(static_cast<uint8_t>(load.element));
    out.PutU8(static_cast<uint8_t>(load.step));
  }
  out.PutVarint(nodes.size());
  for (const IrNode& node : nodes) {
    out.PutU8(static_cast<uint8_t>(node.op));
    out.PutU8(static_cast<uint8_t>(node.type));
    PutPosition(out, node.a);
    PutPosition(out, node.b);
    PutPosition(out, node.c);
    out.PutSigned(node.integer);
    out.PutDouble(node.real);
  }
  out.PutVarint(stores.size());
  for (const IrStore& store : stores) {
    out.PutU8(static_cast<uint8_t>(store.element));
    out.PutU8(static_cast<uint8_t>(store.step));
    PutPosition(out, store.node);
  }
  PutPosition(out, mask);
}

CodeBlock CodeBlock::Decode(Decoder& in) {
  CodeBlock out;
  out.name = std::string(in.GetString());
  out.comment = std::string(in.GetString());
  out.index_count = static_cast<int32_t>(in.GetVarint());
  out.loads.resize(in.GetCount(2));
  for (IrLoad& load : out.loads) {
    load.element = GetEnum(in, ElementType::kInt64);
    load.step = GetEnum(in, Step::kStrided);
  }
  out.nodes.resize(in.GetCount(14));
  for (IrNode& node : out.nodes) {
    node.op = GetEnum(in, IrOp::kMath);
    node.type = GetEnum(in, IrType::kBool);
    node.a = GetPosition(in);
    node.b = GetPosition(in);
    node.c = GetPosition(in);
    node.integer = in.GetSigned();
    node.real = in.GetDouble();
  }
  out.stores.resize(in.GetCount(3));
  for (IrStore& store : out.stores) {
    store.element = GetEnum(in, ElementType::kInt64);
    store.step = GetEnum(in, Step::kStrided);
    store.node = GetPosition(in);
  }
  out.mask = GetPosition(in);
  if (!in.ok() || !IsValid(out)) {
    in.Fail();
    return CodeBlock();
  }
  return out;
}

CodeBuilder::CodeBuilder(CodeBlock& block) : block_(&block) {
  DOGGED_CHECK(block.nodes.empty()) << block.name;
}

int32_t CodeBuilder::Add(const IrNode& node) {
  const Key key{node.op,
                node.type,
                node.a,
                node.b,
                node.c,
                node.integer,
                std::bit_cast<uint64_t>(node.real)};
  const auto [it, is_new] =
      known_.emplace(key, static_cast<int32_t>(block_->nodes.size()));
  if (is_new) {
    block_->nodes.push_back(node);
    DOGGED_CHECK(IsValid(*block_, block_->nodes.size() - 1))
        << block_->name << ": node " << it->second;
  }
  return it->second;
}

int32_t CodeBuilder::Integer(int64_t value) {
  return Add({.type = IrType::kInt64, .integer = value});
}

int32_t CodeBuilder::Real(double value, IrType type) {
  return Add({.type = type, .real = value});
}

int32_t CodeBuilder::Bool(bool value) {
  return Add({.type = IrType::kBool, .integer = value ? 1 : 0});
}

int32_t CodeBuilder::Index(int dimension) {
  return Add(
      {.op = IrOp::kIndex, .type = IrType::kInt64, .integer = dimension});
}

int32_t CodeBuilder::Unary(IrOp op, int32_t a) {
  return Add({.op = op, .type = node(a).type, .a = a});
}

int32_t CodeBuilder::Binary(IrOp op, int32_t a, int32_t b) {
  const bool gives_bool = op == IrOp::kLess || op == IrOp::kLessEqual ||
                          op == IrOp::kEqual || op == IrOp::kNotEqual;
  return Add({.op = op,
              .type = gives_bool ? IrType::kBool : node(a).type,
              .a = a,
              .b = b});
}

int32_t CodeBuilder::Convert(int32_t a, IrType type) {
  const IrNode from = node(a);
  if (from.type == type) return a;
  if (from.op == IrOp::kConstant && from.type == IrType::kInt64) {
    if (type == IrType::kDouble) {
      return Real(static_cast<double>(from.integer));
    }
    if (type == IrType::kFloat) {
      return Real(static_cast<float>(from.integer), type);
    }
  }
  if (from.op == IrOp::kConstant && from.type == IrType::kDouble &&
      type == IrType::kFloat) {
    return Real(static_cast<float>(from.real), type);
  }
  return Add({.op = IrOp::kConvert, .type = type, .a = a});
}

int32_t CodeBuilder::Affine(const AffineExpr& expr,
                            const std::vector<int32_t>& indices) {
  int32_t sum = -1;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t factor = expr.coefficients[d];
    if (factor == 0) continue;
    const int32_t term =
        factor == 1 ? indices[d]
                    : Binary(IrOp::kMultiply, Integer(factor), indices[d]);
    sum = sum < 0 ? term : Binary(IrOp::kAdd, sum, term);
  }
  if (sum < 0) return Integer(expr.constant);
  if (expr.constant == 0) return sum;
  return Binary(IrOp::kAdd, sum, Integer(expr.constant));
}

int32_t CodeBuilder::Holds(const Constraint& constraint,
                           const std::vector<int32_t>& indices) {
  const int32_t value = Affine(constraint.expr, indices);
  const int32_t zero = Integer(0);
  switch (constraint.kind) {
    case Constraint::Kind::kAtLeastZero:
      return Binary(IrOp::kLessEqual, zero, value);
    case Constraint::Kind::kZero:
      return Binary(IrOp::kEqual, value, zero);
    case Constraint::Kind::kDivisible:
      return Binary(IrOp::kEqual,
                    Binary(IrOp::kModulo, value, Integer(constraint.modulus)),
                    zero);
  }
  return Bool(false);
}

int32_t CodeBuilder::Holds(const Guard& guard,
                           const std::vector<int32_t>& indices) {
  if (guard.IsAlways()) return Bool(true);
  int32_t any = -1;
  for (const auto& all_of : guard.any_of) {
    int32_t all = -1;
    for (const Constraint& constraint : all_of) {
      const int32_t one = Holds(constraint, indices);
      all = all < 0 ? one : Binary(IrOp::kAnd, all, one);
    }
    if (all < 0) all = Bool(true);
    any = any < 0 ? all : Binary(IrOp::kOr, any, all);
  }
  return any;
}

CodeBlock CopyCode(ElementType element, int index_count) {
  CodeBlock out;
  CodeBuilder builder(out);
  out.index_count = std::max(1, index_count);
  out.loads = {{.element = element}};
  const int32_t node =
      builder.Add({.op = IrOp::kLoad, .type = IrTypeOf(element), .integer = 0});
  out.stores = {{.element = element, .node = node}};
  return out;
}

bool IsCopy(const CodeBlock& code) {
  if (code.loads.size() != 1 || code.stores.size() != 1 || code.mask >= 0) {
    return false;
  }
  const IrNode& node = code.nodes[code.stores.front().node];
  return node.op == IrOp::kLoad && node.a < 0 &&
         code.loads.front().element == code.stores.front().element;
}

int64_t WrapDivide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(-static_cast<uint64_t>(a));
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

int64_t WrapModulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest + ((rest != 0 && (rest < 0) != (b < 0)) ? b : 0);
}

int64_t IntegerOf(double value) {
  return value >= -0x1p63 && value < 0x1p63
             ? static_cast<int64_t>(value)
             : std::numeric_limits<int64_t>::min();
}

}  // namespace dogged::dsl
