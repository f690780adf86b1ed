// Affine forms of integer expressions: indices, bounds of ranges, conditions.
// An expression of parameters alone may be of any form: it becomes a number,
// and its parameters count as fixed.
#ifndef DOGGED_DSL_CHECK_AFFINE_FORM_H_
#define DOGGED_DSL_CHECK_AFFINE_FORM_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/checked.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// `expr` is typed and uses parameters and `dim_count` dimensions only. Each of
// these returns nothing after an error that has been reported, and may set
// is_fixed in `program`.
class AffineForms {
 public:
  AffineForms(int dim_count, CheckedProgram& program, Diagnostics& diagnostics)
      : dim_count_(static_cast<size_t>(dim_count)),
        program_(program),
        diagnostics_(diagnostics) {}

  // The help of an error where an expression is not affine; empty:
  // HelpWithIndex().
  void SetHelp(std::string help) { help_ = std::move(help); }
  // Indices of what a task reads: they may be read from tables.
  void SetTakesTables() { takes_tables_ = true; }
  // An index of a label.
  std::optional<LinearForm> Index(const ast::Expr& expr);
  // An index as an affine form and what is left, which is no form and to be
  // known by its values: elements of inputs, int64(...) of indices. Nothing is
  // left of what IsOfTables() is false for.
  struct Split {
    LinearForm form;
    std::optional<ast::Expr> rest;
  };
  std::optional<Split> IndexOfTables(const ast::Expr& expr);
  bool IsOfTables(const ast::Expr& expr) const;
  // The lower end of a range: max(...) gives several, a / c a divisor.
  std::optional<std::vector<CheckedBound>> Lower(const ast::Expr& expr);
  // The upper end: min(...) gives several.
  std::optional<std::vector<CheckedBound>> Upper(const ast::Expr& expr);
  // A condition as alternatives of constraints.
  std::optional<CheckedGuard> Condition(const ast::Expr& expr);

  // dimension d.
  LinearForm Dimension(int d) const;
  LinearForm Constant(int64_t value) const;

 private:
  using Bounds = std::vector<CheckedBound>;  // floor(form / divisor) each
  using Alternatives = std::vector<std::vector<CheckedConstraint>>;

  // `form` again, unless indices made of it could leave int64.
  std::optional<LinearForm> Fitting(LinearForm form, const ast::Expr& expr);
  std::optional<LinearForm> Linear(const ast::Expr& expr);
  std::optional<LinearForm> Product(const ast::Expr& expr);
  std::optional<LinearForm> ByNumber(const ast::Expr& expr);
  std::optional<int64_t> Number(const ast::Expr& expr);
  std::optional<Bounds> Floors(const ast::Expr& expr, bool is_lower);
  std::optional<Alternatives> Cases(const ast::Expr& expr, bool negated);
  std::optional<Alternatives> ComparisonCases(const ast::Expr& expr,
                                              bool negated);
  std::optional<Alternatives> Remainder(const ast::Expr& modulo,
                                        const ast::Expr& value, bool equal);
  bool UsesDimensions(const ast::Expr& expr) const;
  void Fix(const ast::Expr& expr);
  std::nullopt_t NotAffine(const ast::Expr& expr);

  size_t dim_count_;
  CheckedProgram& program_;
  Diagnostics& diagnostics_;
  std::string help_;
  bool takes_tables_ = false;
};

// a * factor_a + b * factor_b; none on overflow of the bound that keeps all
// index arithmetic within int64.
std::optional<LinearForm> Combine(const LinearForm& a, int64_t factor_a,
                                  const LinearForm& b, int64_t factor_b);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_AFFINE_FORM_H_
