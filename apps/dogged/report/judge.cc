#include "apps/dogged/report/judge.h"

#include <cstdio>
#include <new>
#include <string>

#include "apps/cholesky/verify.h"
#include "apps/lu/verify.h"
#include "apps/qr/verify.h"
#include "apps/tiles/blas_kernels.h"
#include "apps/verify/verdict.h"

namespace dogged {
namespace {

struct Judge {
  const char* difference;
  absl::StatusOr<Verdict> (*verify)(const Job& job, const KernelTable& kernels,
                                    TileLookup lookup, int threads);
};
constexpr Judge kJudges[] = {
    {"A - LL'", VerifyCholesky}, {"A - P'LU", VerifyLu}, {"A - QR", VerifyQr}};

absl::StatusOr<Verdict> VerdictOf(const Judge& judge, const Job& job,
                                  const KernelTable& kernels, TileLookup lookup,
                                  int threads) {
  try {
    if (!ReserveBlas(threads).ok()) threads = 1;
    return judge.verify(job, kernels, lookup, threads);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("there is no memory for that");
  }
}

}  // namespace

void JudgeFactors(const Job& job, const KernelTable& kernels, TileLookup lookup,
                  int threads, RunReport& report) {
  for (const Judge& judge : kJudges) {
    const auto verdict = VerdictOf(judge, job, kernels, lookup, threads);
    // Another program.
    if (absl::IsFailedPrecondition(verdict.status())) continue;
    if (!verdict.ok()) {
      report.not_judged = std::string(verdict.status().message());
      std::fprintf(stderr, "||%s|| is not judged: %s\n", judge.difference,
                   report.not_judged.c_str());
      continue;
    }
    report.residual = verdict->residual;
    const char* const eps =
        verdict->type == ElementType::kFloat ? "eps of float" : "eps";
    std::fprintf(stderr, "residual ||%s|| / (n ||A|| %s) = %.3g, ",
                 judge.difference, eps, verdict->residual);
    if (!verdict->unsolved.empty()) {
      std::fprintf(stderr, "no solve: %s\n", verdict->unsolved.c_str());
      continue;
    }
    report.solve_error = verdict->solve_error;
    std::fprintf(stderr, "solve ||A x - b|| / (n ||A|| ||x|| %s) = %.3g\n", eps,
                 verdict->solve_error);
  }
}

}  // namespace dogged
