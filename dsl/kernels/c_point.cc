#include "dsl/kernels/c_point.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dogged::dsl {
namespace {

// Rounded to its type first: nine digits of a double may lie nearer to another
// float than the double does.
std::string RealText(double real, IrType type) {
  const bool is_float = type == IrType::kFloat;
  const double value = is_float ? static_cast<float>(real) : real;
  const absl::string_view suffix = is_float ? "f" : "";
  if (!std::isfinite(value)) {
    return absl::StrCat(
        std::isnan(value) ? "(0.0" : (value > 0 ? "(1.0" : "(-1.0"), suffix,
        " / 0.0", suffix, ")");
  }
  std::string text = is_float ? absl::StrFormat("%.9g", value)
                              : absl::StrFormat("%.17g", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  absl::StrAppend(&text, suffix);
  return std::signbit(value) ? absl::StrCat("(", text, ")") : text;
}

// A plain 5 is an int, and so is a sum of two of them.
std::string IntegerText(int64_t value) {
  // -9223372036854775808 is not a constant of C.
  if (value == INT64_MIN) return "INT64_MIN";
  return value < 0 ? absl::StrCat("(-INT64_C(", -value, "))")
                   : absl::StrCat("INT64_C(", value, ")");
}

absl::string_view SignOf(IrOp op) {
  switch (op) {
    case IrOp::kAdd:
      return "+";
    case IrOp::kSubtract:
      return "-";
    case IrOp::kMultiply:
      return "*";
    case IrOp::kLess:
      return "<";
    case IrOp::kLessEqual:
      return "<=";
    case IrOp::kEqual:
      return "==";
    case IrOp::kNotEqual:
      return "!=";
    case IrOp::kAnd:
      return "&";
    default:
      return "|";
  }
}

// Writes the lines of one point.
class PointEmitter {
 public:
  PointEmitter(const CodeBlock& block, const CPlaces& places, int indent);
  std::string Text();

 private:
  std::string Expression(const IrNode& node);
  std::string LoadText(const IrNode& node);
  std::string MathText(const IrNode& node);
  const std::string& Operand(int32_t position) const {
    return names_[position];
  }
  void Line(absl::string_view text) {
    absl::StrAppend(&out_, std::string(indent_, ' '), text, "\n");
  }

  const CodeBlock& block_;
  const CPlaces& places_;
  int indent_;
  std::vector<int> use_counts_;
  std::vector<std::string> names_;  // by node: a variable, or an expression
  std::string out_;
};

PointEmitter::PointEmitter(const CodeBlock& block, const CPlaces& places,
                           int indent)
    : block_(block),
      places_(places),
      indent_(indent),
      use_counts_(block.nodes.size(), 0) {
  const auto count = [this](int32_t position) {
    if (position >= 0) ++use_counts_[position];
  };
  for (const IrNode& node : block.nodes) {
    count(node.a);
    count(node.b);
    count(node.c);
  }
  for (const IrStore& store : block.stores) count(store.node);
  count(block.mask);
}

std::string PointEmitter::LoadText(const IrNode& node) {
  const std::string element = places_.load(static_cast<size_t>(node.integer));
  if (node.a < 0) return element;
  return absl::StrCat("(", Operand(node.a), " ? ", element, " : ",
                      Operand(node.b), ")");
}

std::string PointEmitter::MathText(const IrNode& node) {
  const MathFunction& function = MathFunctions()[node.integer];
  return absl::StrCat(
      function.is_exact ? "__builtin_" : "", function.name,
      node.type == IrType::kFloat ? "f(" : "(", Operand(node.a),
      function.argument_count == 2 ? absl::StrCat(", ", Operand(node.b)) : "",
      ")");
}

std::string PointEmitter::Expression(const IrNode& node) {
  const auto binary = [&](absl::string_view sign) {
    return absl::StrCat("(", Operand(node.a), " ", sign, " ", Operand(node.b),
                        ")");
  };
  const auto call = [&](absl::string_view name) {
    return absl::StrCat(name, "(", Operand(node.a),
                        node.b < 0 ? "" : absl::StrCat(", ", Operand(node.b)),
                        ")");
  };
  // For integers: b if one operand is less than the other, else a.
  const auto extreme = [&](absl::string_view name, int32_t less, int32_t than) {
    if (node.type == IrType::kDouble) return call(name);
    if (node.type == IrType::kFloat) return call(absl::StrCat(name, "f"));
    return absl::StrFormat("(%s < %s ? %s : %s)", Operand(less), Operand(than),
                           Operand(node.b), Operand(node.a));
  };
  const IrType from = node.a < 0 ? node.type : block_.nodes[node.a].type;
  switch (node.op) {
    case IrOp::kConstant:
      return node.type == IrType::kDouble || node.type == IrType::kFloat
                 ? RealText(node.real, node.type)
                 : IntegerText(node.integer);
    case IrOp::kIndex:
      return places_.index(node.integer);
    case IrOp::kLoad:
      return LoadText(node);
    case IrOp::kConvert:
      if (node.type == IrType::kInt64 &&
          (from == IrType::kDouble || from == IrType::kFloat)) {
        return call("dogged_int");
      }
      return absl::StrCat("(", CName(node.type), ")", Operand(node.a));
    case IrOp::kNegate:
      return absl::StrCat("(-", Operand(node.a), ")");
    case IrOp::kNot:
      return absl::StrCat("(!", Operand(node.a), ")");
    case IrOp::kDivide:
      return node.type == IrType::kInt64 ? call("dogged_divide") : binary("/");
    case IrOp::kModulo:
      return call("dogged_modulo");
    case IrOp::kAdd:
    case IrOp::kSubtract:
    case IrOp::kMultiply:
    case IrOp::kLess:
    case IrOp::kLessEqual:
    case IrOp::kEqual:
    case IrOp::kNotEqual:
    case IrOp::kAnd:
    case IrOp::kOr:
      return binary(SignOf(node.op));
    case IrOp::kSelect:
      return absl::StrCat("(", Operand(node.a), " ? ", Operand(node.b), " : ",
                          Operand(node.c), ")");
    case IrOp::kMin:
      return extreme("dogged_min", node.b, node.a);
    case IrOp::kMax:
      return extreme("dogged_max", node.a, node.b);
    case IrOp::kAbs:
      if (node.type == IrType::kDouble) return call("__builtin_fabs");
      if (node.type == IrType::kFloat) return call("__builtin_fabsf");
      return absl::StrFormat("(%s < 0 ? -%s : %s)", Operand(node.a),
                             Operand(node.a), Operand(node.a));
    case IrOp::kMath:
      return MathText(node);
  }
  return "";
}

// A node that is used once stands where it is used; all other nodes get a
// variable. Operands of min, max and abs count twice, since these mention them
// twice.
std::string PointEmitter::Text() {
  for (const IrNode& node : block_.nodes) {
    if (node.op != IrOp::kMin && node.op != IrOp::kMax &&
        node.op != IrOp::kAbs) {
      continue;
    }
    for (const int32_t operand : {node.a, node.b}) {
      if (operand >= 0) ++use_counts_[operand];
    }
  }
  for (size_t i = 0; i < block_.nodes.size(); ++i) {
    const IrNode& node = block_.nodes[i];
    std::string text = Expression(node);
    const bool is_short =
        node.op == IrOp::kConstant || (node.op == IrOp::kLoad && node.a < 0);
    if (use_counts_[i] <= 1 || is_short) {
      names_.push_back(std::move(text));
      continue;
    }
    const std::string name = absl::StrCat("v", i);
    Line(absl::StrCat("const ", CName(node.type), " ", name, " = ", text, ";"));
    names_.push_back(name);
  }
  for (size_t s = 0; s < block_.stores.size(); ++s) {
    const std::string assignment = absl::StrCat(
        places_.store(s), " = ", Operand(block_.stores[s].node), ";");
    Line(block_.mask < 0
             ? assignment
             : absl::StrCat("if (", Operand(block_.mask), ") ", assignment));
  }
  return std::move(out_);
}

}  // namespace

absl::string_view CName(IrType type) {
  switch (type) {
    case IrType::kDouble:
      return "double";
    case IrType::kFloat:
      return "float";
    case IrType::kInt64:
      return "int64_t";
    case IrType::kBool:
      return "_Bool";
  }
  return "";
}

std::string CPoint(const CodeBlock& block, const CPlaces& places, int indent) {
  return PointEmitter(block, places, indent).Text();
}

}  // namespace dogged::dsl
