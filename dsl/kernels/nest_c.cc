#include "dsl/kernels/nest_c.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
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

// Writes a tile's function, and one for each part of it that does nothing but
// copy: there are many of these, the compiler takes less for small functions,
// and nothing is gained by optimizing them.
class NestEmitter {
 public:
  NestEmitter(const NestBody& body, std::string symbol)
      : body_(body), symbol_(std::move(symbol)) {}
  std::string Text();

 private:
  // The head of a function that uses these blocks.
  void Open(absl::string_view head, const std::set<int32_t>& blocks);
  // False if the node does something else than to copy. Adds the blocks that
  // it uses.
  bool FindCopies(int32_t node, std::set<int32_t>& blocks) const;
  void Write(int32_t node, int indent);
  void WriteLoop(const NestNode& node, int indent);
  // True if `loop` does nothing but copy elements from one block to another,
  // and was written as one call. Copies of what tiles give each other are most
  // of a tile's loops, and the compiler took most of its time for them.
  bool WriteRow(const NestNode& loop, int indent);
  void WriteCall(const NestNode& node, int indent);
  void WritePoint(const NestNode& call, int indent);
  // How much an expression grows from one value of a variable to the next, if
  // that is the same for all values.
  std::optional<int64_t> SlopeOf(int32_t expr, int32_t variable) const;
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

std::optional<int64_t> NestEmitter::SlopeOf(int32_t position,
                                            int32_t variable) const {
  const NestExpr& expr = body_.exprs[position];
  using Op = NestExpr::Op;
  if (expr.op == Op::kNumber || expr.op == Op::kTile) return 0;
  if (expr.op == Op::kVariable) return expr.value == variable ? 1 : 0;
  const std::optional<int64_t> a = SlopeOf(expr.a, variable);
  const std::optional<int64_t> b = expr.b < 0 ? 0 : SlopeOf(expr.b, variable);
  const std::optional<int64_t> c = expr.c < 0 ? 0 : SlopeOf(expr.c, variable);
  if (!a || !b || !c) return std::nullopt;
  const auto number = [&](int32_t at) {
    return body_.exprs[at].op == Op::kNumber;
  };
  switch (expr.op) {
    case Op::kAdd:
      return *a + *b;
    case Op::kSubtract:
      return *a - *b;
    case Op::kNegate:
      return -*a;
    case Op::kMultiply:
      if (number(expr.a)) return body_.exprs[expr.a].value * *b;
      if (number(expr.b)) return body_.exprs[expr.b].value * *a;
      break;
    default:
      break;
  }
  if (*a != 0 || *b != 0 || *c != 0) return std::nullopt;
  return 0;
}

bool NestEmitter::WriteRow(const NestNode& loop, int indent) {
  const NestNode& call = body_.nodes[loop.children.front()];
  if (call.kind != NestNode::Kind::kCall) return false;
  const NestStatement& statement = body_.statements[call.number];
  if (statement.reduce || !IsCopy(statement.code)) return false;
  const NestElement& to = statement.stores.front();
  const NestElement& from = statement.loads.front();
  if (to.block == from.block) return false;
  std::vector<int64_t> slopes;
  for (const int32_t argument : call.arguments) {
    const std::optional<int64_t> slope = SlopeOf(argument, loop.number);
    if (!slope) return false;
    slopes.push_back(*slope * loop.step);
  }
  const auto step = [&slopes](const NestElement& element) {
    int64_t out = 0;
    for (size_t d = 0; d < element.by_point.coefficients.size(); ++d) {
      out += element.by_point.coefficients[d] * slopes[d];
    }
    return out;
  };
  const std::string variable = absl::StrCat("c", loop.number);
  const std::string last = absl::StrCat("e", loop.number);
  Line(indent, "{");
  Line(indent + 2,
       absl::StrCat("const int64_t ", variable, " = ", Expr(loop.first), ", ",
                    last, " = ", Expr(loop.last), ";"));
  WritePoint(call, indent + 2);
  Line(indent + 2, absl::StrCat("if (", variable, " <= ", last, ") dogged_row_",
                                ElementBytes(body_.blocks[to.block].element),
                                "(&", Element(to), ", ", step(to), ", &",
                                Element(from), ", ", step(from), ", (", last,
                                " - ", variable, ") / ", loop.step, " + 1);"));
  Line(indent, "}");
  return true;
}

void NestEmitter::WriteLoop(const NestNode& node, int indent) {
  if (WriteRow(node, indent)) return;
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

void NestEmitter::WritePoint(const NestNode& call, int indent) {
  std::string unused;
  for (size_t d = 0; d < call.arguments.size(); ++d) {
    Line(indent, absl::StrCat("const int64_t i", d, " = ",
                              Expr(call.arguments[d]), ";"));
    absl::StrAppend(&unused, "(void)i", d, "; ");
  }
  if (!unused.empty()) Line(indent, unused.substr(0, unused.size() - 1));
}

void NestEmitter::WriteCall(const NestNode& node, int indent) {
  const NestStatement& statement = body_.statements[node.number];
  Line(indent, "{");
  WritePoint(node, indent + 2);
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

void NestEmitter::Open(absl::string_view head,
                       const std::set<int32_t>& blocks) {
  absl::StrAppend(&out_, head,
                  "(const int64_t* tile, void* const* blocks) {\n"
                  "  (void)tile, (void)blocks;\n");
  for (int32_t t = 0; t < body_.tile_rank; ++t) {
    Line(2, absl::StrCat("const int64_t T", t, " = tile[", t, "]; (void)T", t,
                         ";"));
  }
  for (const int32_t b : blocks) {
    const NestBlock& block = body_.blocks[b];
    const auto type = CName(IrTypeOf(block.element));
    const bool is_read = block.kind == NestBlock::Kind::kUse ||
                         block.kind == NestBlock::Kind::kInput;
    Line(2, absl::StrCat(is_read ? "const " : "", type, "* restrict b", b,
                         " = blocks[", b, "]; (void)b", b, ";"));
  }
}

bool NestEmitter::FindCopies(int32_t position,
                             std::set<int32_t>& blocks) const {
  const NestNode& node = body_.nodes[position];
  if (node.kind == NestNode::Kind::kCall) {
    const NestStatement& statement = body_.statements[node.number];
    for (const auto* elements : {&statement.stores, &statement.loads}) {
      for (const NestElement& element : *elements) blocks.insert(element.block);
    }
    return !statement.reduce && IsCopy(statement.code);
  }
  if (node.kind == NestNode::Kind::kPresent) blocks.insert(node.number);
  return std::all_of(node.children.begin(), node.children.end(),
                     [&](int32_t child) { return FindCopies(child, blocks); });
}

std::string NestEmitter::Text() {
  const NestNode& root = body_.nodes.front();
  const std::vector<int32_t> parts = root.kind == NestNode::Kind::kSequence
                                         ? root.children
                                         : std::vector<int32_t>{0};
  std::map<int32_t, std::string> copies;  // names of functions by node
  for (const int32_t part : parts) {
    std::set<int32_t> blocks;
    if (!FindCopies(part, blocks)) continue;
    const std::string name = absl::StrCat(symbol_, "_copy_", copies.size());
    Open(absl::StrCat("static DOGGED_COPY void ", name), blocks);
    Write(part, 2);
    out_ += "}\n";
    copies[part] = name;
  }
  std::set<int32_t> all;
  for (size_t b = 0; b < body_.blocks.size(); ++b) {
    all.insert(static_cast<int32_t>(b));
  }
  Open(absl::StrCat("void ", symbol_), all);
  // Behind the blocks.
  absl::StrAppend(&out_,
                  "  void (*const reduce)(int64_t, int64_t, int64_t, void*, "
                  "void*) = blocks[",
                  body_.blocks.size(), "]; (void)reduce;\n");
  for (const int32_t part : parts) {
    const auto copy = copies.find(part);
    if (copy == copies.end()) {
      Write(part, 2);
    } else {
      Line(2, absl::StrCat(copy->second, "(tile, blocks);"));
    }
  }
  out_ += "}\n";
  return std::move(out_);
}

// Copies elements that are steps apart.
std::string RowCopy(absl::string_view size, absl::string_view type) {
  return absl::StrCat(
      "typedef ", type, " __attribute__((may_alias)) dogged_", size,
      ";\n"
      "static __attribute__((noinline)) void dogged_row_",
      size,
      "(void* restrict to, int64_t to_step,\n"
      "    const void* restrict from, int64_t from_step, int64_t count) {\n"
      "  if (to_step == 1 && from_step == 1) {\n"
      "    __builtin_memcpy(to, from, (uint64_t)count * ",
      size,
      ");\n"
      "    return;\n"
      "  }\n"
      "  for (int64_t i = 0; i < count; ++i) {\n"
      "    ((dogged_",
      size, "*)to)[i * to_step] = ((const dogged_", size,
      "*)from)[i * from_step];\n"
      "  }\n"
      "}\n");
}

}  // namespace

std::string CNestPrelude() {
  return absl::StrCat(
      "#if defined(__clang__)\n"
      "#define DOGGED_COPY __attribute__((noinline))\n"
      "#else\n"
      "#define DOGGED_COPY __attribute__((noinline, optimize(1)))\n"
      "#endif\n",
      RowCopy("4", "uint32_t"), RowCopy("8", "uint64_t"));
}

std::string EmitNestC(const NestBody& body, const std::string& symbol) {
  return NestEmitter(body, symbol).Text();
}

}  // namespace dogged::dsl
