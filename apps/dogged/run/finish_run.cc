#include "apps/dogged/run/finish_run.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/worker_count.h"
#include "apps/dogged/report/judge.h"
#include "apps/dogged/report/lu_words.h"
#include "apps/dogged/report/outputs_json.h"
#include "apps/dogged/report/point_cost.h"
#include "apps/dogged/report/progress_printer.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/output/run_text.h"
#include "dsl/lower/nest_lowering.h"
#include "runtime/base/clock.h"
#include "runtime/graph/rounds.h"

namespace dogged {
namespace {

// The parts of all that was asked for which are missing; empty if none is.
std::string MissingOf(const RunReport& report) {
  if (!report.outputs_failed.empty()) {
    return absl::StrCat(absl::StrJoin(report.outputs_failed, ", "),
                        report.outputs_failed.size() == 1 ? " is" : " are",
                        " not written");
  }
  return report.check_passed.value_or(true) ? "" : "the check failed";
}

// Where nothing but words would be left of a run.
void PrintIfNotKept(const RunOptions& options, const LoadedProgram& loaded,
                    bool is_told) {
  const Program& program = loaded.job.program;
  if (is_told || options.check || !loaded.outputs.empty() ||
      program.views.empty()) {
    return;
  }
  const std::string& array = program.views.front().array;
  std::fprintf(
      stderr, "the results are not kept: --output %s=%s.npy would write them\n",
      array.c_str(), array.c_str());
}

// As far as both can be laid beside one another.
void PrintDifferences(const dsl::SerialOutcome& serial,
                      dsl::ResultViews& views) {
  const auto& ours = views.program().views;
  for (size_t i = 0; i < std::min(ours.size(), serial.values.size()); ++i) {
    const auto value = views.Assembled(i);
    if (!value.ok() || value->type() != serial.values[i].type() ||
        value->shape() != serial.values[i].shape()) {
      continue;
    }
    const std::string words =
        DifferenceSentence(ours[i].array, *value, serial.values[i]);
    if (!words.empty()) std::fprintf(stderr, "%s\n", words.c_str());
  }
}

// Says how long the check takes that runs by points a program which ran in
// tiles of its loop nests. `needed` tasks; 0 while nobody knows.
void PrintIfSlow(const Job& job, int64_t needed, ProgressPrinter& to) {
  constexpr absl::Duration kLong = absl::Seconds(5);
  if (!absl::StartsWith(job.lowering, dsl::kLoopNest)) return;
  const absl::Duration time = SerialTimeOf(needed);
  if (needed > 0 && time < kLong) return;
  const std::string how_long =
      needed > 0 ? absl::StrCat(needed, " tasks, about ", HumanElapsed(time))
                 : std::string("some microseconds each");
  to.PrintLine(absl::StrCat(
      "check: loop nests are held to their points, which run one by one: ",
      how_long, "; the outputs are written, and an interrupt leaves them so"));
}

}  // namespace

ExitCode WriteOutputs(const std::vector<Output>& outputs,
                      dsl::ResultViews& views, RunReport& report) {
  ExitCode code = ExitCode::kDone;
  const InterruptsDeferred deferred;  // a file is written whole
  for (const Output& output : outputs) {
    if (IsInterrupted()) break;
    auto written = WriteOutput(output, views);
    if (written.ok()) {
      std::fprintf(stderr, "%s\n", written->ToWords().c_str());
      NoteWritten(OutputJson(*written));
      report.outputs.push_back(*std::move(written));
      continue;
    }
    PrintError(written.status().message());
    code = absl::IsResourceExhausted(written.status()) ? ExitCode::kNoRoom
                                                       : ExitCode::kMistyped;
    report.outputs_failed.push_back(output.selection.path);
  }
  views.Forget();
  const std::string words = LuWords(views.program(), report.outputs);
  std::fprintf(stderr, "%s", words.c_str());
  return code;
}

LoadedProgram EndedProgram(const LoadedProgram& program, int64_t time) {
  LoadedProgram out = program;
  const auto end = LoopEndOf(program.job.program, time);
  if (!end.has_value()) return out;
  out.job.program = ProgramAt(program.job.program, time);
  std::fprintf(stderr, "the loop ended at %s = %lld%s\n",
               end->parameter.c_str(), static_cast<long long>(end->value),
               end->is_last ? ", its last value" : "");
  return out;
}

ExitCode FinishRun(const RunOptions& options, const LoadedProgram& program,
                   const KernelSource& kernels, const KernelTable& table,
                   dsl::ResultViews& views, RunReport report) {
  const Digest digest = report.result_digest;
  report.inputs_made = program.facts.made;
  ExitCode code = WriteOutputs(program.outputs, views, report);
  if (IsInterrupted()) {
    return PrintError(absl::CancelledError(
        "interrupted: the run was over; not all outputs are written"));
  }
  CatchInterrupts("interrupted: the outputs are written, not checked\n");
  if (options.check) {
    const int threads =
        std::min(WorkersPerAgent(/*workers=*/0, /*agents=*/1),
                 options.program.agents * options.program.workers);
    JudgeFactors(program.job, table, views, threads, report);
    dsl::Diagnostics diagnostics(options.program.file, program.text);
    SystemClock clock;
    std::optional<ProgressPrinter> waiting(std::in_place);
    waiting->Wait("check: running it again, serially");
    bool is_told = false;
    const auto serial = dsl::SerialRun(
        program.text, program.options, kernels.registry(), diagnostics,
        [&](int64_t done, int64_t needed) {
          if (!std::exchange(is_told, true)) {
            PrintIfSlow(program.job, needed, *waiting);
          }
          waiting->Update(clock.Now(), {.done = done, .needed = needed});
        });
    waiting.reset();
    if (!serial.ok()) return PrintError(serial.status());
    report.check_passed = serial->digest == digest;
    if (!*report.check_passed) code = ExitCode::kFailed;
    const std::string words = CheckSentence(digest, serial->digest);
    if (*report.check_passed) {
      std::fprintf(stderr, "%s\n", words.c_str());
    } else {
      PrintError(words);
      PrintDifferences(*serial, views);
    }
  }
  if (!report.agents_unheard.empty()) {
    std::fprintf(stderr,
                 "warning: %s did not answer: what was done there is not "
                 "counted\n",
                 absl::StrJoin(report.agents_unheard, ", ").c_str());
  }
  if (options.json) {
    SetAnswer(report.ToJson());
  } else {
    const auto numbers =
        NumbersAmongResults(program.job.program, views.lookup());
    if (!numbers.ok()) return PrintError(numbers.status());
    std::printf("%s", numbers->c_str());
    PrintIfNotKept(options, program,
                   !numbers->empty() || !report.outputs.empty() ||
                       !report.outputs_failed.empty());
    for (const Loss& loss : report.losses) {
      std::fprintf(stderr, "%s\n", LossSentence(loss).c_str());
    }
    std::printf(
        "%s\n",
        DoneSentence({.elapsed = absl::Seconds(report.compute_seconds),
                      .fetched = absl::Seconds(report.fetch_seconds),
                      .agents_lost = static_cast<int32_t>(report.losses.size()),
                      .redone = report.tasks_recomputed,
                      .needed = report.tasks_needed,
                      .missing = MissingOf(report)})
            .c_str());
  }
  return code;
}

}  // namespace dogged
