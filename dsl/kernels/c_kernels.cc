#include "dsl/kernels/c_kernels.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

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

// Writes one function.
class Emitter {
 public:
  Emitter(const CodeBlock& block, std::string symbol);
  std::string Text();

 private:
  void OpenLoops();
  void Body();
  std::string Row(size_t operand, absl::string_view pointer) const;
  std::string At(size_t operand, absl::string_view row, Step step) const;
  std::string Expression(const IrNode& node);
  std::string LoadText(const IrNode& node);
  std::string MathText(const IrNode& node);
  const std::string& Operand(int32_t position) const {
    return names_[static_cast<size_t>(position)];
  }
  void Line(int indent, absl::string_view text) {
    absl::StrAppend(&out_, std::string(static_cast<size_t>(indent), ' '), text,
                    "\n");
  }

  const CodeBlock& block_;
  std::string symbol_;
  int last_;  // the innermost index
  std::vector<int> use_counts_;
  std::vector<std::string> names_;  // by node: a variable, or an expression
  std::string out_;
};

Emitter::Emitter(const CodeBlock& block, std::string symbol)
    : block_(block),
      symbol_(std::move(symbol)),
      last_(block.index_count - 1),
      use_counts_(block.nodes.size(), 0) {
  const auto count = [this](int32_t position) {
    if (position >= 0) ++use_counts_[static_cast<size_t>(position)];
  };
  for (const IrNode& node : block.nodes) {
    count(node.a);
    count(node.b);
    count(node.c);
  }
  for (const IrStore& store : block.stores) count(store.node);
  count(block.mask);
}

std::string Emitter::Row(size_t operand, absl::string_view pointer) const {
  std::string out(pointer.data(), pointer.size());
  for (int d = 0; d < last_; ++d) {
    absl::StrAppend(&out, " + i", d, " * strides[",
                    operand * static_cast<size_t>(block_.index_count) +
                        static_cast<size_t>(d),
                    "]");
  }
  return out;
}

std::string Emitter::At(size_t operand, absl::string_view row,
                        Step step) const {
  switch (step) {
    case Step::kUnit:
      return absl::StrCat(row, "[i", last_, "]");
    case Step::kNone:
      return absl::StrCat(row, "[0]");
    case Step::kStrided:
      break;
  }
  return absl::StrCat(row, "[i", last_, " * strides[",
                      operand * static_cast<size_t>(block_.index_count) +
                          static_cast<size_t>(last_),
                      "]]");
}

void Emitter::OpenLoops() {
  for (int d = 0; d < last_; ++d) {
    Line(2 + 2 * d, absl::StrFormat("for (int64_t i%d = 0; i%d < count[%d]; "
                                    "++i%d) {",
                                    d, d, d, d));
  }
  const int indent = 2 + 2 * last_;
  for (size_t s = 0; s < block_.stores.size(); ++s) {
    const auto type = CName(IrTypeOf(block_.stores[s].element));
    Line(indent,
         absl::StrCat(type, "* restrict out", s, " = ",
                      Row(s, absl::StrCat("(", type, "*)stores[", s, "]")),
                      ";"));
  }
  for (size_t l = 0; l < block_.loads.size(); ++l) {
    const auto type = CName(IrTypeOf(block_.loads[l].element));
    Line(indent,
         absl::StrCat("const ", type, "* in", l, " = ",
                      Row(block_.stores.size() + l,
                          absl::StrCat("(const ", type, "*)loads[", l, "]")),
                      ";"));
  }
  out_ += "#pragma GCC ivdep\n";
  Line(indent,
       absl::StrFormat("for (int64_t i%d = 0; i%d < count[%d]; ++i%d) {", last_,
                       last_, last_, last_));
}

std::string Emitter::LoadText(const IrNode& node) {
  const auto l = static_cast<size_t>(node.integer);
  const std::string element =
      At(block_.stores.size() + l, absl::StrCat("in", l), block_.loads[l].step);
  if (node.a < 0) return element;
  return absl::StrCat("(", Operand(node.a), " ? ", element, " : ",
                      Operand(node.b), ")");
}

std::string Emitter::MathText(const IrNode& node) {
  const MathFunction& function =
      MathFunctions()[static_cast<size_t>(node.integer)];
  return absl::StrCat(
      function.is_exact ? "__builtin_" : "", function.name,
      node.type == IrType::kFloat ? "f(" : "(", Operand(node.a),
      function.argument_count == 2 ? absl::StrCat(", ", Operand(node.b)) : "",
      ")");
}

std::string Emitter::Expression(const IrNode& node) {
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
  const IrType from =
      node.a < 0 ? node.type : block_.nodes[static_cast<size_t>(node.a)].type;
  switch (node.op) {
    case IrOp::kConstant:
      return node.type == IrType::kDouble || node.type == IrType::kFloat
                 ? RealText(node.real, node.type)
                 : IntegerText(node.integer);
    case IrOp::kIndex:
      return absl::StrFormat("(lower[%d] + i%d)", node.integer, node.integer);
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
void Emitter::Body() {
  for (const IrNode& node : block_.nodes) {
    if (node.op != IrOp::kMin && node.op != IrOp::kMax &&
        node.op != IrOp::kAbs) {
      continue;
    }
    for (const int32_t operand : {node.a, node.b}) {
      if (operand >= 0) ++use_counts_[static_cast<size_t>(operand)];
    }
  }
  const int indent = 4 + 2 * last_;
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
    Line(indent,
         absl::StrCat("const ", CName(node.type), " ", name, " = ", text, ";"));
    names_.push_back(name);
  }
  for (size_t s = 0; s < block_.stores.size(); ++s) {
    const IrStore& store = block_.stores[s];
    const std::string assignment =
        absl::StrCat(At(s, absl::StrCat("out", s), store.step), " = ",
                     Operand(store.node), ";");
    Line(indent, block_.mask < 0 ? assignment
                                 : absl::StrCat("if (", Operand(block_.mask),
                                                ") ", assignment));
  }
}

std::string Emitter::Text() {
  if (!block_.comment.empty()) {
    absl::StrAppend(&out_, "/* ", block_.comment, " */\n");
  }
  absl::StrAppend(&out_, "void ", symbol_,
                  "(const int64_t* lower, const int64_t* count,\n"
                  "    void* const* stores, const void* const* loads,\n"
                  "    const int64_t* strides) {\n"
                  "  (void)lower, (void)loads;\n");
  OpenLoops();
  Body();
  for (int d = last_; d >= 0; --d) Line(2 + 2 * d, "}");
  out_ += "}\n";
  return std::move(out_);
}

class CompiledFunction : public BoxFunction {
 public:
  using Address = void (*)(const int64_t*, const int64_t*, void* const*,
                           const void* const*, const int64_t*);
  CompiledFunction(FindSymbol library, Address address)
      : library_(std::move(library)), address_(address) {}
  void Run(const BoxCall& call) const override {
    address_(call.lower, call.count, call.stores, call.loads, call.strides);
  }

 private:
  FindSymbol library_;  // keeps the code mapped
  Address address_;
};

// MaxOf() and MinOf() of functions.h.
std::string Extremes(absl::string_view type, absl::string_view suffix) {
  const auto one = [&](absl::string_view name, absl::string_view chosen,
                       absl::string_view sum) {
    return absl::StrCat(
        "static inline ", type, " dogged_", name, suffix, "(", type, " a, ",
        type, " b) {\n  const ", type, " sum = ", sum, ";\n  const ", type,
        " out = a == b ? __builtin_copysign", suffix, "(a, sum) : (", chosen,
        ");\n  return __builtin_isunordered(a, b) ? sum : out;\n}\n");
  };
  return absl::StrCat(one("max", "a < b ? b : a", "a + b"),
                      one("min", "b < a ? b : a", "-(-a - b)"));
}

}  // namespace

std::string CPrelude() {
  std::string out =
      "#include <stdint.h>\n\n"
      "#if defined(__AVX512F__) && !defined(__clang__)\n"
      "#pragma GCC target(\"prefer-vector-width=512\")\n"
      "#endif\n\n"
      "static inline int64_t dogged_divide(int64_t a, int64_t b) {\n"
      "  if (b == 0) return 0;\n"
      "  if (b == -1) return -a;\n"
      "  return a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
      "}\n"
      "static inline int64_t dogged_modulo(int64_t a, int64_t b) {\n"
      "  if (b == 0 || b == -1) return 0;\n"
      "  const int64_t rest = a % b;\n"
      "  return rest + (rest != 0 && (rest < 0) != (b < 0) ? b : 0);\n"
      "}\n"
      "static inline int64_t dogged_int(double a) {\n"
      "  return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : INT64_MIN;\n"
      "}\n";
  absl::StrAppend(&out, Extremes("double", ""), Extremes("float", "f"));
  out += "\n";
  for (const MathFunction& function : MathFunctions()) {
    if (function.is_exact) continue;
    const bool is_binary = function.argument_count == 2;
    absl::StrAppend(&out, "extern double ", function.name,
                    is_binary ? "(double, double)" : "(double)",
                    " __attribute__((const));\n", "extern float ",
                    function.name, is_binary ? "f(float, float)" : "f(float)",
                    " __attribute__((const));\n");
  }
  return out;
}

std::string EmitC(const CodeBlock& block, const std::string& symbol) {
  return Emitter(block, symbol).Text();
}

absl::StatusOr<std::unique_ptr<BoxFunction>> Compiled(
    const FindSymbol& find, const std::string& symbol) {
  void* address = find(symbol);
  if (address == nullptr) {
    return absl::InternalError(
        absl::StrCat("the compiled kernels have no function ", symbol));
  }
  return std::make_unique<CompiledFunction>(
      find, reinterpret_cast<CompiledFunction::Address>(address));
}

}  // namespace dogged::dsl
