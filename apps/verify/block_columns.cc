#include "apps/verify/block_columns.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/tiles/tile_call.h"
#include "apps/verify/kernel_calls.h"
#include "apps/verify/parts.h"
#include "apps/verify/scale.h"
#include "apps/verify/square_sum.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using blas::ConstMatrix;
using blas::Matrix;
using Step = BlockColumns::Step;

// The part of a factor on and above the diagonal, scaled, zeros below.
Value UpperPart(const Step& step, const Scale& scale) {
  const int64_t rows = RowCount(step.factor);
  Value out = Value::Allocate(ElementType::kDouble, {rows, step.columns});
  const Matrix to = MutableMatrixOf(out);
  const ConstMatrix from = MatrixOf(step.factor);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < step.columns; ++j) {
      to(i, j) = i <= step.first + j ? scale(from(i, j)) : 0;
    }
  }
  return out;
}

// Sums of squares: of A, of the difference of the undone steps from A, and of
// the difference of the steps on A from the triangle.
struct Sums {
  SquareSum a;
  SquareSum back;
  SquareSum forth;

  void Add(const Sums& other) {
    a.Add(other.a);
    back.Add(other.back);
    forth.Add(other.forth);
  }
};

// Adds the squares of left - right.
void AddDistance(const Value& left, const Value& right, SquareSum& sum) {
  const auto a = left.span<double>();
  const auto b = right.span<double>();
  std::vector<double> apart(a.size());
  for (size_t i = 0; i < a.size(); ++i) apart[i] = a[i] - b[i];
  sum.Add(apart);
}

// x: the solution of (upper triangle of the factors, scaled) * x = x.
void SolveUpper(const BlockColumns& columns, const Scale& scale,
                std::vector<double>& x) {
  for (auto step = columns.steps.rbegin(); step != columns.steps.rend();
       ++step) {
    const ConstMatrix u = MatrixOf(step->factor);
    for (int64_t j = step->columns - 1; j >= 0; --j) {
      const int64_t at = step->first + j;
      const double found = x[at] / scale(u(at, j));
      x[at] = found;
      for (int64_t i = 0; i < at; ++i) {
        x[i] -= scale(u(i, j)) * found;
      }
    }
  }
}

// sum += factor * (block column) * (its part of x).
void AddProduct(const Step& step, const Value& a, double factor,
                const std::vector<double>& x, std::vector<double>& sum) {
  const ConstMatrix matrix = MatrixOf(a);
  for (int64_t i = 0; i < RowCount(a); ++i) {
    double part = 0;
    for (int64_t j = 0; j < step.columns; ++j) {
      part += matrix(i, j) * x[step.first + j];
    }
    sum[i] += factor * part;
  }
}

bool HasZeroOnDiagonal(const BlockColumns& columns) {
  for (const Step& step : columns.steps) {
    const ConstMatrix u = MatrixOf(step.factor);
    for (int64_t j = 0; j < step.columns; ++j) {
      if (u(step.first + j, j) == 0) return true;
    }
  }
  return false;
}

// All that the parts of a check need.
struct Case {
  const Job& job;
  const KernelTable& kernels;
  const BlockColumnForm& form;
  const BlockColumns& columns;
  int threads;
  Relations relations;
  Scale scale;
  // By block column.
  std::vector<std::vector<double>> products;

  absl::StatusOr<Value> Make(size_t j) const {
    const Label& label = form.steps[j].input;
    DOGGED_ASSIGN_OR_RETURN(Value a, MakeTile(relations, kernels, label));
    DOGGED_ASSIGN_OR_RETURN(
        a, InDoubles(job.program, label, std::move(a), columns.rows,
                     columns.steps[j].columns));
    a = TakeOrCopy(a);
    scale.Apply(a.mutable_span<double>());
    return a;
  }
  absl::Status ForEachColumn(
      absl::FunctionRef<absl::Status(size_t j)> body) const {
    return ForEachPart(std::ssize(columns.steps), threads,
                       [&](int64_t j) { return body(static_cast<size_t>(j)); });
  }
  // products[j] = factor * (block column j) * (its part of x).
  void Multiply(size_t j, const Value& a, double factor,
                const std::vector<double>& x) {
    products[j].assign(static_cast<size_t>(columns.rows), 0);
    AddProduct(columns.steps[j], a, factor, x, products[j]);
  }
};

absl::Status FindScale(Case& it) {
  std::vector<double> largest(it.columns.steps.size());
  DOGGED_RETURN_IF_ERROR(it.ForEachColumn([&](size_t j) -> absl::Status {
    DOGGED_ASSIGN_OR_RETURN(const Value a, it.Make(j));
    largest[j] = LargestOf(a.span<double>());
    return absl::OkStatus();
  }));
  it.scale = Scale::For(LargestOf(largest));
  return absl::OkStatus();
}

// ||A x - b|| / (unit ||x||) for the x that the factors give for b = A *
// `known`, which the products of `it` are the parts of.
absl::Status JudgeSolve(Case& it, const ColumnAlgebra& algebra, double unit,
                        Verdict& verdict) {
  std::vector<double> b(static_cast<size_t>(it.columns.rows), 0);
  AddInOrder(it.products, b);
  std::vector<double> x = b;
  for (const Step& step : it.columns.steps) {
    algebra.apply(step, 1, {x.data(), 1});
  }
  SolveUpper(it.columns, it.scale, x);
  DOGGED_RETURN_IF_ERROR(it.ForEachColumn([&](size_t j) -> absl::Status {
    DOGGED_ASSIGN_OR_RETURN(const Value a, it.Make(j));
    it.Multiply(j, a, -1, x);
    return absl::OkStatus();
  }));
  AddInOrder(it.products, b);
  verdict.solve_error = NormOf(b) / unit / NormOf(x);
  if (std::isfinite(verdict.solve_error)) return absl::OkStatus();
  verdict.unsolved = HasZeroOnDiagonal(it.columns)
                         ? "the matrix is singular"
                         : "the solution is not finite";
  return absl::OkStatus();
}

}  // namespace

std::optional<BlockColumnForm> FindBlockColumns(const Relations& relations,
                                                absl::string_view kernel,
                                                absl::string_view update) {
  const KernelCalls calls(relations);
  const auto steps = FindFactorSteps(calls, kernel, update);
  if (!steps.has_value()) return std::nullopt;
  const auto row_of = [&calls](const KernelCalls::Call& call) {
    return static_cast<int64_t>(calls.ScalarOf(call, 0));
  };
  // The factor itself, or its rows from the step's first on.
  const auto is_factor = [&](const Label& label,
                             const BlockColumnForm::Step& step) {
    if (label == step.factor) return true;
    const std::optional<KernelCalls::Call> part = calls.MakerOf(label);
    return part.has_value() && part->kernel == "rows_from" &&
           part->in[0] == step.factor && row_of(*part) == step.first;
  };
  BlockColumnForm form;
  for (const auto& [call, history] : *steps) {
    for (size_t k = 0; k < form.steps.size(); ++k) {
      const KernelCalls::Call& done = history.steps[k];
      const BlockColumnForm::Step& step = form.steps[k];
      if (!is_factor(done.in[1], step) || done.in[2] != step.extra ||
          row_of(done) != step.first) {
        return std::nullopt;
      }
    }
    form.steps.push_back({.input = history.origin,
                          .factor = call.out[0],
                          .extra = call.out[1],
                          .first = row_of(call)});
  }
  return form;
}

absl::StatusOr<BlockColumns> LookUpColumns(const Program& program,
                                           const BlockColumnForm& form,
                                           TileLookup lookup) {
  BlockColumns out;
  for (const BlockColumnForm::Step& wanted : form.steps) {
    Step step{.first = out.columns};
    DOGGED_ASSIGN_OR_RETURN(step.factor, lookup(wanted.factor));
    DOGGED_ASSIGN_OR_RETURN(step.extra, lookup(wanted.extra));
    const bool is_matrix =
        !step.factor.IsNone() && step.factor.shape().size() == 2;
    step.columns = is_matrix ? ColumnCount(step.factor) : 0;
    if (out.steps.empty() && is_matrix) out.rows = RowCount(step.factor);
    if (wanted.first != step.first) {
      return absl::FailedPreconditionError(
          absl::StrCat(program.LabelText(wanted.factor), " begins at row ",
                       wanted.first, ", not ", step.first));
    }
    out.columns += step.columns;
    out.steps.push_back(std::move(step));
  }
  for (size_t k = 0; k < out.steps.size(); ++k) {
    Step& step = out.steps[k];
    if (!step.factor.IsNone()) out.type = step.factor.type();
    DOGGED_ASSIGN_OR_RETURN(
        step.factor, InDoubles(program, form.steps[k].factor,
                               std::move(step.factor), out.rows, step.columns));
    const bool fits = !step.extra.IsNone() && !step.extra.shape().empty() &&
                      step.extra.shape()[0] == step.columns;
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat(program.LabelText(form.steps[k].extra), " has not ",
                       step.columns, " elements"));
    }
  }
  return out;
}

absl::StatusOr<Verdict> JudgeColumns(const Job& job, const KernelTable& kernels,
                                     const BlockColumnForm& form,
                                     const BlockColumns& columns,
                                     const ColumnAlgebra& algebra,
                                     int threads) {
  const size_t count = columns.steps.size();
  Case it{.job = job,
          .kernels = kernels,
          .form = form,
          .columns = columns,
          .threads = threads,
          .relations = Relations(job.program),
          .products = std::vector<std::vector<double>>(count)};
  DOGGED_RETURN_IF_ERROR(FindScale(it));
  const std::vector<double> known = KnownSolution(columns.columns);
  std::vector<Sums> sums(count);
  const auto judge = [&](size_t j) -> absl::Status {
    const Step& step = columns.steps[j];
    sums[j] = {};  // it may be the second time
    DOGGED_ASSIGN_OR_RETURN(Value a, it.Make(j));
    sums[j].a.Add(a.span<double>());
    it.Multiply(j, a, 1, known);
    const Value upper = UpperPart(step, it.scale);
    Value product = UpperPart(step, it.scale);
    for (size_t k = j + 1; k-- > 0;) {
      algebra.undo(columns.steps[k], step.columns, MutableMatrixOf(product));
    }
    AddDistance(product, a, sums[j].back);
    for (size_t k = 0; algebra.both_ways && k <= j; ++k) {
      algebra.apply(columns.steps[k], step.columns, MutableMatrixOf(a));
    }
    if (algebra.both_ways) AddDistance(a, upper, sums[j].forth);
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(it.ForEachColumn(judge));
  Sums sum;
  for (const Sums& one : sums) sum.Add(one);
  const double unit = static_cast<double>(columns.rows) * sum.a.Root() *
                      EpsilonOf(columns.type);
  const double back = sum.back.Root();
  const double forth = sum.forth.Root();
  // A NaN in either sum is one in the result.
  const double distance = algebra.both_ways && !(forth <= back) ? forth : back;
  Verdict verdict{.type = columns.type,
                  .residual = distance == 0 ? 0 : distance / unit};
  if (columns.IsSquare()) {
    DOGGED_RETURN_IF_ERROR(JudgeSolve(it, algebra, unit, verdict));
  } else {
    verdict.unsolved = "the matrix is not square";
  }
  return verdict;
}

}  // namespace dogged
