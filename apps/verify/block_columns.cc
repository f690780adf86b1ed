#include "apps/verify/block_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/tiles/tile_call.h"
#include "apps/verify/parts.h"
#include "apps/verify/square_sum.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using blas::ConstMatrix;
using blas::Matrix;
using Step = BlockColumns::Step;

// The part of a factor on and above the diagonal, zeros below.
Value UpperPart(const Step& step) {
  const int64_t rows = RowCount(step.factor);
  Value out = Value::Allocate(ElementType::kDouble, {rows, step.columns});
  const Matrix to = MutableMatrixOf(out);
  const ConstMatrix from = MatrixOf(step.factor);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < step.columns; ++j) {
      to(i, j) = i <= step.first + j ? from(i, j) : 0;
    }
  }
  return out;
}

// Sums of squares: of A, and of how far the steps miss it backwards, and what
// was made of it forwards.
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

// x: the solution of (upper triangle of the factors) * x = x.
void SolveUpper(const BlockColumns& columns, std::vector<double>& x) {
  for (auto step = columns.steps.rbegin(); step != columns.steps.rend();
       ++step) {
    const ConstMatrix u = MatrixOf(step->factor);
    for (int64_t j = step->columns - 1; j >= 0; --j) {
      const int64_t at = step->first + j;
      const double found = x[static_cast<size_t>(at)] / u(at, j);
      x[static_cast<size_t>(at)] = found;
      for (int64_t i = 0; i < at; ++i) {
        x[static_cast<size_t>(i)] -= u(i, j) * found;
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
      part += matrix(i, j) * x[static_cast<size_t>(step.first + j)];
    }
    sum[static_cast<size_t>(i)] += factor * part;
  }
}

}  // namespace

std::optional<BlockColumnForm> FindBlockColumns(const Relations& relations,
                                                absl::string_view factor,
                                                absl::string_view extra,
                                                ElementType extra_element) {
  const Program& program = relations.program();
  const std::optional<int32_t> a = FindArrayOf(program, "A", 3);
  const std::optional<int32_t> f = FindArrayOf(program, factor, 2);
  const std::optional<int32_t> e =
      FindArrayOf(program, extra, 1, extra_element);
  if (!a.has_value() || !f.has_value() || !e.has_value()) return std::nullopt;
  BlockColumnForm form{.a = *a, .factor = *f, .extra = *e};
  const auto is_column = [&](int64_t k) {
    const Label label = form.Factor(k);
    return relations.IsResult(label) && relations.IsResult(form.Extra(k)) &&
           relations.ProducerOf(label) == relations.ProducerOf(form.Extra(k)) &&
           InputTask(relations, form.Input(k)).has_value();
  };
  while (is_column(form.count)) ++form.count;
  // What else is wanted of other arrays, or twice, makes no difference.
  const bool is_all = relations.ForEachResult([&form](const Label& label) {
    if (label.array == form.factor) {
      return label.index[1] < form.count &&
             label == form.Factor(label.index[1]);
    }
    return label.array != form.extra || label.index[0] < form.count;
  });
  if (form.count == 0 || !is_all) return std::nullopt;
  return form;
}

absl::StatusOr<BlockColumns> LookUpColumns(const Program& program,
                                           const BlockColumnForm& form,
                                           TileLookup lookup) {
  BlockColumns out;
  for (int64_t k = 0; k < form.count; ++k) {
    Step step{.first = out.order};
    DOGGED_ASSIGN_OR_RETURN(step.factor, lookup(form.Factor(k)));
    DOGGED_ASSIGN_OR_RETURN(step.extra, lookup(form.Extra(k)));
    const bool is_matrix =
        !step.factor.IsNone() && step.factor.shape().size() == 2;
    step.columns = is_matrix ? ColumnCount(step.factor) : 0;
    out.order += step.columns;
    out.steps.push_back(std::move(step));
  }
  for (int64_t k = 0; k < form.count; ++k) {
    const Step& step = out.steps[static_cast<size_t>(k)];
    DOGGED_RETURN_IF_ERROR(CheckMatrix(program, form.Factor(k), step.factor,
                                       out.order, step.columns));
    const bool fits = !step.extra.IsNone() && !step.extra.shape().empty() &&
                      step.extra.shape()[0] == step.columns;
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat(program.LabelText(form.Extra(k)), " has not ",
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
  const Relations relations(job.program);
  const auto make = [&](size_t j) -> absl::StatusOr<Value> {
    const Label label = form.Input(static_cast<int64_t>(j));
    DOGGED_ASSIGN_OR_RETURN(Value a, MakeTile(relations, kernels, label));
    DOGGED_RETURN_IF_ERROR(CheckMatrix(job.program, label, a, columns.order,
                                       columns.steps[j].columns));
    return a;
  };
  const auto order = static_cast<size_t>(columns.order);
  const std::vector<double> known = KnownSolution(columns.order);
  const size_t count = columns.steps.size();
  std::vector<Sums> sums(count);
  std::vector<std::vector<double>> products(count);
  const auto judge = [&](int64_t part) -> absl::Status {
    const auto j = static_cast<size_t>(part);
    const Step& step = columns.steps[j];
    DOGGED_ASSIGN_OR_RETURN(Value a, make(j));
    sums[j].a.Add(a.span<double>());
    products[j].assign(order, 0);
    AddProduct(step, a, 1, known, products[j]);
    const Value upper = UpperPart(step);
    Value product = UpperPart(step);
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
  DOGGED_RETURN_IF_ERROR(ForEachPart(form.count, threads, judge));
  Sums sum;
  for (const Sums& one : sums) sum.Add(one);
  std::vector<double> b(order, 0);
  AddInOrder(products, b);
  std::vector<double> x = b;
  for (const Step& step : columns.steps) algebra.apply(step, 1, {x.data(), 1});
  SolveUpper(columns, x);
  std::vector<double> rest = b;
  const auto subtract = [&](int64_t part) -> absl::Status {
    const auto j = static_cast<size_t>(part);
    DOGGED_ASSIGN_OR_RETURN(const Value a, make(j));
    products[j].assign(order, 0);
    AddProduct(columns.steps[j], a, -1, x, products[j]);
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(ForEachPart(form.count, threads, subtract));
  AddInOrder(products, rest);
  const double unit = static_cast<double>(columns.order) * sum.a.Root() *
                      std::numeric_limits<double>::epsilon();
  const double back = sum.back.Root();
  const double forth = sum.forth.Root();
  // A NaN in either sum is one in the result.
  const double distance = algebra.both_ways && !(forth <= back) ? forth : back;
  return Verdict{.residual = distance == 0 ? 0 : distance / unit,
                 .solve_error = NormOf(rest) / unit / NormOf(x)};
}

}  // namespace dogged
