#include "apps/verify/solve.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/float_kernels.h"
#include "apps/tiles/tile_call.h"
#include "apps/verify/asymmetry.h"
#include "apps/verify/condition.h"
#include "apps/verify/kernel_calls.h"
#include "apps/verify/square_sum.h"
#include "apps/verify/verdict.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

// The inputs of a solve, by name.
struct Solve {
  std::string a;
  std::string b;
  bool is_symmetric = false;
  bool is_least_squares = false;
};

// The name of the array that `label` comes from, through first arguments.
std::string OriginOf(const KernelCalls& calls, Label label) {
  while (true) {
    const auto call = calls.MakerOf(label);
    if (!call.has_value() || call->in.empty()) break;
    label = call->in[0];
  }
  const Program& program = calls.relations().program();
  return program.arrays[label.array].name;
}

std::optional<Solve> SolveOf(const Relations& relations) {
  const KernelCalls calls(relations);
  std::optional<Label> solution;
  relations.ForEachResult([&](const Label& label) {
    solution = label;
    return false;
  });
  if (!solution.has_value()) return std::nullopt;
  const auto last = calls.MakerOf(*solution);
  if (!last.has_value() ||
      (last->kernel != "solve_upper" && last->kernel != "solve_lower_t")) {
    return std::nullopt;
  }
  const auto factor = calls.MakerOf(last->in[1]);
  if (!factor.has_value() ||
      (factor->kernel != "potrf" && factor->kernel != "getrf" &&
       factor->kernel != "geqrt")) {
    return std::nullopt;
  }
  return Solve{.a = OriginOf(calls, factor->in[0]),
               .b = OriginOf(calls, last->in[0]),
               .is_symmetric = factor->kernel == "potrf",
               .is_least_squares = factor->kernel == "geqrt"};
}

// The matrix that was given for `array`, in doubles.
absl::StatusOr<Value> GivenMatrix(const Job& job, const std::string& array) {
  const auto input = absl::c_find_if(
      job.inputs, [&array](const JobInput& one) { return one.array == array; });
  if (input == job.inputs.end() || input->content.IsNone()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the program makes ", array,
        " itself: solutions are judged by arrays that were given"));
  }
  const Value& content = input->content;
  if (content.shape().size() != 2 || content.type() == ElementType::kInt64) {
    return absl::InvalidArgumentError(absl::StrCat(array, " is no matrix"));
  }
  return content.type() == ElementType::kFloat ? Widened(content) : content;
}

// Sets what is above the diagonal to what is below it.
void Mirror(int64_t n, blas::Matrix a) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) a(i, j) = a(j, i);
  }
}

}  // namespace

absl::StatusOr<SolveVerdict> VerifySolve(
    const Job& job, absl::FunctionRef<absl::StatusOr<Value>()> solution) {
  const Relations relations(job.program);
  const std::optional<Solve> solve = SolveOf(relations);
  if (!solve.has_value()) {
    return absl::FailedPreconditionError("the program does not solve");
  }
  DOGGED_ASSIGN_OR_RETURN(Value a, GivenMatrix(job, solve->a));
  DOGGED_ASSIGN_OR_RETURN(Value rest, GivenMatrix(job, solve->b));
  DOGGED_ASSIGN_OR_RETURN(Value x, solution());
  SolveVerdict out{.type = x.type(),
                   .is_least_squares = solve->is_least_squares};
  if (x.type() == ElementType::kFloat) x = Widened(x);
  const int64_t rows = RowCount(a);
  const int64_t columns = ColumnCount(a);
  const int64_t sides = ColumnCount(rest);
  if (x.type() != ElementType::kDouble ||
      x.shape() != Shape({columns, sides}) || RowCount(rest) != rows) {
    return absl::InvalidArgumentError(
        absl::StrCat("the first result is not the whole solution of ", columns,
                     " x ", sides, " numbers"));
  }
  rest = TakeOrCopy(rest);
  if (solve->is_symmetric) {
    out.unread = AsymmetryOf(solve->a, a);
    a = TakeOrCopy(a);
    Mirror(rows, MutableMatrixOf(a));
  }
  const double norm_a = NormOf(a.span<double>());
  const double norm_x = NormOf(x.span<double>());
  const double norm_b = NormOf(rest.span<double>());
  blas::Product({rows, sides, columns}, 1, MatrixOf(a), MatrixOf(x), -1,
                MutableMatrixOf(rest));
  const double unit = static_cast<double>(std::max(rows, columns)) *
                      EpsilonOf(out.type) * norm_a;
  if (!out.is_least_squares) {
    out.error = NormOf(rest.span<double>()) / unit / norm_x;
    return out;
  }
  Value gradient = Value::Allocate(ElementType::kDouble, {columns, sides});
  blas::TransposedProduct({columns, sides, rows}, 1, MatrixOf(a),
                          MatrixOf(rest), 0, MutableMatrixOf(gradient));
  out.error =
      NormOf(gradient.span<double>()) / unit / (norm_a * norm_x + norm_b);
  const double left = NormOf(rest.span<double>());
  out.left = left == 0 ? 0 : left / (norm_a * norm_x);
  return out;
}

absl::StatusOr<double> ConditionOfSolve(const Job& job) {
  const Relations relations(job.program);
  const std::optional<Solve> solve = SolveOf(relations);
  if (!solve.has_value()) {
    return absl::FailedPreconditionError("the program does not solve");
  }
  DOGGED_ASSIGN_OR_RETURN(Value a, GivenMatrix(job, solve->a));
  const int64_t rows = RowCount(a);
  if (rows < ColumnCount(a) ||
      (rows > ColumnCount(a) && !solve->is_least_squares)) {
    return absl::InvalidArgumentError(absl::StrCat(
        solve->a, " is no square matrix, nor a tall one of least squares"));
  }
  if (solve->is_symmetric) {
    a = TakeOrCopy(a);
    Mirror(rows, MutableMatrixOf(a));
  }
  return EstimateCondition(std::move(a));
}

}  // namespace dogged
