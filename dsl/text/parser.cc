#include "dsl/text/parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/text/other_languages.h"
#include "dsl/text/print.h"
#include "dsl/text/reference_parser.h"

namespace dogged::dsl {
namespace {

constexpr Token::Kind kName = Token::Kind::kName;
constexpr char kOrderOfTask[] =
    "a task is  creates, for, where, using, code or call, cost, priority  in "
    "this order";

bool StartsDeclaration(const Token& token) {
  static constexpr absl::string_view kStarts[] = {
      "param", "array",  "input",   "kernel", "boundary",
      "task",  "result", "include", "repeat", "reduce"};
  if (token.kind != Token::Kind::kWord) return false;
  return std::find(std::begin(kStarts), std::end(kStarts), token.text) !=
         std::end(kStarts);
}

// After the first error in a declaration nothing more is said and every loop
// ends, until Recover() finds the next declaration.
class Parser : private ReferenceParser {
 public:
  explicit Parser(Diagnostics& diagnostics) : ReferenceParser(diagnostics) {}

  ast::Program Run() {
    ast::Program program;
    while (Peek().kind != Token::Kind::kEnd) {
      Restart();
      in_task_ = false;
      SetTakesLabels(false);
      const size_t start = position();
      Declaration(program);
      if (failed()) Recover(start);
    }
    return program;
  }

 private:
  // Goes behind `end task`, or to where the next declaration starts a line.
  void Recover(size_t start) {
    if (position() == start) Next();
    while (Peek().kind != Token::Kind::kEnd) {
      if (in_task_ && Peek().Is("end") && Peek(1).Is("task")) {
        Next();
        Next();
        return;
      }
      if (Peek().starts_line && StartsDeclaration(Peek())) return;
      Next();
    }
  }

  // --- Declarations -------------------------------------------------------
  void Declaration(ast::Program& program) {
    if (At("param")) {
      Keep(program.parameters, ParameterDeclaration());
    } else if (At("array")) {
      Keep(program.arrays, ArrayDeclaration());
    } else if (At("input")) {
      Keep(program.inputs, InputDeclaration());
    } else if (At("kernel")) {
      Keep(program.kernels, KernelDeclaration());
    } else if (At("boundary")) {
      Keep(program.boundaries, BoundaryDeclaration());
    } else if (At("task")) {
      Keep(program.tasks, TaskDeclaration());
    } else if (At("reduce")) {
      Keep(program.reductions, ReductionDeclaration());
    } else if (At("result")) {
      Keep(program.results, ResultDeclaration());
    } else if (At("include")) {
      Keep(program.includes, IncludeDeclaration());
    } else if (At("repeat")) {
      Keep(program.repeats, RepeatDeclaration());
    } else {
      static const std::vector<std::string> starts = {
          "param",    "array", "input",  "kernel", "repeat",
          "boundary", "task",  "reduce", "result"};
      const bool goes_on = !Peek().starts_line && position() > 0;
      Fail(absl::StrCat("expected ",
                        goes_on ? "the end of the line" : "a declaration",
                        ", found ", Shown(Peek()),
                        goes_on ? "" : DidYouMean(Peek().text, starts)))
          .Help(goes_on ? HelpBehindDeclaration() : HelpWithoutDeclaration());
    }
  }
  std::string HelpBehindDeclaration() const {
    if (Peek().text == "if") return "a condition begins with  where";
    if (Peek().Is("=")) return "a comparison is  a == b";
    if (Peek().Is("for"))
      return "the indices need no range here; where x > 0  leaves some out";
    if (Peek().Is(")")) return "there is no '(' for it";
    if (Peek(1).Is("=")) return "every parameter has a  param  of its own";
    return LacksOperator() ? "a product needs a *" : "";
  }
  std::string HelpWithoutDeclaration() {
    if (Peek().Is("/")) return "a comment begins with #";
    // N = 3,  or  double c = 0.1
    const bool has_type =
        FindElement(Peek()) || (Peek().kind == kName && !Peek(1).Is("="));
    const Token& name = Peek(has_type ? 1 : 0);
    if (name.kind == kName && Peek(has_type ? 2 : 1).Is("=")) {
      const bool is_real = Peek(has_type ? 3 : 2).kind == Token::Kind::kReal;
      return absl::StrCat("a parameter is  param ", name.text,
                          is_real ? " : double = ..." : " = ...");
    }
    if (Peek().kind == kName && (Peek(1).Is("(") || Peek(1).Is("["))) {
      return absl::StrCat("a task makes values:  task NAME  creates ",
                          Peek().text, "(...) as n  for ...  using ...");
    }
    return "param, array, input, kernel, boundary, task, reduce or result";
  }
  template <typename T>
  void Keep(std::vector<T>& list, T item) {
    if (!failed()) list.push_back(std::move(item));
  }

  ast::Include IncludeDeclaration() {
    ast::Include out;
    const SourceRange begin = Next().range;
    const bool is_alone = Last().starts_line;
    if (is_alone && Peek().kind == Token::Kind::kString &&
        !Peek().starts_line &&
        (Peek(1).starts_line || Peek(1).kind == Token::Kind::kEnd)) {
      out.file = Next().text;
    } else {
      Fail("'include' and a file in quotes have a line of their own")
          .Help("as in  include \"grid.dog\"");
    }
    out.range = Since(begin);
    return out;
  }

  ast::Parameter ParameterDeclaration() {
    ast::Parameter out;
    const SourceRange begin = Next().range;
    out.name = TakeName("the name of a parameter");
    if (Accept(":")) out.element = Element();
    if (Accept("from")) {
      do {
        out.from.push_back(TakeName("the name of an input"));
      } while (Accept(","));
    }
    if (Accept("=")) out.value = Expression();
    out.range = Since(begin);
    return out;
  }

  ast::Repeat RepeatDeclaration() {
    ast::Repeat out;
    const SourceRange begin = Next().range;
    out.name = TakeName("the parameter that is found");
    Expect("=", "and the values that it may have");
    out.rounds = RangeExpression();
    Expect("until", "and the condition that ends the loop");
    SetTakesLabels(true);
    out.until = Expression();
    SetTakesLabels(false);
    out.range = Since(begin);
    return out;
  }

  ElementType Element() {
    if (const auto element = FindElement(Peek()); element && !failed()) {
      Next();
      return *element;
    }
    FailExpected("double, float or int64").Help(HelpWithType(Peek().text));
    return ElementType::kDouble;
  }

  ast::Array ArrayDeclaration() {
    ast::Array out;
    const SourceRange begin = Next().range;
    out.name = TakeName("the name of an array");
    while (Accept("(")) {
      ast::Dimension index;
      if (AtName() && Peek(1).Is("=")) {
        index.name = TakeName("the name of an index");
        Expect("=", "behind the name of an index");
      } else if (AtName() && (Peek(1).Is(")") || Peek(1).Is(","))) {
        Fail(absl::StrCat("expected the range of an index, found ",
                          Shown(Peek())))
            .Help(absl::StrCat("as in  array ", out.name.text,
                               "(x = 0:N-1)(y = 0:M-1) : double"));
      }
      index.range = RangeExpression();
      Expect(")", "behind the range of an index",
             At(",") ? "each index stands in brackets of its own" : "");
      out.indices.push_back(std::move(index));
    }
    const bool is_square = out.indices.empty() && At("[");
    const bool is_block = !is_square && At("[");
    Expect(":", "and the type of the values",
           absl::StrCat(is_block ? "the extents of a value stand behind its "
                                   "type, as in  array "
                                 : "as in  array ",
                        out.name.text, is_square ? "(x = 0:N-1)" : "(...)",
                        is_block ? " : double[8]" : " : double"));
    out.element = Element();
    if (Accept("[")) {
      do {
        out.block.push_back(Expression());
      } while (Accept(","));
      Expect("]", "behind the extents of a value");
    }
    if (Accept("place")) {
      do {
        out.place.push_back(Expression());
      } while (Accept(","));
    }
    out.range = Since(begin);
    return out;
  }

  ast::Input InputDeclaration() {
    ast::Input out;
    const SourceRange begin = Next().range;
    out.ref = Reference(false);
    if (Accept("for")) out.dimensions = Dimensions();
    if (At("from") || At("=")) {
      Fail("the program does not name the file of an input")
          .Help(absl::StrCat("a run is given it:  ",
                             InputWords(diagnostics().given_by(),
                                        out.ref.array.text, "FILE.npy")));
    } else if (Accept("else")) {
      if (At("call")) {
        out.else_call = CallClause();
      } else {
        out.else_value = Expression();
      }
    }
    out.range = Since(begin);
    return out;
  }

  ast::Kernel KernelDeclaration() {
    ast::Kernel out;
    const SourceRange begin = Next().range;
    out.name = TakeName("the name of a kernel");
    Expect("(", "and the arguments of the kernel");
    do {
      ast::Formal formal{.kind = ast::Formal::Kind::kScalar, .name = {}};
      if (Accept("in")) formal.kind = ast::Formal::Kind::kIn;
      if (Accept("out")) formal.kind = ast::Formal::Kind::kOut;
      formal.name = TakeName("the name of an argument");
      if (formal.name.text == "inout" && !At(",") && !At(")")) {
        Fail("arguments of a kernel are 'in' or 'out'")
            .Help("what it changes is two of them:  in a, out b");
      }
      out.formals.push_back(std::move(formal));
    } while (Accept(","));
    Expect(")", "behind the arguments of a kernel",
           AtName() ? "an argument is  in a  or  out a,  or a number, by its "
                      "name alone"
                    : "");
    if (Accept("from")) out.library = TakeString("the file of the kernel");
    out.range = Since(begin);
    return out;
  }

  std::string TakeString(absl::string_view what) {
    if (!failed() && Peek().kind == Token::Kind::kString) return Next().text;
    Fail(absl::StrCat("expected ", what, " in quotes, found ", Shown(Peek())));
    return "";
  }

  ast::Boundary BoundaryDeclaration() {
    ast::Boundary out;
    const SourceRange begin = Next().range;
    out.ref = Reference(false);
    Expect("=", "and the value of the boundary");
    if (AtName() && Peek().text == "periodic" && Peek(1).Is("(")) {
      Next();
      Next();
      out.periodic = TakeName("the index that is periodic");
      Expect(")", "behind the index");
    } else {
      SetLabelHelp("a boundary reads no labels: let a task make these points");
      out.value = Expression();
      SetLabelHelp("");
    }
    if (Accept("where")) out.where = Expression();
    out.range = Since(begin);
    return out;
  }

  ast::Reduction ReductionDeclaration() {
    ast::Reduction out;
    const SourceRange begin = Next().range;
    out.ref = Reference(false);
    Expect("=", "and what is made of the values");
    const std::string word = AtName() ? Peek().text : "";
    const auto kind = FindReduceKind(word);
    if (!failed() && !kind) {
      Fail(absl::StrCat("expected sum, min, max, norm2 or normmax, found ",
                        Shown(Peek()), DidYouMean(word, ReduceNames())))
          .Help(
              "as in  reduce heat(t) = sum(phi(x)(t)) for t = 0:T over "
              "x = 1:N-2");
    }
    if (!failed()) Next();
    out.kind = kind.value_or(ReduceKind::kSum);
    Expect("(", "and the labels");
    out.source = Reference(false);
    if (!failed() && !At(")")) {
      Fail(
          absl::StrCat("expected ')' behind the labels, found ", Shown(Peek())))
          .Help("let a task make labels of what is to be reduced");
    }
    Expect(")", "behind the labels");
    if (Accept("for")) out.dimensions = Dimensions();
    if (Accept("over")) {
      out.over = Dimensions();
    } else {
      Fail(absl::StrCat("expected 'over' and the indices that go, found ",
                        Shown(Peek())))
          .Help(absl::StrCat("as in  reduce ", Print(out.ref), " = ", word, "(",
                             Print(out.source), ") over x = 0:N-1"));
    }
    if (Accept("where")) out.where = Expression();
    out.range = Since(begin);
    return out;
  }

  ast::Result ResultDeclaration() {
    ast::Result out;
    const SourceRange begin = Next().range;
    out.ref = Reference(true);
    if (Accept("for")) out.dimensions = Dimensions();
    if (Accept("where")) out.where = Expression();
    IndexBehindWhere(out.where);
    if (Accept("to")) {
      out.file_range = Peek().range;
      out.file = TakeString("the file of the result");
    }
    out.range = Since(begin);
    return out;
  }

  // --- Tasks --------------------------------------------------------------
  ast::Task TaskDeclaration() {
    ast::Task out;
    in_task_ = true;
    const SourceRange begin = Next().range;
    out.name = TakeName("the name of a task");
    Expect("creates", "behind the name of the task",
           absl::StrCat("as in  task ", out.name.text,
                        "  creates u(x)(t) as n  for ..."));
    do {
      ast::Create create;
      create.ref = Reference(false);
      create.name = TakeAs(create.ref);
      out.creates.push_back(std::move(create));
      Accept(",");
    } while (AtName());
    if (Accept("for")) out.dimensions = Dimensions();
    if (Accept("where")) out.where = Expression();
    IndexBehindWhere(out.where);
    if (Accept("using")) Uses(out);
    Body(out);
    if (Accept("cost")) out.cost = Expression();
    if (Accept("priority")) out.priority = Expression();
    if (!failed() && !At("end")) FailInTask("'end task'", out);
    Expect("end", "and 'task' behind a task");
    Expect("task", "behind 'end'");
    out.range = Since(begin);
    return out;
  }

  void FailInTask(absl::string_view expected, const ast::Task& task) {
    const ast::Create& last = task.creates.back();
    const bool is_second = At("creates");
    const bool is_for = At("for");
    if (Peek().text == "endtask") Fail("'end task' is two words");
    Fail(absl::StrCat(
             "expected ", expected, ", found ", Shown(Peek()),
             Peek().kind == kName ? DidYouMean(Peek().text, Clauses()) : ""))
        .Help(Peek().Is("=") ? "a comparison is  a == b"
              : is_for       ? "one 'for' names all indices:  for x = 0:N-1  "
                               "t = 1:T"
              : is_second
                  ? absl::StrCat("one 'creates' is for all:  creates ",
                                 Print(last.ref), " as ", last.name.text,
                                 "  and the next label behind it")
                  : kOrderOfTask);
  }

  // Says so where code begins without the word for it: as  n = ...,  or behind
  // another language's word.
  void CodeInPlaceOf(const ast::Ref& ref) {
    if (failed() || !ref.index.empty()) return;
    const bool is_set = At("=") || (AtName() && Peek(1).Is("="));
    const bool is_misspelt = !DidYouMean(ref.array.text, Clauses()).empty();
    if (!is_set || is_misspelt) return;
    FailAt(ref.range,
           absl::StrCat("expected 'code', found '", ref.array.text, "'"))
        .Help("what a task computes stands between 'code' and 'end code'");
  }

  void Uses(ast::Task& out) {
    do {
      ast::Use use;
      SetTakesLabels(true);
      use.ref = Reference(false);
      SetTakesLabels(false);
      if (use.ref.array.text == "if" && use.ref.index.empty()) {
        Fail("a condition begins with 'where'")
            .Help("as in  u(x-1)(t) as w where x > 0 else 0");
      }
      CodeInPlaceOf(use.ref);
      use.name = TakeAs(use.ref);
      if (Accept("where")) use.where = Expression();
      if (Accept("else")) use.else_value = Expression();
      out.uses.push_back(std::move(use));
      Accept(",");
    } while (AtName());
  }

  void Body(ast::Task& out) {
    if (At("call")) {
      out.call = CallClause();
      return;
    }
    if (!failed() && !At("code")) FailInTask("'code' or 'call'", out);
    Expect("code", "and what the task computes");
    SetInCode(true);
    while (!failed() && !At("end")) out.code.push_back(CodeStatement());
    SetInCode(false);
    Expect("end", "and 'code' behind the code");
    Expect("code", "behind 'end'",
           "'end code' ends the code, 'end task' the task");
  }

  std::string HelpWithSign() const {
    if (Peek().Is("["))
      return "code computes with names:  using u(x-1)(t) as l";
    if (Peek().Is(":") && Last().Is("code")) return "'code' stands alone";
    if (Peek().Is("=")) return "does the line before end with an operator?";
    if (Peek().Is("(") && !Peek().starts_line) return "a product needs a *";
    return "put an operator at the end of the line that goes on";
  }

  // Says so where none can begin.
  void StartOfStatement() {
    const Token& token = Peek();
    const bool sets = Peek(1).Is("=");
    const std::string help = HelpWithStatement(token.text);
    if (token.Is(")")) {
      Fail("this ')' closes nothing").Help("there is no '(' before it");
    } else if (token.kind == Token::Kind::kSign) {
      Fail(absl::StrCat("a line of code can't start with ", Shown(token)))
          .Help(HelpWithSign());
    } else if (!token.starts_line && !Last().Is("code")) {
      Fail(absl::StrCat("expected an operator or the end of the line, found ",
                        Shown(token)))
          .Help(LacksOperator()       ? "a product needs a *"
                : Last().text == "if" ? HelpWithStatement("if")
                : token.text == "if"  ? help
                                      : "");
    } else if (!sets && !help.empty()) {
      Fail(absl::StrCat("a line of code can't start with ", Shown(token)))
          .Help(help);
    } else if (!sets && token.text == "endcode") {
      Fail("'end code' is two words");
    } else if (token.kind == Token::Kind::kWord) {
      Fail(absl::StrCat("expected 'end code', found ", Shown(token)))
          .Help(StartsDeclaration(token) ? "" : kOrderOfTask);
    }
  }

  ast::Statement CodeStatement() {
    ast::Statement out;
    StartOfStatement();
    const SourceRange begin = Peek().range;
    out.target = TakeName("the value that is set");
    if (!failed() && At("(")) {
      Fail("code sets the names behind 'as', not labels")
          .Help("as in  creates phi(x)(t) as n  and  n = ...");
    }
    const bool adds = (At("+") || At("-") || At("*")) && Peek(1).Is("=");
    Expect("=", "behind the value that is set",
           adds ? "a name is set once:  s = n + a"
                : "as in  n = a + b,  or  n = c > 0 ? a : b");
    out.value = Expression();
    out.range = Since(begin);
    return out;
  }

  ast::Call CallClause() {
    ast::Call out;
    const SourceRange begin = Next().range;
    out.kernel = TakeName("the name of a kernel");
    Expect("(", "and the arguments");
    out.args = Arguments();
    out.range = Since(begin);
    return out;
  }

  bool in_task_ = false;
};

}  // namespace

ast::Program Parse(Diagnostics& diagnostics) {
  return Parser(diagnostics).Run();
}

}  // namespace dogged::dsl
