// Judges the result of an LU factorisation by block columns, by its residual
// and by a solve: from the matrix and the factors alone.
#ifndef DOGGED_APPS_LU_VERIFY_H_
#define DOGGED_APPS_LU_VERIFY_H_

#include "absl/status/statusor.h"
#include "apps/verify/input_matrix.h"
#include "apps/verify/verdict.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"

namespace dogged {

// True if the results of `program` (valid) are those of a factorisation: all
// its getrf tasks make them, and `a` of each is a block column that comes from
// nothing, through eliminate with the outputs of all before it.
bool IsLu(const Program& program);

// A is made anew with `kernels`, of job.program, the factors come from
// `lookup`.
//
// Cost:   about the operations of the factorisation, on `threads` threads,
//         whose number changes no bit; holds all factors, n numbers for each
//         block column, and a few block columns for each thread.
// Errors: kFailedPrecondition unless IsLu(job.program); kInvalidArgument for
//         values that do not fit; as lookup and the kernels.
absl::StatusOr<Verdict> VerifyLu(const Job& job, const KernelTable& kernels,
                                 TileLookup lookup, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_LU_VERIFY_H_
