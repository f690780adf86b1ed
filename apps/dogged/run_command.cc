// `dogged run`: compile, run here or on agents, write what was asked for.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/cluster_target.h"
#include "apps/dogged/commands.h"
#include "apps/dogged/errors.h"
#include "apps/dogged/flag_values.h"
#include "apps/dogged/flops_time.h"
#include "apps/dogged/interrupt.h"
#include "apps/dogged/judge.h"
#include "apps/dogged/lu_words.h"
#include "apps/dogged/memory.h"
#include "apps/dogged/not_finite.h"
#include "apps/dogged/progress_printer.h"
#include "apps/dogged/room.h"
#include "apps/dogged/run_outcome.h"
#include "apps/output/words.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/local_run.h"
#include "runtime/exec/tile_pool.h"
#include "runtime/graph/rounds.h"

namespace dogged {
namespace {

// What lacks of all that was asked for; empty if nothing does.
std::string MissingOf(const RunReport& report) {
  if (!report.outputs_failed.empty()) {
    return absl::StrCat(absl::StrJoin(report.outputs_failed, ", "),
                        report.outputs_failed.size() == 1 ? " is" : " are",
                        " not written");
  }
  return report.check_passed.value_or(true) ? "" : "the check failed";
}

// Where nothing but words would be left of a run.
void SayIfNotKept(const RunOptions& options, const LoadedProgram& loaded,
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

// Until an interrupt; says what was written and what fails, also in `report`.
ExitCode WriteOutputs(const std::vector<Output>& outputs,
                      dsl::ResultViews& views, RunReport& report) {
  ExitCode code = ExitCode::kDone;
  const InterruptsDeferred deferred;  // a file is written whole
  for (const Output& output : outputs) {
    if (IsInterrupted()) break;
    auto written = WriteOutput(output, views);
    if (written.ok()) {
      std::fprintf(stderr, "%s\n", written->ToWords().c_str());
      report.outputs.push_back(*std::move(written));
      continue;
    }
    SayError(written.status().message());
    code = absl::IsResourceExhausted(written.status()) ? ExitCode::kNoRoom
                                                       : ExitCode::kMistyped;
    report.outputs_failed.push_back(output.selection.path);
  }
  views.Forget();
  const std::string words = LuWords(views.program(), report.outputs);
  std::fprintf(stderr, "%s", words.c_str());
  return code;
}

// As far as both can be laid beside one another.
void SayDifferences(const dsl::SerialOutcome& serial, dsl::ResultViews& views) {
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

// Of a run in this process. Whatever is wrong with that, there is no other one.
ExitCode SayFailure(const absl::Status& status) {
  const ExitCode code = SayError(status);
  return status.code() == absl::StatusCode::kInvalidArgument ||
                 status.code() == absl::StatusCode::kUnavailable
             ? ExitCode::kFailed
             : code;
}

ExitCode SayStopped(const Program& program, const LocalRun& run) {
  const LocalProgress now = run.Progress();
  return SayError(absl::CancelledError(absl::StrCat(
      "interrupted: stopped ", program.name, " at ",
      HowFar(program, now.time, now.tasks_executed, run.needed_count()),
      "; nothing was written")));
}

}  // namespace

LoadedProgram EndedProgram(const LoadedProgram& program, int64_t time) {
  LoadedProgram out = program;
  const auto& repeat = program.job.program.repeat;
  if (!repeat.has_value()) return out;
  out.job.program = ProgramAt(program.job.program, time);
  std::fprintf(stderr, "the loop ended at %s = %lld%s\n",
               repeat->parameter.c_str(), static_cast<long long>(time),
               time == repeat->last ? ", its last value" : "");
  return out;
}

absl::Status SayRoom(const RunRoom& room) {
  DOGGED_ASSIGN_OR_RETURN(const std::string warning, JudgeRoom(room));
  if (!warning.empty()) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
  return absl::OkStatus();
}

void SayReplicas(int asked, int agents) {
  const std::string warning = ReplicasSentence(asked, agents);
  if (!warning.empty()) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
}

void SayPoints(const LoadedProgram& program, int64_t tasks, int agents) {
  // Fewer are done in a moment, and blocks are worth their messages.
  constexpr int64_t kManyTasks = 5000;
  constexpr double kPointBytesMax = 64;
  constexpr absl::string_view kPoints = "point by point: ";
  const std::string& how = program.job.lowering;
  const auto results = static_cast<double>(program.job.program.ResultCount());
  if (agents < 2 || tasks < kManyTasks || !absl::StartsWith(how, kPoints) ||
      program.facts.footprint.results > kPointBytesMax * results) {
    return;
  }
  std::fprintf(
      stderr,
      "warning: each point is a task of its own (%s): agents take many "
      "times as long for it as one process, --agents 1\n",
      how.substr(kPoints.size()).c_str());
}

int64_t NeededAt(const Program& program, int64_t time, int64_t needed) {
  return program.repeat.has_value() ? ProgramAt(program, time).TaskCount()
                                    : needed;
}

void NotePlace(const Program& program, int64_t time, Progress& progress) {
  if (!program.repeat.has_value()) return;
  progress.place = absl::StrCat(program.repeat->parameter, " = ", time);
  progress.needed = 0;
}

std::string HowFar(const Program& program, int64_t time, int64_t done,
                   int64_t needed) {
  Progress moment;
  NotePlace(program, time, moment);
  if (!moment.place.empty()) return moment.place;
  return HumanPercent(static_cast<double>(done) /
                      static_cast<double>(std::max<int64_t>(1, needed)));
}

ExitCode FinishRun(const RunOptions& options, const LoadedProgram& program,
                   const KernelSource& kernels, const KernelTable& table,
                   dsl::ResultViews& views, RunReport report) {
  const Digest digest = report.result_digest;
  const auto not_finite = CountNotFinite(views);
  if (!not_finite.ok()) return SayError(not_finite.status());
  report.results_not_finite = *not_finite;
  report.inputs_made = program.facts.made;
  ExitCode code = WriteOutputs(program.outputs, views, report);
  if (IsInterrupted()) {
    return SayError(absl::CancelledError(
        "interrupted: the run was over; not all outputs are written"));
  }
  CatchInterrupts("interrupted: the outputs are written, not checked\n");
  if (options.check) {
    const int threads =
        std::min(WorkersPerAgent(/*workers=*/0, /*agents=*/1),
                 options.program.agents * options.program.workers);
    JudgeFactors(program.job, table, views.lookup(), threads, report);
    dsl::Diagnostics diagnostics(options.program.file, program.text);
    SystemClock clock;
    std::optional<ProgressPrinter> waiting(std::in_place);
    waiting->Wait("check: running it again, serially");
    const auto serial = dsl::SerialRun(
        program.text, program.options, kernels.registry(), diagnostics,
        [&](int64_t done, int64_t needed) {
          waiting->Update(clock.Now(), {.done = done, .needed = needed});
        });
    waiting.reset();
    if (!serial.ok()) return SayError(serial.status());
    report.check_passed = serial->digest == digest;
    if (!*report.check_passed) code = ExitCode::kFailed;
    const std::string words = CheckSentence(digest, serial->digest);
    if (*report.check_passed) {
      std::fprintf(stderr, "%s\n", words.c_str());
    } else {
      SayError(words);
      SayDifferences(*serial, views);
    }
  }
  if (!report.agents_unheard.empty()) {
    std::fprintf(stderr,
                 "warning: %s did not answer: what was done there is not "
                 "counted\n",
                 absl::StrJoin(report.agents_unheard, ", ").c_str());
  }
  if (options.json) {
    std::printf("%s\n", report.ToJson().c_str());
  } else {
    const auto numbers =
        NumbersAmongResults(program.job.program, views.lookup());
    if (!numbers.ok()) return SayError(numbers.status());
    std::printf("%s", numbers->c_str());
    SayIfNotKept(options, program, !numbers->empty());
    for (const Loss& loss : report.losses) {
      std::fprintf(stderr, "%s\n", LossSentence(loss).c_str());
    }
    std::printf(
        "%s\n",
        DoneSentence({.elapsed = absl::Seconds(report.compute_seconds),
                      .agents_lost = static_cast<int32_t>(report.losses.size()),
                      .redone = report.tasks_recomputed,
                      .needed = report.tasks_needed,
                      .missing = MissingOf(report)})
            .c_str());
  }
  return code;
}

ExitCode RunEmbedded(const RunOptions& options, const LoadedProgram& program,
                     const KernelSource& kernels, absl::Time wall_start) {
  SayReplicas(options.replicas, /*agents=*/1);
  SystemClock clock;
  auto deferred = std::make_unique<InterruptsDeferred>(&kernels);
  FlopsTime flops_time;
  auto table = kernels.Load(program.job, options.program.workers);
  if (IsInterrupted()) {
    return SayError(
        absl::CancelledError("interrupted while compiling; nothing has run"));
  }
  if (!table.ok()) return SayError(table.status());
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
    return SayStopped(program.job.program, run);
  }
  deferred.reset();
  if (!status.ok()) {
    return SayFailure(status);
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
  report.tasks_needed = NeededAt(program.job.program, time, run.needed_count());
  dsl::ResultViews views(ended.job.program, lookup);
  const auto digest = views.DigestOfAll();
  if (!digest.ok()) return SayError(digest.status());
  report.result_digest = *digest;
  return FinishRun(options, ended, kernels, *table, views, std::move(report));
}

namespace {

// Fills in for how many agents and workers, too.
absl::StatusOr<LoadedProgram> Load(RunOptions& options,
                                   const KernelSource& kernels) {
  ProgramOptions& program = options.program;
  if (!options.cluster.empty() &&
      (program.agents == 0 || program.workers == 0)) {
    return LoadForCluster(options, kernels);
  }
  program.agents = std::max(1, program.agents);
  program.workers = WorkersPerAgent(program.workers, program.agents);
  return LoadProgram(program, kernels);
}

// Of a run that brings what it needs: an error if there is no room for it, a
// warning where it may be short.
absl::Status CheckRoom(const RunOptions& options, const LoadedProgram& program,
                       const Environment& environment, bool is_embedded) {
  const auto here = static_cast<double>(PhysicalBytes());
  AgentsRoom agents{.agents = options.program.agents,
                    .unbounded = here,
                    .unbounded_share = 1};
  DOGGED_ASSIGN_OR_RETURN(const int64_t bound,
                          ParseBytes(environment.memory, "DOGGED_MEMORY"));
  if (bound > 0) {
    agents.bounded = static_cast<double>(bound) * agents.agents;
    agents.unbounded_share = 0;
  }
  return SayRoom({.footprint = program.facts.footprint,
                  .here = here,
                  .replicas = options.replicas == 0 ? 2 : options.replicas,
                  .agents = is_embedded ? nullptr : &agents,
                  .agents_are_here = true});
}

ExitCode RunOrThrow(const RunOptions& options, const Environment& environment) {
  SystemClock clock;
  const absl::Time wall_start = clock.Now();
  const KernelSource kernels(environment);
  RunOptions filled = options;
  filled.program.writes_results = true;
  if (!filled.cluster.empty() &&
      (!filled.kill_at.empty() || !filled.join_at.empty() ||
       filled.kill_every_seconds > 0)) {
    SayError(
        "--kill-at, --kill-every and --join-at are for agents that this "
        "command starts, not for those of --cluster");
    return ExitCode::kMistyped;
  }
  if (!filled.kill_at.empty() && filled.join_at.empty() &&
      filled.program.agents <= 1) {
    SayError("--kill-at would kill the only agent: add --agents 2, or more");
    return ExitCode::kMistyped;
  }
  const auto program = Load(filled, kernels);
  if (!program.ok()) return ExitCodeOf(program.status());
  if (!filled.json && !filled.seed_given) {
    std::fprintf(stderr, "seed %llu\n",
                 static_cast<unsigned long long>(filled.seed));
  }
  SayInputs(*program);
  // Bounded memory and a directory are matters of an agent.
  const bool embedded = filled.cluster.empty() && filled.program.agents == 1 &&
                        filled.kill_at.empty() && filled.join_at.empty() &&
                        filled.kill_every_seconds == 0 && !filled.search_only &&
                        environment.memory.empty() &&
                        environment.directory.empty();
  if (filled.cluster.empty()) {
    const absl::Status room =
        CheckRoom(filled, *program, environment, embedded);
    if (!room.ok()) return SayError(room);
  }
  return embedded
             ? RunEmbedded(filled, *program, kernels, wall_start)
             : RunOnCluster(filled, *program, kernels, environment, wall_start);
}

}  // namespace

ExitCode RunCommand(const RunOptions& options, const Environment& environment) {
  CatchInterrupts("interrupted: nothing has run\n");
  const std::unique_ptr<TilePool> tiles = TilePool::Create(PhysicalBytes());
  if (tiles != nullptr) tiles->Install();
  try {
    return RunOrThrow(options, environment);
  } catch (const std::bad_alloc&) {
    return SayError(OrNoAddresses(absl::ResourceExhaustedError(
        absl::StrCat("no memory beyond the ", PeakResidentBytes(),
                     " bytes that this process had"))));
  }
}

}  // namespace dogged
