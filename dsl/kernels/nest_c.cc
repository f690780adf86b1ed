#include "dsl/kernels/nest_c.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/kernels/c_point.h"

namespace dogged::dsl {
namespace {

std::string NumberText(int64_t value) {
  return value < 0 ? absl::StrCat("(", value, ")") : absl::StrCat(value);
}

// "3*i0 + i1 - 5", with `prefix` before the number of each index.
std::string AffineText(const AffineExpr& expr, absl::string_view prefix) {
  std::string out;
  for (size_t d = 0; d < expr.coefficients.size(); ++d) {
    const int64_t factor = expr.coefficients[d];
    if (factor == 0) continue;
    if (!out.empty()) out += " + ";
    if (factor != 1) absl::StrAppend(&out, NumberText(factor), "*");
    absl::StrAppend(&out, prefix, d);
  }
  if (expr.constant != 0 || out.empty()) {
    if (!out.empty()) out += " + ";
    absl::StrAppend(&out, NumberText(expr.constant));
  }
  return out;
}

// Writes one function.
class NestEmitter {
 public:
  NestEmitter(const NestBody& body, std::string symbol)
      : body_(body), symbol_(std::move(symbol)) {}
  std::string Text();

 private:
  void Open();
  void Write(int32_t node, int indent);
  void WriteLoop(const NestNode& node, int indent);
  void WriteCall(const NestNode& node, int indent);
  // A call of RunReduceStep().
  std::string ReduceText(const NestStatement& statement) const;
  std::string Element(const NestElement& element) const;
  std::string Expr(int32_t position) const;
  void Line(int indent, absl::string_view text) {
    absl::StrAppend(&out_, std::string(indent, ' '), text, "\n");
  }

  const NestBody& body_;
  std::string symbol_;
  std::string out_;
};

std::string NestEmitter::Expr(int32_t position) const {
  const NestExpr& expr = body_.exprs[position];
  const auto binary = [&](absl::string_view sign) {
    return absl::StrCat("(", Expr(expr.a), " ", sign, " ", Expr(expr.b), ")");
  };
  const auto call = [&](absl::string_view name) {
    return absl::StrCat(name, "(", Expr(expr.a), ", ", Expr(expr.b), ")");
  };
  switch (expr.op) {
    case NestExpr::Op::kNumber:
      return NumberText(expr.value);
    case NestExpr::Op::kTile:
      return absl::StrCat("T", expr.value);
    case NestExpr::Op::kVariable:
      return absl::StrCat("c", expr.value);
    case NestExpr::Op::kAdd:
      return binary("+");
    case NestExpr::Op::kSubtract:
      return binary("-");
    case NestExpr::Op::kMultiply:
      return binary("*");
    case NestExpr::Op::kNegate:
      return absl::StrCat("(-", Expr(expr.a), ")");
    case NestExpr::Op::kMinimum:
      return call("dogged_least");
    case NestExpr::Op::kMaximum:
      return call("dogged_most");
    case NestExpr::Op::kFloorDivide:
      return call("dogged_divide");
    case NestExpr::Op::kRemainder:
      return call("dogged_modulo");
    case NestExpr::Op::kLess:
      return binary("<");
    case NestExpr::Op::kLessEqual:
      return binary("<=");
    case NestExpr::Op::kEqual:
      return binary("==");
    case NestExpr::Op::kAnd:
      return binary("&&");
    case NestExpr::Op::kOr:
      return binary("||");
    case NestExpr::Op::kSelect:
      return absl::StrCat("(", Expr(expr.a), " ? ", Expr(expr.b), " : ",
                          Expr(expr.c), ")");
  }
  return "";
}

std::string NestEmitter::Element(const NestElement& element) const {
  std::string at = AffineText(element.by_point, "i");
  if (!element.by_tile.IsConstant()) {
    absl::StrAppend(&at, " + (", AffineText(element.by_tile, "T"), ")");
  }
  return absl::StrCat("b", element.block, "[", at, "]");
}

void NestEmitter::WriteLoop(const NestNode& node, int indent) {
  if (node.is_parallel) out_ += "#pragma GCC ivdep\n";
  const std::string variable = absl::StrCat("c", node.number);
  // The end stands in a variable: it may be a long expression.
  Line(indent, absl::StrCat("for (int64_t ", variable, " = ", Expr(node.first),
                            ", e", node.number, " = ", Expr(node.last), "; ",
                            variable, " <= e", node.number, "; ", variable,
                            " += ", node.step, ") {"));
  Write(node.children.front(), indent + 2);
  Line(indent, "}");
}

std::string NestEmitter::ReduceText(const NestStatement& statement) const {
  const NestReduce& reduce = *statement.reduce;
  const auto place = [this](const std::vector<NestElement>& elements) {
    return elements.empty() ? std::string("0")
                            : absl::StrCat("(void*)&", Element(elements[0]));
  };
  std::string accumulator = place(statement.stores);
  std::string value = place(statement.loads);
  if (reduce.step == NestReduce::Step::kRound) std::swap(accumulator, value);
  return absl::StrCat("reduce(", static_cast<int>(reduce.step), ", ",
                      static_cast<int>(reduce.kind), ", ",
                      static_cast<int>(reduce.element), ", ", accumulator, ", ",
                      value, ");");
}

void NestEmitter::WriteCall(const NestNode& node, int indent) {
  const NestStatement& statement = body_.statements[node.number];
  Line(indent, "{");
  std::string unused;
  for (size_t d = 0; d < node.arguments.size(); ++d) {
    Line(indent + 2, absl::StrCat("const int64_t i", d, " = ",
                                  Expr(node.arguments[d]), ";"));
    absl::StrAppend(&unused, "(void)i", d, "; ");
  }
  if (!unused.empty()) Line(indent + 2, unused.substr(0, unused.size() - 1));
  const CPlaces places{
      .index =
          [&node](int64_t d) {
            return d < std::ssize(node.arguments) ? absl::StrCat("i", d)
                                                  : std::string("INT64_C(0)");
          },
      .load = [&](size_t l) { return Element(statement.loads[l]); },
      .store = [&](size_t s) { return Element(statement.stores[s]); }};
  if (statement.reduce) {
    Line(indent + 2, ReduceText(statement));
  } else {
    out_ += CPoint(statement.code, places, indent + 2);
  }
  Line(indent, "}");
}

void NestEmitter::Write(int32_t position, int indent) {
  const NestNode& node = body_.nodes[position];
  switch (node.kind) {
    case NestNode::Kind::kSequence:
      for (const int32_t child : node.children) Write(child, indent);
      return;
    case NestNode::Kind::kLoop:
      return WriteLoop(node, indent);
    case NestNode::Kind::kCall:
      return WriteCall(node, indent);
    case NestNode::Kind::kIf:
    case NestNode::Kind::kPresent:
      break;
  }
  Line(indent, absl::StrCat("if (",
                            node.kind == NestNode::Kind::kIf
                                ? Expr(node.first)
                                : absl::StrCat("b", node.number, " != 0"),
                            ") {"));
  Write(node.children[0], indent + 2);
  if (node.children.size() > 1) {
    Line(indent, "} else {");
    Write(node.children[1], indent + 2);
  }
  Line(indent, "}");
}

void NestEmitter::Open() {
  absl::StrAppend(&out_, "void ", symbol_,
                  "(const int64_t* tile, void* const* blocks) {\n"
                  "  (void)tile, (void)blocks;\n");
  // Behind the blocks.
  absl::StrAppend(&out_,
                  "  void (*const reduce)(int64_t, int64_t, int64_t, void*, "
                  "void*) = blocks[",
                  body_.blocks.size(), "]; (void)reduce;\n");
  for (int32_t t = 0; t < body_.tile_rank; ++t) {
    Line(2, absl::StrCat("const int64_t T", t, " = tile[", t, "]; (void)T", t,
                         ";"));
  }
  for (size_t b = 0; b < body_.blocks.size(); ++b) {
    const NestBlock& block = body_.blocks[b];
    const auto type = CName(IrTypeOf(block.element));
    const bool is_read = block.kind == NestBlock::Kind::kUse ||
                         block.kind == NestBlock::Kind::kInput;
    Line(2, absl::StrCat(is_read ? "const " : "", type, "* restrict b", b,
                         " = blocks[", b, "]; (void)b", b, ";"));
  }
}

std::string NestEmitter::Text() {
  Open();
  Write(0, 2);
  out_ += "}\n";
  return std::move(out_);
}

}  // namespace

std::string EmitNestC(const NestBody& body, const std::string& symbol) {
  return NestEmitter(body, symbol).Text();
}

}  // namespace dogged::dsl
