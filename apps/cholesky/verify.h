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

// True if the results of `program` (valid) are those of a Cholesky
// factorisation by tiles: its potrf, trsm, syrk and gemm tasks make all of a
// lower triangle out of one that comes from nothing, step by step. Says nothing
// about shapes. O(tile_rows^3).
bool IsCholesky(const Program& program);

// By the residual ||A - L L'||_F / (n ||A||_F eps), with A symmetric and given
// by its lower triangle, and by a solve. A is made anew, tile by tile, by the
// tasks that need nothing, with `kernels`, of job.program; L comes from
// `lookup`.
//
// Shape:  tile (i, j) of both is rows(i) x rows(j); n is the sum of rows.
// Cost:   n^3/3 operations, on `threads` threads, whose number changes no bit;
//         holds all of L, n numbers or less for each row of tiles, and a tile
//         of A for each thread.
// Errors: kFailedPrecondition unless IsCholesky(job.program);
//         kInvalidArgument for tiles that are no matrices of doubles or do not
//         fit; as lookup and the kernels.
absl::StatusOr<Verdict> VerifyCholesky(const Job& job,
                                       const KernelTable& kernels,
                                       TileLookup lookup, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_CHOLESKY_VERIFY_H_
