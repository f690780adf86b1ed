// The one class behind Check(); its functions are in check_parameters.cc,
// check.cc (the other declarations), check_task.cc (tasks and their parts) and
// check_reduction.cc.
#ifndef DOGGED_DSL_CHECK_CHECKER_H_
#define DOGGED_DSL_CHECK_CHECKER_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/check/affine_form.h"
#include "dsl/check/check.h"
#include "dsl/check/checked.h"
#include "dsl/check/mentions.h"
#include "dsl/check/type_check.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

class Checker {
 public:
  Checker(const CheckOptions& options, Diagnostics& diagnostics)
      : options_(options), diagnostics_(diagnostics) {}

  CheckedProgram Run(const ast::Program& program);

 private:
  // --- check_parameters.cc ---
  void Parameters(const ast::Program& program);
  void Parameter(const ast::Parameter& declared);
  bool GivenValue(absl::string_view text, CheckedParameter& parameter);
  bool DefaultValue(const ast::Parameter& declared, CheckedParameter& out);
  // False if the default `value`, typed, loses its digits behind the point.
  bool KeepsItsValue(const ast::Expr& value, const CheckedParameter& out);
  Scope ParameterScope() const;

  // --- Declarations: check.cc ---
  void DeclareArray(const ast::Array& declared);
  void DeclareKernel(const ast::Kernel& declared);
  void MatchNative(const ast::Kernel& declared);
  void Input(const ast::Input& declared);
  void InputFiles(const ast::Program& program);
  void FileIndices(const ast::Input& declared, const CheckedTask& task);
  void Boundary(const ast::Boundary& declared);
  bool Periodic(const ast::Boundary& declared, CheckedBoundary& out);
  static void NameRanges(ast::Ref& ref,
                         std::vector<ast::Dimension>& dimensions);
  void CheckFile(const ast::Result& result);
  void Result(const ast::Result& declared);
  void Repeat(const ast::Repeat& declared);
  void Creators(const ast::Program& program);

  // --- Tasks: check_task.cc ---
  void Task(const ast::Task& declared);
  void Reduction(const ast::Reduction& declared);
  void TypeReductions();
  void CheckReductionType(const CheckedTask& task);
  void Uses(const ast::Task& declared, const Scope& scope, CheckedTask& task);
  void Code(const ast::Task& declared, Scope scope, CheckedTask& task);
  void Call(const ast::Call& call, Scope& scope, CheckedTask& task);
  // Cost and priority of a task.
  void Hints(const ast::Task& declared, Scope& scope, CheckedTask& task);
  // Checks the argument of one formal.
  bool Argument(const ast::Expr& arg, Scope& scope, const CheckedTask& task,
                CheckedArgument& out);
  void CheckElements(const ast::Call& call, const CheckedKernel& kernel,
                     const CheckedTask& task);
  // Dimensions, added to `scope` one after another, and their steps. The
  // program's names are in `scope` already.
  CheckedDomain DomainOf(const std::vector<ast::Dimension>& dimensions,
                         Scope& scope);
  // Conjoins `where`.
  void Restrict(const std::optional<ast::Expr>& where, Scope& scope,
                int dim_count, CheckedGuard& guard);
  // None after an error. Slices are left as forms of zero.
  std::optional<CheckedRef> RefOf(const ast::Ref& ref, Scope& scope,
                                  int dim_count);
  // The array of that name, inferred from `ref` if there is none yet; none if
  // the number of indices differs.
  std::optional<int32_t> ArrayOf(const ast::Ref& ref);
  // Typed, and of type `to`.
  std::optional<ast::Expr> ValueOf(const ast::Expr& expr, Type to,
                                   absl::string_view what, Scope& scope);
  bool AddName(const ast::Name& name, ast::NameKind kind, int32_t index,
               Type type, bool is_block, Scope& scope);

  CheckedArray& ArrayAt(int32_t index) {
    return program_.arrays[static_cast<size_t>(index)];
  }

  const CheckOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<std::string> array_names_;
  Mentions mentions_;
  std::string create_help_;  // while a task's create is looked at
  bool is_use_ = false;      // or a label under `using`
  CheckedProgram program_;
};

// A conjoined with B: alternatives multiply out.
CheckedGuard Conjoin(const CheckedGuard& a, const CheckedGuard& b);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECKER_H_
