#include "apps/qr/verify.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/tiles/reflectors.h"
#include "apps/tiles/tile_call.h"
#include "apps/verify/block_columns.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using Step = BlockColumns::Step;

std::optional<BlockColumnForm> FormOf(const Relations& relations) {
  return FindBlockColumns(relations, "geqrt", "reflect");
}

void Multiply(Reflect direction, const Step& step, int64_t n, blas::Matrix c) {
  ApplyReflectors(direction,
                  {RowCount(step.factor) - step.first, n, step.columns},
                  MatrixOf(step.factor).At(step.first, 0), MatrixOf(step.extra),
                  c.At(step.first, 0));
}

void ApplyStep(const Step& step, int64_t n, blas::Matrix c) {
  Multiply(Reflect::kTransposed, step, n, c);
}

void UndoStep(const Step& step, int64_t n, blas::Matrix c) {
  Multiply(Reflect::kForward, step, n, c);
}

}  // namespace

bool IsQr(const Program& program) {
  return FormOf(Relations(program)).has_value();
}

absl::StatusOr<Verdict> VerifyQr(const Job& job, const KernelTable& kernels,
                                 TileLookup lookup, int threads) {
  const std::optional<BlockColumnForm> form = FormOf(Relations(job.program));
  if (!form.has_value()) {
    return absl::FailedPreconditionError("the program is no QR");
  }
  DOGGED_ASSIGN_OR_RETURN(BlockColumns columns,
                          LookUpColumns(job.program, *form, lookup));
  for (size_t k = 0; k < form->steps.size(); ++k) {
    Step& step = columns.steps[k];
    DOGGED_ASSIGN_OR_RETURN(
        step.extra,
        InDoubles(job.program, form->steps[k].extra, std::move(step.extra),
                  step.columns, step.columns));
  }
  return JudgeColumns(job, kernels, *form, columns,
                      {.undo = UndoStep, .apply = ApplyStep, .both_ways = true},
                      threads);
}

}  // namespace dogged
