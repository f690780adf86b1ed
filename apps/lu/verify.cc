#include "apps/lu/verify.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/tiles/lu.h"
#include "apps/tiles/tile_call.h"
#include "apps/tiles/triangle.h"
#include "apps/verify/block_columns.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using blas::ConstMatrix;
using blas::Matrix;
using Step = BlockColumns::Step;

std::optional<BlockColumnForm> FormOf(const Relations& relations) {
  return FindBlockColumns(relations, "getrf", "eliminate");
}

std::vector<int64_t> ExchangesOf(const Step& step) {
  std::vector<int64_t> out;
  for (const int64_t row : step.extra.span<int64_t>()) {
    out.push_back(row - step.first);
  }
  return out;
}

void ApplyStep(const Step& step, int64_t n, Matrix whole) {
  const Matrix c = whole.At(step.first, 0);
  const ConstMatrix l = MatrixOf(step.factor).At(step.first, 0);
  const int64_t k = step.columns;
  const int64_t rest = RowCount(step.factor) - step.first - k;
  ExchangeRows(n, ExchangesOf(step), c);
  SolveLeft(k, n, l, Diagonal::kUnit, c);
  if (rest > 0) blas::Product({rest, n, k}, -1, l.At(k, 0), c, 1, c.At(k, 0));
}

void UndoStep(const Step& step, int64_t n, Matrix whole) {
  const Matrix c = whole.At(step.first, 0);
  const ConstMatrix l = MatrixOf(step.factor).At(step.first, 0);
  const int64_t k = step.columns;
  const int64_t rest = RowCount(step.factor) - step.first - k;
  if (rest > 0) blas::Product({rest, n, k}, 1, l.At(k, 0), c, 1, c.At(k, 0));
  for (int64_t i = k - 1; i > 0; --i) {
    for (int64_t p = 0; p < i; ++p) {
      for (int64_t j = 0; j < n; ++j) c(i, j) += l(i, p) * c(p, j);
    }
  }
  ExchangeRowsBack(n, ExchangesOf(step), c);
}

// Rows that there are, at or below the one they are exchanged with.
absl::Status CheckExchanges(const BlockColumns& columns) {
  for (const Step& step : columns.steps) {
    const bool is_list = step.extra.type() == ElementType::kInt64 &&
                         step.extra.shape().size() == 1;
    if (!is_list) return absl::InvalidArgumentError("P is no list of rows");
    for (int64_t q = 0; q < step.columns; ++q) {
      const int64_t row = step.extra.span<int64_t>()[q];
      if (row < step.first + q || row >= columns.rows) {
        return absl::InvalidArgumentError(absl::StrCat(
            "P exchanges row ", step.first + q, " with row ", row));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsLu(const Program& program) {
  return FormOf(Relations(program)).has_value();
}

absl::StatusOr<Verdict> VerifyLu(const Job& job, const KernelTable& kernels,
                                 TileLookup lookup, int threads) {
  const std::optional<BlockColumnForm> form = FormOf(Relations(job.program));
  if (!form.has_value()) {
    return absl::FailedPreconditionError("the program is no LU");
  }
  DOGGED_ASSIGN_OR_RETURN(const BlockColumns columns,
                          LookUpColumns(job.program, *form, lookup));
  DOGGED_RETURN_IF_ERROR(CheckExchanges(columns));
  return JudgeColumns(job, kernels, *form, columns,
                      {.undo = UndoStep, .apply = ApplyStep}, threads);
}

}  // namespace dogged
