// Judging the results of a run that is a factorisation, by its kernels: a word
// beside the result, which changes neither it nor the exit status.
#ifndef DOGGED_APPS_DOGGED_REPORT_JUDGE_H_
#define DOGGED_APPS_DOGGED_REPORT_JUDGE_H_

#include "apps/dogged/report/run_report.h"
#include "dsl/results.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"

namespace dogged {

// Judges the factors, or a solution that they gave, and prints the verdict,
// also in `report`, or why there is none; does nothing for a program that
// factorises nothing. Cholesky, LU and QR are judged where all factors are
// results.
void JudgeFactors(const Job& job, const KernelTable& kernels,
                  dsl::ResultViews& views, int threads, RunReport& report);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_JUDGE_H_
