// `dogged run`: compile, run here or on agents, write what was asked for.
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/cholesky/verify.h"
#include "apps/dogged/commands.h"
#include "apps/dogged/memory.h"
#include "apps/dogged/progress_printer.h"
#include "apps/dogged/run_outcome.h"
#include "apps/output/npy.h"
#include "apps/output/png.h"
#include "apps/output/selection.h"
#include "apps/output/words.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/local_run.h"

namespace dogged {
namespace {

// Writes what one --output asks for.
absl::Status WriteOutput(const std::string& argument, const Program& program,
                         dsl::ResultLookup lookup) {
  DOGGED_ASSIGN_OR_RETURN(const Selection selection, ParseSelection(argument));
  absl::Status last = absl::NotFoundError(absl::StrCat(
      "--output ", argument, ": the program has no result ", selection.array));
  for (const ResultView& view : program.views) {
    if (view.array != selection.array) continue;
    if (!selection.indices.empty() && !IsWithin(selection, view)) {
      last = absl::OutOfRangeError(absl::StrCat(
          "--output ", argument, ": not among the program's results"));
      continue;
    }
    DOGGED_ASSIGN_OR_RETURN(const Value dense,
                            dsl::AssembleView(program, view, lookup));
    const absl::StatusOr<Value> part = ExtractSelection(selection, view, dense);
    if (!part.ok()) {
      last = part.status();
      continue;
    }
    if (selection.format == OutputFormat::kNpy) {
      return WriteNpy(selection.path, *part);
    }
    return WritePng(selection.path, *part, selection.text,
                    FirstIndices(selection, view, dense));
  }
  return last;
}

}  // namespace

ExitCode FinishRun(const RunOptions& options, const LoadedProgram& program,
                   const KernelSource& kernels, const KernelTable& table,
                   dsl::ResultLookup lookup, RunReport report) {
  const auto say_error = [](const absl::Status& status) {
    std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
    return ExitCodeOf(status);
  };
  const auto digest = dsl::ResultDigest(program.job.program, lookup);
  if (!digest.ok()) return say_error(digest.status());
  report.result_digest = *digest;
  ExitCode code = ExitCode::kDone;
  for (const std::string& output : options.program.outputs) {
    const absl::Status written =
        WriteOutput(output, program.job.program, lookup);
    if (!written.ok()) code = say_error(written);
  }
  if (IsCholesky(program.job.program)) {
    const auto residual = CholeskyResidual(program.job, table, lookup);
    if (!residual.ok()) return say_error(residual.status());
    report.residual = *residual;
    std::fprintf(stderr, "residual ||A - LL'|| / (n ||A|| eps) = %.3g\n",
                 *residual);
  }
  if (options.check) {
    dsl::Diagnostics diagnostics(options.program.file, program.text);
    const auto serial = dsl::SerialRun(program.text, program.options,
                                       kernels.registry(), diagnostics);
    if (!serial.ok()) return say_error(serial.status());
    report.check_passed = serial->digest == *digest;
    if (!*report.check_passed) code = ExitCode::kFailed;
    std::fprintf(stderr, "%s\n",
                 CheckSentence(*digest, serial->digest).c_str());
  }
  if (options.json) {
    std::printf("%s\n", report.ToJson().c_str());
  } else {
    for (const Loss& loss : report.losses) {
      std::fprintf(stderr, "%s\n", LossSentence(loss).c_str());
    }
    std::printf(
        "%s\n",
        DoneSentence({.elapsed = absl::Seconds(report.compute_seconds),
                      .agents_lost = static_cast<int32_t>(report.losses.size()),
                      .redone = report.tasks_recomputed,
                      .needed = report.tasks_needed})
            .c_str());
  }
  return code;
}

ExitCode RunEmbedded(const RunOptions& options, const LoadedProgram& program,
                     const KernelSource& kernels, absl::Time wall_start) {
  SystemClock clock;
  const auto table = kernels.Load(program.job);
  if (!table.ok()) {
    std::fprintf(stderr, "error: %s\n",
                 std::string(table.status().message()).c_str());
    return ExitCodeOf(table.status());
  }
  const Relations relations(program.job.program);
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
      progress.Update(clock.Now(), {.done = now.tasks_executed,
                                    .needed = run.needed_count()});
      return true;
    });
  }
  if (!status.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
    return status.code() == absl::StatusCode::kInvalidArgument
               ? ExitCode::kFailed
               : ExitCodeOf(status);
  }
  RunReport report{.job = JobHash(program.job.Encode()).ToString(),
                   .program = program.job.program.name};
  report.compute_seconds = absl::ToDoubleSeconds(clock.Now() - start);
  report.wall_seconds = absl::ToDoubleSeconds(clock.Now() - wall_start);
  report.tasks_needed = run.needed_count();
  const LocalProgress done = run.Progress();
  report.tasks_executed = done.tasks_executed;
  report.tasks_per_agent = {done.tasks_executed};
  report.agents_started = 1;
  report.peak_rss_bytes = PeakResidentBytes();
  report.gflops = report.compute_seconds > 0
                      ? done.flops / report.compute_seconds / 1e9
                      : 0;
  report.seed = options.seed;
  return FinishRun(
      options, program, kernels, *table,
      [&results](const Label& label) -> absl::StatusOr<Value> {
        const auto it = results.find(label);
        if (it == results.end()) {
          return absl::InternalError("a result is missing");
        }
        return it->second;
      },
      std::move(report));
}

ExitCode RunCommand(const RunOptions& options, const Environment& environment) {
  SystemClock clock;
  const absl::Time wall_start = clock.Now();
  const KernelSource kernels(environment);
  RunOptions filled = options;
  filled.program.workers =
      WorkersPerAgent(options.program.workers, options.program.agents);
  const auto program = LoadProgram(filled.program, kernels);
  if (!program.ok()) return ExitCodeOf(program.status());
  if (!filled.json && !filled.seed_given) {
    std::fprintf(stderr, "seed %llu\n",
                 static_cast<unsigned long long>(filled.seed));
  }
  const bool embedded = filled.cluster.empty() && filled.program.agents == 1 &&
                        filled.kill_at.empty() && filled.join_at.empty() &&
                        filled.kill_every_seconds == 0 && !filled.search_only;
  return embedded
             ? RunEmbedded(filled, *program, kernels, wall_start)
             : RunOnCluster(filled, *program, kernels, environment, wall_start);
}

}  // namespace dogged
