#include "dsl/text/print.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "dsl/text/precedence.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Op;

struct OpText {
  absl::string_view text;
  int precedence;
};

OpText TextOf(Op op) {
  switch (op) {
    case Op::kNegate:
      return {"-", precedence::kUnary};
    case Op::kNot:
      return {"not ", precedence::kUnary};
    case Op::kAdd:
      return {" + ", precedence::kSum};
    case Op::kSubtract:
      return {" - ", precedence::kSum};
    case Op::kMultiply:
      return {"*", precedence::kProduct};
    case Op::kDivide:
      return {"/", precedence::kProduct};
    case Op::kModulo:
      return {"%", precedence::kProduct};
    case Op::kLess:
      return {" < ", precedence::kComparison};
    case Op::kLessEqual:
      return {" <= ", precedence::kComparison};
    case Op::kGreater:
      return {" > ", precedence::kComparison};
    case Op::kGreaterEqual:
      return {" >= ", precedence::kComparison};
    case Op::kEqual:
      return {" == ", precedence::kComparison};
    case Op::kNotEqual:
      return {" != ", precedence::kComparison};
    case Op::kAnd:
      return {" and ", precedence::kAnd};
    case Op::kOr:
      return {" or ", precedence::kOr};
  }
  return {"", 0};
}

// The shortest text that reads back as `value`, with a point or an exponent.
std::string RealText(double value) {
  std::string out;
  for (int digits = 1; digits <= 17; ++digits) {
    out = absl::StrFormat("%.*g", digits, value);
    if (std::strtod(out.c_str(), nullptr) == value) break;
  }
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string Text(const Expr& e, int outer);

std::string List(const std::vector<Expr>& args) {
  std::string out;
  for (const Expr& arg : args) {
    absl::StrAppend(&out, out.empty() ? "" : ", ",
                    Text(arg, precedence::kConditional));
  }
  return out;
}

std::string UnaryText(const Expr& e, int outer) {
  // `not` takes in a comparison; so it needs brackets inside of one.
  const bool is_not = e.op == Op::kNot;
  const int own = is_not ? precedence::kComparison : precedence::kUnary;
  const std::string text =
      absl::StrCat(TextOf(e.op).text, Text(e.args[0], own));
  // The operand `not a` is always bracketed: a longer one would belong to a.
  const bool bracket =
      is_not ? outer > precedence::kAnd : outer > precedence::kUnary;
  return bracket ? absl::StrCat("(", text, ")") : text;
}

// `e` as an operand of something that binds with `outer`.
std::string Text(const Expr& e, int outer) {
  std::string out;
  int own = precedence::kPrimary;
  switch (e.kind) {
    case Expr::Kind::kInteger:
      return absl::StrCat(e.integer);
    case Expr::Kind::kReal:
      return RealText(e.real);
    case Expr::Kind::kName:
      return e.text;
    case Expr::Kind::kUnary:
      return UnaryText(e, outer);
    case Expr::Kind::kBinary: {
      const OpText op = TextOf(e.op);
      own = op.precedence;
      // Left associative, and comparisons don't chain at all.
      const int left = own == precedence::kComparison ? own + 1 : own;
      out = absl::StrCat(Text(e.args[0], left), op.text,
                         Text(e.args[1], own + 1));
      break;
    }
    case Expr::Kind::kConditional:
      own = precedence::kConditional;
      out = absl::StrCat(Text(e.args[0], precedence::kOr), " ? ",
                         Text(e.args[1], precedence::kConditional), " : ",
                         Text(e.args[2], precedence::kConditional));
      break;
    case Expr::Kind::kFunction:
      return absl::StrCat(
          e.text, "(",
          absl::StrReplaceAll(
              List(e.args),
              {{", ", e.name_kind == ast::NameKind::kArray ? ")(" : ", "}}),
          ")");
    case Expr::Kind::kConvert:
      return absl::StrCat(TypeName(e.type), "(", List(e.args), ")");
  }
  return own < outer ? absl::StrCat("(", out, ")") : out;
}

std::string Text(const ast::Range& range) {
  std::string out = absl::StrCat(Print(range.lower), ":", Print(range.upper));
  if (range.step != 1) absl::StrAppend(&out, ":", range.step);
  return out;
}

std::string Text(const std::vector<ast::Dimension>& dimensions,
                 absl::string_view between) {
  std::string out;
  for (const ast::Dimension& d : dimensions) {
    absl::StrAppend(&out, between, d.name.text, " = ", Text(d.range));
  }
  return out;
}

std::string Text(const ast::Call& call) {
  return absl::StrCat("call ", call.kernel.text, "(", List(call.args), ")");
}

std::string Text(absl::string_view before, const std::optional<Expr>& expr) {
  return expr ? absl::StrCat(before, Print(*expr)) : "";
}

std::string Text(const ast::Parameter& p) {
  std::string out = absl::StrCat("param ", p.name.text);
  if (p.element != ElementType::kInt64) {
    absl::StrAppend(&out, " : ", ElementName(p.element));
  }
  for (const ast::Name& name : p.from) {
    absl::StrAppend(&out, &name == &p.from.front() ? " from " : ", ",
                    name.text);
  }
  return absl::StrCat(out, Text(" = ", p.value), "\n");
}

std::string Text(const ast::Array& a) {
  std::string out = absl::StrCat("array ", a.name.text);
  for (const ast::Dimension& d : a.indices) {
    const std::string name =
        d.name.text.empty() ? "" : absl::StrCat(d.name.text, " = ");
    absl::StrAppend(&out, "(", name, Text(d.range), ")");
  }
  absl::StrAppend(&out, " : ", ElementName(a.element));
  if (!a.block.empty()) absl::StrAppend(&out, " [", List(a.block), "]");
  if (!a.place.empty()) absl::StrAppend(&out, " place ", List(a.place));
  return out + "\n";
}

std::string Text(const ast::Kernel& k) {
  std::string out;
  for (const ast::Formal& formal : k.formals) {
    absl::StrAppend(&out, out.empty() ? "" : ", ");
    if (formal.kind == ast::Formal::Kind::kIn) out += "in ";
    if (formal.kind == ast::Formal::Kind::kOut) out += "out ";
    out += formal.name.text;
  }
  out = absl::StrCat("kernel ", k.name.text, "(", out, ")");
  if (!k.library.empty()) absl::StrAppend(&out, " from \"", k.library, "\"");
  return out + "\n";
}

std::string Text(const ast::Include& include) {
  return absl::StrCat("include \"", include.file, "\"\n");
}

std::string Text(const ast::Input& input) {
  std::string out = absl::StrCat("input ", Print(input.ref));
  if (!input.dimensions.empty()) {
    absl::StrAppend(&out, " for", Text(input.dimensions, " "));
  }
  out += Text(" else ", input.else_value);
  if (input.else_call) absl::StrAppend(&out, " else ", Text(*input.else_call));
  return out + "\n";
}

std::string Text(const ast::Repeat& r) {
  return absl::StrCat(
      "repeat ", r.name.text, " = ", Print(r.rounds.lower), ":",
      Print(r.rounds.upper),
      r.rounds.step == 1 ? "" : absl::StrCat(":", r.rounds.step), " until ",
      Print(r.until), "\n");
}

std::string Text(const ast::Boundary& b) {
  const std::string value =
      b.periodic.text.empty() ? Print(b.value)
                              : absl::StrCat("periodic(", b.periodic.text, ")");
  return absl::StrCat("boundary ", Print(b.ref), " = ", value,
                      Text(" where ", b.where), "\n");
}

std::string Text(const ast::Reduction& r) {
  std::string out = absl::StrCat("reduce ", Print(r.ref), " = ",
                                 ReduceName(r.kind), "(", Print(r.source), ")");
  if (!r.dimensions.empty()) {
    absl::StrAppend(&out, " for", Text(r.dimensions, " "));
  }
  return absl::StrCat(out, " over", Text(r.over, " "), Text(" where ", r.where),
                      "\n");
}

std::string Text(const ast::Result& r) {
  std::string out = absl::StrCat("result ", Print(r.ref));
  if (!r.dimensions.empty()) {
    absl::StrAppend(&out, " for", Text(r.dimensions, " "));
  }
  out += Text(" where ", r.where);
  if (!r.file.empty()) absl::StrAppend(&out, " to \"", r.file, "\"");
  return out + "\n";
}

std::string Text(const ast::Task& task) {
  std::string out = absl::StrCat("task ", task.name.text, "\n  creates");
  const absl::string_view create_break =
      task.creates.size() == 1 ? " " : "\n    ";
  for (const ast::Create& c : task.creates) {
    absl::StrAppend(&out, create_break, Print(c.ref), " as ", c.name.text);
  }
  if (!task.dimensions.empty()) {
    absl::StrAppend(&out, "\n  for", Text(task.dimensions, "\n    "));
  }
  out += Text("\n  where ", task.where);
  if (!task.uses.empty()) out += "\n  using";
  for (const ast::Use& use : task.uses) {
    absl::StrAppend(&out, "\n    ", Print(use.ref), " as ", use.name.text,
                    Text(" where ", use.where), Text(" else ", use.else_value));
  }
  if (task.call) {
    absl::StrAppend(&out, "\n  ", Text(*task.call));
  } else {
    out += "\n  code";
    for (const ast::Statement& s : task.code) {
      absl::StrAppend(&out, "\n    ", s.target.text, " = ", Print(s.value));
    }
    out += "\n  end code";
  }
  return absl::StrCat(out, Text("\n  cost ", task.cost),
                      Text("\n  priority ", task.priority), "\nend task\n");
}

template <typename T>
void AppendAll(std::string& out, const std::vector<T>& items) {
  if (items.empty()) return;
  if (!out.empty()) out += "\n";
  for (const T& item : items) out += Text(item);
}

}  // namespace

std::string Print(const Expr& expr) {
  return Text(expr, precedence::kConditional);
}

std::string Print(const ast::Ref& ref) {
  std::string out = ref.array.text;
  for (size_t i = 0; i < ref.index.size(); ++i) {
    const bool is_slice = i < ref.is_slice.size() && ref.is_slice[i];
    absl::StrAppend(&out, "(", is_slice ? ":" : Print(ref.index[i]));
    if (i < ref.last.size() && ref.last[i]) {
      absl::StrAppend(&out, ":", Print(*ref.last[i]));
      if (ref.step[i] > 1) absl::StrAppend(&out, ":", ref.step[i]);
    }
    out += ")";
  }
  return out;
}

std::string Print(const ast::Program& program) {
  std::string out;
  AppendAll(out, program.includes);
  AppendAll(out, program.parameters);
  AppendAll(out, program.repeats);
  AppendAll(out, program.arrays);
  AppendAll(out, program.kernels);
  AppendAll(out, program.inputs);
  AppendAll(out, program.boundaries);
  for (const ast::Task& task : program.tasks) {
    absl::StrAppend(&out, out.empty() ? "" : "\n", Text(task));
  }
  AppendAll(out, program.reductions);
  AppendAll(out, program.results);
  return out;
}

absl::string_view TypeName(Type type) {
  switch (type) {
    case Type::kNone:
      return "none";
    case Type::kBool:
      return "bool";
    case Type::kInt64:
      return "int64";
    case Type::kFloat:
      return "float";
    case Type::kDouble:
      return "double";
  }
  return "none";
}

}  // namespace dogged::dsl
