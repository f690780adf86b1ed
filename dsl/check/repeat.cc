#include "dsl/check/repeat.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/check/type_check.h"
#include "dsl/text/functions.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

using ast::Expr;

Expr IntegerLiteral(int64_t value, SourceRange range) {
  Expr out;
  out.range = range;
  out.integer = value;
  return out;
}

Expr NameExpr(absl::string_view name, SourceRange range) {
  Expr out;
  out.kind = Expr::Kind::kName;
  out.range = range;
  out.text = std::string(name.data(), name.size());
  return out;
}

// Where `name` stands in `expr`; none if it does not.
SourceRange FindName(const Expr& expr, const std::string& name) {
  if (expr.kind == Expr::Kind::kName && expr.text == name) return expr.range;
  for (const Expr& arg : expr.args) {
    const SourceRange found = FindName(arg, name);
    if (!found.IsNone()) return found;
  }
  return {};
}

void Rename(const std::string& from, absl::string_view to, Expr& expr) {
  if (expr.kind == Expr::Kind::kName && expr.text == from) {
    expr.text = std::string(to.data(), to.size());
  }
  for (Expr& arg : expr.args) Rename(from, to, arg);
}

// Says where a loop's parameter can't stand: everywhere but in upper ends of
// ranges and in results, or a label's value would depend on the round.
class Places {
 public:
  Places(const std::string& name, Diagnostics& diagnostics)
      : name_(name), diagnostics_(diagnostics) {}

  void Program(const ast::Program& program) {
    for (const ast::Parameter& p : program.parameters) Optional(p.value);
    for (const ast::Array& a : program.arrays) {
      Upper(a.indices);
      All(a.block);
      All(a.place);
    }
    for (const ast::Input& input : program.inputs) {
      Reference(input.ref);
      Inner(input.dimensions);
      Optional(input.else_value);
      if (input.else_call) All(input.else_call->args);
    }
    for (const ast::Boundary& b : program.boundaries) {
      Reference(b.ref);
      Forbid(b.value);
      Optional(b.where);
    }
    for (const ast::Task& task : program.tasks) Task(task);
    for (const ast::Reduction& r : program.reductions) {
      Reference(r.ref);
      Reference(r.source);
      Upper(r.dimensions);
      Inner(r.over);
      Optional(r.where);
    }
    for (const ast::Result& r : program.results) {
      Upper(r.dimensions);
      Optional(r.where);
    }
  }

 private:
  void Task(const ast::Task& task) {
    for (const ast::Create& c : task.creates) Reference(c.ref);
    Upper(task.dimensions);
    Optional(task.where);
    for (const ast::Use& use : task.uses) {
      Reference(use.ref);
      Optional(use.where);
      Optional(use.else_value);
    }
    for (const ast::Statement& s : task.code) Forbid(s.value);
    if (task.call) All(task.call->args);
    Optional(task.cost);
    Optional(task.priority);
  }
  void Forbid(const Expr& expr) {
    const SourceRange found = FindName(expr, name_);
    if (found.IsNone()) return;
    diagnostics_
        .Error(Code::kRepeat, found,
               absl::StrCat(name_,
                            " is found by 'repeat', so it can't stand "
                            "here"))
        .Help("it ends ranges,  for t = 1:" + name_ +
              ",  and stands in results");
  }
  void Optional(const std::optional<Expr>& expr) {
    if (expr) Forbid(*expr);
  }
  void All(const std::vector<Expr>& exprs) {
    for (const Expr& expr : exprs) Forbid(expr);
  }
  void Reference(const ast::Ref& ref) { All(ref.index); }
  void Upper(const std::vector<ast::Dimension>& dimensions) {
    for (const ast::Dimension& d : dimensions) Forbid(d.range.lower);
  }
  void Inner(const std::vector<ast::Dimension>& dimensions) {
    Upper(dimensions);
    for (const ast::Dimension& d : dimensions) Forbid(d.range.upper);
  }

  const std::string& name_;
  Diagnostics& diagnostics_;
};

// Takes the labels out of a condition: each becomes a name under `using`. A
// label without indices is a name of `arrays`.
void TakeLabels(const std::set<std::string>& arrays, Expr& expr,
                std::vector<ast::Use>& uses) {
  const bool is_bare =
      expr.kind == Expr::Kind::kName && arrays.count(expr.text) > 0;
  if (is_bare || (expr.kind == Expr::Kind::kFunction &&
                  FindFunction(expr.text) == nullptr)) {
    ast::Use use;
    use.ref.array = {expr.text, expr.range};
    use.ref.index = std::move(expr.args);
    use.ref.is_slice.assign(use.ref.index.size(), false);
    use.ref.range = expr.range;
    use.name = {absl::StrCat(Print(use.ref)), expr.range};
    const bool is_known =
        std::any_of(uses.begin(), uses.end(), [&use](const ast::Use& other) {
          return other.name.text == use.name.text;
        });
    expr = NameExpr(use.name.text, expr.range);
    if (!is_known) uses.push_back(std::move(use));
    return;
  }
  for (Expr& arg : expr.args) TakeLabels(arrays, arg, uses);
}

// A name in a condition is a label without indices, which is a name under
// `using` by now, or a parameter. False if one is neither, and that is said.
bool CheckNames(const Expr& expr, const ast::Program& program,
                const std::set<std::string>& arrays,
                const std::vector<ast::Use>& uses, Diagnostics& diagnostics) {
  const auto is_its = [&expr](const auto& named) {
    return named.name.text == expr.text;
  };
  if (expr.kind == Expr::Kind::kName && expr.text != kRoundIndex &&
      std::none_of(uses.begin(), uses.end(), is_its) &&
      std::none_of(program.parameters.begin(), program.parameters.end(),
                   is_its)) {
    std::vector<std::string> known(arrays.begin(), arrays.end());
    for (const ast::Parameter& p : program.parameters) {
      known.push_back(p.name.text);
    }
    SayUnknownName(expr, known,
                   absl::StrCat("a condition is of labels, as in  change(",
                                program.repeats.front().name.text,
                                ") < 0.1,  and of parameters"),
                   diagnostics);
    return false;
  }
  return std::all_of(expr.args.begin(), expr.args.end(), [&](const Expr& arg) {
    return CheckNames(arg, program, arrays, uses, diagnostics);
  });
}

ast::Dimension Rounds(const ast::Repeat& repeat) {
  ast::Dimension out;
  out.name = {std::string(kRoundIndex), repeat.range};
  out.range = repeat.rounds;
  out.range.upper = NameExpr(repeat.name.text, repeat.name.range);
  return out;
}

ast::Ref ConditionRef(const ast::Repeat& repeat) {
  ast::Ref out;
  out.array = {std::string(kConditionArray), repeat.until.range};
  out.index.push_back(NameExpr(kRoundIndex, repeat.until.range));
  out.is_slice.push_back(false);
  out.range = repeat.until.range;
  return out;
}

void AddCondition(const ast::Repeat& repeat, ast::Program& program,
                  Diagnostics& diagnostics) {
  const SourceRange at = repeat.until.range;
  const std::set<std::string> arrays = ArrayNames(program);
  ast::Array array;
  array.name = {std::string(kConditionArray), at};
  array.indices.push_back(Rounds(repeat));
  array.indices.back().name = {};
  array.indices.back().range.step = 1;
  array.element = ElementType::kInt64;
  array.range = at;
  program.arrays.push_back(std::move(array));

  ast::Task task;
  task.name = {std::string(kConditionTask), at};
  // The created label has a name that no other has, even one without indices.
  const std::string ends(kConditionArray);
  task.creates.push_back({ConditionRef(repeat), {ends, at}});
  task.dimensions.push_back(Rounds(repeat));
  Expr condition = repeat.until;
  Rename(repeat.name.text, kRoundIndex, condition);
  TakeLabels(arrays, condition, task.uses);
  if (!CheckNames(condition, program, arrays, task.uses, diagnostics)) return;
  Expr value;
  value.kind = Expr::Kind::kConditional;
  value.range = at;
  value.args = {std::move(condition), IntegerLiteral(1, at),
                IntegerLiteral(0, at)};
  task.code.push_back({{ends, at}, std::move(value), at});
  task.range = at;
  program.tasks.push_back(std::move(task));

  ast::Result result;
  result.ref = ConditionRef(repeat);
  result.dimensions.push_back(Rounds(repeat));
  result.range = at;
  program.results.push_back(std::move(result));
}

}  // namespace

std::set<std::string> ArrayNames(const ast::Program& program) {
  std::set<std::string> out;
  for (const ast::Array& a : program.arrays) out.insert(a.name.text);
  for (const ast::Input& i : program.inputs) out.insert(i.ref.array.text);
  for (const ast::Boundary& b : program.boundaries) {
    out.insert(b.ref.array.text);
  }
  for (const ast::Task& task : program.tasks) {
    for (const ast::Create& c : task.creates) out.insert(c.ref.array.text);
  }
  for (const ast::Reduction& r : program.reductions) {
    out.insert(r.ref.array.text);
  }
  for (const ast::Parameter& p : program.parameters) out.erase(p.name.text);
  return out;
}

ast::Program WriteOutRepeat(ast::Program program, bool is_given,
                            Diagnostics& diagnostics) {
  if (program.repeats.empty()) return program;
  const ast::Repeat repeat = program.repeats.front();
  if (program.repeats.size() > 1) {
    diagnostics.Error(
        Code::kDefinedTwice, program.repeats[1].name.range,
        absl::StrCat("there is a 'repeat' already, on line ",
                     diagnostics.LineAndColumn(repeat.range.begin).first));
    return program;
  }
  Places(repeat.name.text, diagnostics).Program(program);
  ast::Parameter parameter;
  parameter.name = repeat.name;
  parameter.range = repeat.range;
  parameter.value = repeat.rounds.upper;
  program.parameters.push_back(std::move(parameter));
  if (is_given) {
    program.repeats.clear();
    return program;
  }
  AddCondition(repeat, program, diagnostics);
  return program;
}

void NameRounds(CheckedProgram& program) {
  if (!program.repeat) return;
  const auto rename = [&](CheckedDomain& domain) {
    for (CheckedDimension& dimension : domain.dimensions) {
      if (dimension.name != kRoundIndex) continue;
      dimension.name = program.parameters[program.repeat->parameter].name;
    }
  };
  for (CheckedTask& task : program.tasks) rename(task.domain);
  for (CheckedResult& result : program.results) rename(result.domain);
}

std::vector<std::string> ArraysOfCondition(const ast::Program& program) {
  Expr condition = program.repeats.front().until;
  std::vector<ast::Use> uses;
  TakeLabels(ArrayNames(program), condition, uses);
  std::vector<std::string> out;
  for (const ast::Use& use : uses) out.push_back(use.ref.array.text);
  return out;
}

namespace {

bool HasParameter(const LinearForm& form, int32_t parameter) {
  return form.params[parameter] != 0;
}

bool HasParameter(const CheckedGuard& guard, int32_t parameter) {
  for (const auto& all_of : guard.any_of) {
    for (const CheckedConstraint& c : all_of) {
      if (HasParameter(c.form, parameter)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<AffineExpr> TimeOf(const CheckedDomain& domain,
                                 const CheckedProgram& program) {
  if (!program.repeat) return AffineExpr();
  const int32_t p = program.repeat->parameter;
  const CheckedParameter& parameter = program.parameters[p];
  AffineExpr out = AffineExpr::Constant(program.repeat->first);
  int bounds = 0;
  bool is_plain = !parameter.is_fixed && !HasParameter(domain.guard, p);
  for (size_t d = 0; d < domain.dimensions.size(); ++d) {
    for (const CheckedBound& bound : domain.dimensions[d].lower) {
      is_plain &= !HasParameter(bound.form, p);
    }
    for (const CheckedBound& bound : domain.dimensions[d].upper) {
      if (!HasParameter(bound.form, p)) continue;
      is_plain &=
          ++bounds == 1 && bound.divisor == 1 && bound.form.params[p] == 1;
      out = AffineExpr::Index(static_cast<int>(d)) -
            Instantiate(bound.form, program) +
            AffineExpr::Constant(parameter.integer);
    }
  }
  if (!is_plain) return std::nullopt;
  return out;
}

}  // namespace dogged::dsl
