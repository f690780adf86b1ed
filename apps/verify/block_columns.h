// Factors of a square matrix in block columns, as apps/lu and apps/qr make
// them: A(0)(j)(0) comes from nothing, and step k makes a factor (0)(k) with
// all rows of the matrix and an extra (k) beside it.
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

// The arrays of such a program by position, and its block columns.
struct BlockColumnForm {
  int32_t a = 0;
  int32_t factor = 0;
  int32_t extra = 0;
  int64_t count = 0;

  Label Input(int64_t j) const { return {a, {0, j, 0}}; }
  Label Factor(int64_t k) const { return {factor, {0, k}}; }
  Label Extra(int64_t k) const { return {extra, {k}}; }
};

// None unless the results of these arrays are exactly the factors and extras.
std::optional<BlockColumnForm> FindBlockColumns(const Relations& relations,
                                                absl::string_view factor,
                                                absl::string_view extra,
                                                ElementType extra_element);

struct BlockColumns {
  struct Step {
    int64_t first = 0;  // the row and column where it begins
    int64_t columns = 0;
    Value factor;
    Value extra;
  };
  std::vector<Step> steps;
  int64_t order = 0;
};

// Errors: kInvalidArgument for factors that are no block columns of a square
//         matrix; what `lookup` returns.
absl::StatusOr<BlockColumns> LookUpColumns(const Program& program,
                                           const BlockColumnForm& form,
                                           TileLookup lookup);

// How a factorisation undoes its own step, and solves.
struct ColumnAlgebra {
  // Turns the rows from its first on of `c` (order x n) from what they are
  // after a step to what they were before it.
  std::function<void(const BlockColumns::Step& step, int64_t n, blas::Matrix c)>
      undo;
  // The opposite: what the step does to a column to its right.
  std::function<void(const BlockColumns::Step& step, int64_t n, blas::Matrix c)>
      apply;
  // A is also led forward through the steps and compared with the triangle:
  // that is where reflectors that are not orthogonal show.
  bool both_ways = false;
};

// Judges factors of which the upper triangle is R or U, on `threads` threads.
// Errors: kInvalidArgument if an input fits no block column; those of
// `kernels`.
absl::StatusOr<Verdict> JudgeColumns(const Job& job, const KernelTable& kernels,
                                     const BlockColumnForm& form,
                                     const BlockColumns& columns,
                                     const ColumnAlgebra& algebra, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_BLOCK_COLUMNS_H_
