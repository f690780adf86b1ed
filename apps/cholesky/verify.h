// Judges the result of a tiled Cholesky factorisation: by the residual and
// by a solve, from the matrix and the factor alone.
#ifndef DOGGED_APPS_CHOLESKY_VERIFY_H_
#define DOGGED_APPS_CHOLESKY_VERIFY_H_

#include "absl/status/statusor.h"
#include "apps/verify/input_matrix.h"
#include "apps/verify/verdict.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"

namespace dogged {

// True if `program` (valid) has the form of apps/cholesky/cholesky.dog: its
// results of L are exactly the lower triangle of tiles L(i)(j), 0 <= j <= i;
// each A(i)(j)(0) is made by a task that requires nothing; L(0)(0) is made from
// A(0)(0)(0) alone. Says nothing about shapes. O(tiles).
bool IsCholesky(const Program& program);

// By the residual ||A - L L'||_F / (n ||A||_F eps), with A symmetric and given
// by its lower triangle, and by a solve. A is made anew, tile by tile, by the
// tasks that create A(i)(j)(0), with `kernels` (those of job.program); L comes
// from `lookup`.
//
// Shape:  tile (i, j) of both is rows(i) x rows(j); n is the sum of rows.
// Cost:   n^3/3 operations, on `threads` threads, whose number changes no bit;
//         holds all of L, n numbers or less for each row of tiles, and a tile
//         of A for each thread.
// Errors: kFailedPrecondition unless IsCholesky(job.program);
//         kInvalidArgument for tiles that are no matrices of doubles or do not
//         fit; what lookup and the kernels return.
absl::StatusOr<Verdict> VerifyCholesky(const Job& job,
                                       const KernelTable& kernels,
                                       TileLookup lookup, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_CHOLESKY_VERIFY_H_
