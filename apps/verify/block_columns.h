// Factors of a matrix in block columns, as apps/lu and apps/qr make them: each
// block column comes from nothing, and step k makes a factor with all rows of
// the matrix, and an extra beside it.
#ifndef DOGGED_APPS_VERIFY_BLOCK_COLUMNS_H_
#define DOGGED_APPS_VERIFY_BLOCK_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "apps/tiles/blas.h"
#include "apps/verify/input_matrix.h"
#include "apps/verify/verdict.h"
#include "runtime/graph/job.h"

namespace dogged {

// The labels of such a program, by step.
struct BlockColumnForm {
  struct Step {
    Label input;
    Label factor;
    Label extra;
    int64_t first = 0;  // the row from which on the kernel factors
  };
  std::vector<Step> steps;
};

// None unless the program has such steps: of `kernel(in a, row, out factor, out
// extra)`, whose `a` comes through `update(in c, in factor, in extra, row)` of
// all steps before, in turn. Says nothing about shapes.
std::optional<BlockColumnForm> FindBlockColumns(const Relations& relations,
                                                absl::string_view kernel,
                                                absl::string_view update);

struct BlockColumns {
  struct Step {
    int64_t first = 0;  // the row and column where it begins
    int64_t columns = 0;
    Value factor;
    Value extra;
  };
  std::vector<Step> steps;
  int64_t rows = 0;
  int64_t columns = 0;  // at most as many
  // Element type of the factors as they were found; `steps` holds doubles.
  ElementType type = ElementType::kDouble;

  bool IsSquare() const { return rows == columns; }
};

// Errors: kFailedPrecondition if a step begins elsewhere than the one before
// ends; kInvalidArgument for factors that are no block columns of a matrix; as
// `lookup`.
absl::StatusOr<BlockColumns> LookUpColumns(const Program& program,
                                           const BlockColumnForm& form,
                                           TileLookup lookup);

// How a factorisation undoes its own step, and solves.
struct ColumnAlgebra {
  // Undoes a step in the rows from its first on of `c` (of all rows, n
  // columns).
  std::function<void(const BlockColumns::Step& step, int64_t n, blas::Matrix c)>
      undo;
  // The opposite: applies the step to a column to its right.
  std::function<void(const BlockColumns::Step& step, int64_t n, blas::Matrix c)>
      apply;
  // A is also led forward through the steps and compared with the triangle:
  // that is where reflectors that are not orthogonal show.
  bool both_ways = false;
};

// Judges factors of which the upper triangle is R or U, on `threads` threads:
// by a solve, too, if A is square.
// Errors: kInvalidArgument if an input fits no block column; as `kernels`.
absl::StatusOr<Verdict> JudgeColumns(const Job& job, const KernelTable& kernels,
                                     const BlockColumnForm& form,
                                     const BlockColumns& columns,
                                     const ColumnAlgebra& algebra, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_BLOCK_COLUMNS_H_
