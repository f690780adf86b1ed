#include "apps/dogged/run/embedded_run.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged/client/result_room.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/report/progress_printer.h"
#include "apps/dogged/run/finish_run.h"
#include "apps/dogged/run/flops_time.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/dogged/run/not_finite.h"
#include "apps/dogged/run/run_progress.h"
#include "apps/dogged/run/run_warnings.h"
#include "runtime/base/clock.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/local_run.h"

namespace dogged {
namespace {

RunReport ReportOf(const LocalRun& run, absl::Duration elapsed) {
  const LocalProgress done = run.Progress();
  RunReport out;
  out.compute_seconds = absl::ToDoubleSeconds(elapsed);
  out.tasks_executed = done.tasks_executed;
  out.tasks_per_agent = {done.tasks_executed};
  out.agents_started = 1;
  out.peak_rss_bytes = PeakResidentBytes();
  return out;
}

// The failure of a run in this process; no agent could be missing.
ExitCode PrintFailure(const absl::Status& status) {
  const ExitCode code = PrintError(status);
  return status.code() == absl::StatusCode::kInvalidArgument ||
                 status.code() == absl::StatusCode::kUnavailable
             ? ExitCode::kFailed
             : code;
}

ExitCode PrintStopped(const Program& program, const LocalRun& run) {
  const LocalProgress now = run.Progress();
  return PrintError(absl::CancelledError(absl::StrCat(
      "interrupted: stopped ", program.name, " at ",
      HowFar(program, now.time, now.tasks_executed, run.needed_count()),
      "; nothing was written")));
}

}  // namespace

ExitCode RunEmbedded(const RunOptions& options, const LoadedProgram& program,
                     const KernelSource& kernels, absl::Time wall_start) {
  WarnOfReplicas(options.replicas, /*agents=*/1);
  WarnOfPointTasks(program, program.job.program.TaskCount(), /*agents=*/1,
                   options.program.workers);
  SystemClock clock;
  auto deferred = std::make_unique<InterruptsDeferred>(&kernels);
  FlopsTime flops_time;
  auto table = kernels.Load(program.job, options.program.workers);
  if (IsInterrupted()) {
    return PrintError(
        absl::CancelledError("interrupted while compiling; nothing has run"));
  }
  if (!table.ok()) return PrintError(table.status());
  const Relations relations(program.job.program);
  flops_time.Watch(program.job.program, kernels.registry(), *table);
  absl::flat_hash_map<Label, Value> results;
  LocalRunOptions run_options;
  run_options.placement = PlaceWorkersHere(options.program.workers);
  run_options.on_result = [&results](const Label& label, const Value& value) {
    results.emplace(label, value);
    return absl::OkStatus();
  };
  LocalRun run(relations, *table, std::move(run_options));
  const absl::Time start = clock.Now();
  absl::Status status;
  {
    ProgressPrinter progress;
    status = run.Run(absl::Milliseconds(50), [&](const LocalProgress& now) {
      Progress moment{.done = now.tasks_executed, .needed = run.needed_count()};
      NotePlace(program.job.program, now.time, moment);
      progress.Update(clock.Now(), moment);
      return !IsInterrupted();
    });
  }
  const absl::Duration elapsed = clock.Now() - start;
  if (IsInterrupted() && !status.ok()) {
    return PrintStopped(program.job.program, run);
  }
  deferred.reset();
  if (!status.ok()) {
    return PrintFailure(status);
  }
  RunReport report = ReportOf(run, elapsed);
  if (const double seconds = absl::ToDoubleSeconds(
          flops_time.LeftOf(elapsed, options.program.workers));
      seconds > 0) {
    report.gflops = run.Progress().flops / seconds / 1e9;
  }
  report.job = JobHash(program.job.Encode()).ToString();
  report.program = program.job.program.name;
  report.wall_seconds = absl::ToDoubleSeconds(clock.Now() - wall_start);
  report.seed = options.seed;
  const auto lookup = [&results](const Label& label) -> absl::StatusOr<Value> {
    const auto it = results.find(label);
    if (it == results.end()) {
      return absl::InternalError("a result is missing");
    }
    return it->second;
  };
  const int64_t time = run.Progress().time;
  const LoadedProgram ended = EndedProgram(program, time);
  report.loop = LoopEndOf(program.job.program, time);
  report.tasks_needed = NeededAt(program.job.program, time, run.needed_count());
  dsl::ResultViews views(ended.job.program, lookup, ResultBytesMax());
  NotFinite not_finite(ended.job.program);
  const auto digest = DigestOfAll(views, not_finite);
  if (!digest.ok()) return PrintError(digest.status());
  report.result_digest = *digest;
  report.results_not_finite = not_finite.Warn();
  return FinishRun(options, ended, kernels, *table, views, std::move(report));
}

}  // namespace dogged
