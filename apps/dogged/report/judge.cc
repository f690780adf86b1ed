#include "apps/dogged/report/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "apps/cholesky/verify.h"
#include "apps/lu/verify.h"
#include "apps/qr/verify.h"
#include "apps/tiles/blas_kernels.h"
#include "apps/verify/kernel_calls.h"
#include "apps/verify/solve.h"
#include "apps/verify/verdict.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

struct Judge {
  const char* difference;
  absl::StatusOr<Verdict> (*verify)(const Job& job, const KernelTable& kernels,
                                    TileLookup lookup, int threads);
};
constexpr Judge kJudges[] = {
    {"A - LL'", VerifyCholesky}, {"A - P'LU", VerifyLu}, {"A - QR", VerifyQr}};

const char* EpsWords(ElementType type) {
  return type == ElementType::kFloat ? "eps of float" : "eps";
}

// The findings of `verify`, which is told whether there is BLAS for several
// threads.
template <typename T>
absl::StatusOr<T> VerdictOf(
    absl::FunctionRef<absl::StatusOr<T>(bool has_blas)> verify, int threads) {
  try {
    return verify(ReserveBlas(threads).ok());
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("there is no memory for that");
  }
}

void SayNotJudged(const std::string& what, absl::string_view why,
                  RunReport& report) {
  report.not_judged = std::string(why);
  std::fprintf(stderr, "%s is not judged: %s\n", what.c_str(),
               report.not_judged.c_str());
}

void SayUnread(const std::string& unread, RunReport& report) {
  if (unread.empty()) return;
  report.not_judged = absl::StrCat("not symmetric: ", unread);
  std::fprintf(stderr,
               "warning: the matrix is not symmetric: the program does not "
               "read %s; nor was that judged\n",
               unread.c_str());
}

void SayFactors(const Judge& judge, const Verdict& verdict, RunReport& report) {
  report.residual = verdict.residual;
  const char* const eps = EpsWords(verdict.type);
  std::fprintf(stderr, "residual ||%s|| / (n ||A|| %s) = %.3g, ",
               judge.difference, eps, verdict.residual);
  if (verdict.unsolved.empty()) {
    report.solve_error = verdict.solve_error;
    std::fprintf(stderr, "solve ||A x - b|| / (n ||A|| ||x|| %s) = %.3g\n", eps,
                 verdict.solve_error);
  } else {
    std::fprintf(stderr, "no solve: %s\n", verdict.unsolved.c_str());
  }
  SayUnread(verdict.unread, report);
}

// Warns where rounding of the matrix alone takes most digits of a solution. Of
// least squares the condition counts twice as far as something is left over
// (Bjorck 1996, Numerical Methods for Least Squares Problems, section 1.4).
void SayCondition(double condition, const SolveVerdict& verdict,
                  RunReport& report) {
  constexpr double kDigitsEnough = 3;
  if (std::isnan(condition) || std::isnan(verdict.left)) return;
  report.condition = condition;
  const bool is_tall = verdict.is_least_squares;
  const double counts = is_tall ? 1 + condition * verdict.left : 1;
  const double digits =
      -std::log10(condition * counts * EpsilonOf(verdict.type));
  if (digits >= kDigitsEnough) return;
  const auto sure = static_cast<int>(std::max(digits, 0.0));
  std::fprintf(
      stderr,
      "warning: the matrix is nearly singular, its condition is about %.0e%s: "
      "%s of the solution %s sure%s; to round the matrix changes the rest. Are "
      "%scolumns of it sums of others, or of far other sizes?\n",
      condition,
      counts > 10 ? ", which counts twice where much of B is left over" : "",
      sure == 0 ? "no digit"
                : absl::StrCat("about ", sure, sure == 1 ? " digit" : " digits")
                      .c_str(),
      sure > 1 ? "are" : "is", is_tall ? "" : ", however small the residual",
      is_tall ? "" : "rows or ");
}

// False for a program that solves nothing.
bool JudgeSolve(const Job& job, dsl::ResultViews& views, RunReport& report) {
  const auto verdict = VerdictOf<SolveVerdict>(
      [&](bool) {
        return VerifySolve(job, [&views] { return views.Assembled(0); });
      },
      /*threads=*/1);
  if (absl::IsFailedPrecondition(verdict.status())) return false;
  if (!verdict.ok()) {
    SayNotJudged("the solution", verdict.status().message(), report);
    return true;
  }
  report.solve_error = verdict->error;
  std::fprintf(stderr,
               verdict->is_least_squares
                   ? "least squares ||A'(A X - B)|| / (n ||A|| (||A|| ||X|| + "
                     "||B||) %s) = %.3g\n"
                   : "solve ||A X - B|| / (n ||A|| ||X|| %s) = %.3g\n",
               EpsWords(verdict->type), verdict->error);
  SayUnread(verdict->unread, report);
  const auto condition = VerdictOf<double>(
      [&](bool) { return ConditionOfSolve(job); }, /*threads=*/1);
  if (condition.ok()) {
    SayCondition(*condition, *verdict, report);
  } else if (absl::IsResourceExhausted(condition.status())) {
    std::fprintf(stderr, "the matrix's condition is not estimated: %s\n",
                 std::string(condition.status().message()).c_str());
  }
  return true;
}

bool Factorises(const Job& job) {
  const Relations relations(job.program);
  const KernelCalls calls(relations);
  return calls.CountOf("potrf") + calls.CountOf("getrf") +
             calls.CountOf("geqrt") >
         0;
}

}  // namespace

void JudgeFactors(const Job& job, const KernelTable& kernels,
                  dsl::ResultViews& views, int threads, RunReport& report) {
  if (!Factorises(job)) return;
  bool is_one = false;
  for (const Judge& judge : kJudges) {
    const auto verdict = VerdictOf<Verdict>(
        [&](bool has_blas) {
          return judge.verify(job, kernels, views.lookup(),
                              has_blas ? threads : 1);
        },
        threads);
    // Another program.
    if (absl::IsFailedPrecondition(verdict.status())) continue;
    is_one = true;
    if (verdict.ok()) {
      SayFactors(judge, *verdict, report);
    } else {
      SayNotJudged(absl::StrCat("||", judge.difference, "||"),
                   verdict.status().message(), report);
    }
  }
  if (is_one || JudgeSolve(job, views, report)) return;
  SayNotJudged("the factorisation",
               "not all of its factors are results, as its kernels made them",
               report);
}

}  // namespace dogged
