#include "apps/dogged/jobs/submit_command.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/find_agents.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/report/memory_check.h"
#include "apps/dogged/report/progress_printer.h"
#include "apps/dogged/run/cluster_target.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/not_finite.h"
#include "apps/dogged/run/run_options.h"
#include "apps/dogged/run/run_warnings.h"
#include "runtime/base/clock.h"
#include "runtime/base/random.h"
#include "runtime/base/status.h"
#include "runtime/exec/needed.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

// Chunks are given in between.
constexpr absl::Duration kSubmitPollInterval = absl::Milliseconds(100);
constexpr absl::Duration kProgressInterval = absl::Seconds(2);

// Submission: a job on its way to the cluster.
class Submission {
 public:
  Submission(const SubmitOptions& options, const LoadedProgram& program)
      : options_(options),
        program_(program),
        relations_(program.job.program),
        tasks_needed_(NeededTasks(relations_).count()) {}

  absl::Status Run(SubmissionId id) {
    const RunOptions& run = options_.run;
    std::vector<std::string> addresses = run.cluster_agents;
    if (addresses.empty()) {
      DOGGED_ASSIGN_OR_RETURN(addresses,
                              FindAgents(run.cluster, run.credentials));
    }
    DOGGED_ASSIGN_OR_RETURN(
        client_, ClusterClient::Connect(
                     addresses, {.patience = ClusterClient::kNamedPatience,
                                 .collects = false,
                                 .connect = ConnectWith(run.credentials)}));
    DOGGED_ASSIGN_OR_RETURN(const std::vector<StatusReply> replies,
                            client_->AwaitStatus());
    const AgentsMemory agents = MemoryOf(replies);
    // Results don't come to this computer.
    DOGGED_RETURN_IF_ERROR(
        WarnOfMemory({.footprint = program_.facts.footprint,
                      .here = std::numeric_limits<double>::max(),
                      .replicas = Replicas(),
                      .agents = &agents}));
    WarnOfReplicas(run.replicas, agents.agents);
    WarnOfPointTasks(program_, tasks_needed_, agents.agents,
                     run.program.workers);
    JobOptions job_options{.replicas = Replicas(),
                           .search_only = run.search_only,
                           .agents = run.program.agents,
                           .workers = run.program.workers,
                           .redo_max_ms = RedoMaxMs(run.redo_max_seconds),
                           .keep_ms = std::max<int64_t>(
                               1, std::llround(1000 * options_.keep_seconds))};
    // A loop's tasks are not known before its end.
    if (!program_.job.program.repeat.has_value())
      job_options.tasks_needed = tasks_needed_;
    DOGGED_RETURN_IF_ERROR(client_->Submit(program_.job, id, job_options,
                                           relations_, TextHash(program_)));
    is_submitted_ = true;
    return GiveInputs();
  }

  // The cluster has the job, whatever becomes of it.
  bool IsSubmitted() const { return is_submitted_; }

  void Print() const {
    const std::string hash = client_->record().hash.ToString();
    if (!options_.run.json) {
      std::printf("%s\n", hash.c_str());
      if (std::fflush(stdout) != 0) {
        std::fprintf(stderr, "job %s is submitted\n", hash.c_str());
      }
      return;
    }
    const nlohmann::ordered_json out = {
        {"job", hash},
        {"program", program_.job.program.name},
        {"keep_seconds", options_.keep_seconds},
        {"tasks_needed", tasks_needed_},
        {"input_bytes", client_->input_bytes()}};
    SetAnswer(out);
  }

 private:
  int Replicas() const {
    if (options_.run.replicas > 0) return options_.run.replicas;
    return client_->agent_count() > 1 ? 2 : 1;
  }

  // Until an agent has all inputs that are in chunks, or no task needs them any
  // more: those who come after this client have nowhere to get them from.
  absl::Status GiveInputs() {
    const int64_t all = client_->input_bytes();
    ProgressPrinter progress;
    SystemClock clock;
    absl::Time next_words = clock.Now() + kProgressInterval;
    while (all > 0) {
      if (IsInterrupted()) return absl::CancelledError(StopWords());
      DOGGED_RETURN_IF_ERROR(client_->Serve(kSubmitPollInterval));
      int64_t supplied = 0;
      for (const StatusReply& reply : client_->PollOwn()) {
        for (const JobSummary& job : reply.jobs) {
          if (job.record.hash != client_->record().hash) continue;
          if (job.record.state == JobState::kDone) return absl::OkStatus();
          DOGGED_RETURN_IF_ERROR(EndOf(job.record));
          supplied = std::max(supplied, job.stats.input_bytes_supplied);
        }
      }
      if (supplied >= all) return absl::OkStatus();
      if (clock.Now() < next_words) continue;
      next_words = clock.Now() + kProgressInterval;
      progress.Wait(absl::StrCat("inputs ", HumanPercent(Share(supplied))));
    }
    return absl::OkStatus();
  }

  double Share(int64_t bytes) const {
    return static_cast<double>(bytes) /
           static_cast<double>(client_->input_bytes());
  }

  std::string StopWords() const {
    const std::string name =
        client_->record().hash.ToString().substr(0, kNameDigits);
    return absl::StrCat(
        "interrupted: ", name, " is submitted, but only ",
        HumanPercent(Share(client_->input_bytes_given())),
        " of its inputs: without the rest it fails; the same command gives "
        "that, `dogged cancel --cluster ",
        options_.run.cluster, " ", name, "` ends it");
  }

  const SubmitOptions& options_;
  const LoadedProgram& program_;
  const Relations relations_;
  const int64_t tasks_needed_;
  std::unique_ptr<ClusterClient> client_;
  bool is_submitted_ = false;
};

absl::StatusOr<LoadedProgram> LoadForSubmit(RunOptions& run,
                                            const KernelSource& kernels) {
  if (run.program.agents == 0 || run.program.workers == 0) {
    return LoadForCluster(run, kernels);
  }
  return LoadProgram(run.program, kernels);
}

ExitCode SubmitOrThrow(const SubmitOptions& options,
                       const Environment& environment) {
  const KernelSource kernels(environment);
  SubmitOptions filled = options;
  auto keys = OpenCredentials(filled.run.key_choice, environment);
  if (!keys.ok()) {
    PrintError(keys.status().message());
    return ExitCode::kMistyped;
  }
  filled.run.credentials = *std::move(keys);
  const auto program = LoadForSubmit(filled.run, kernels);
  if (!program.ok()) return ExitCodeOf(program.status());
  WarnOfInputs(*program);
  const InterruptsDeferred deferred(&kernels);
  Submission submission(filled, *program);
  const absl::Status status = submission.Run(
      SubmissionId(Rng(environment.entropy).Stream("submission").Next() | 1));
  // A job that fails as its inputs come has a name, too.
  if (submission.IsSubmitted()) submission.Print();
  return status.ok() ? ExitCode::kDone : PrintError(status);
}

}  // namespace

ExitCode SubmitCommand(const SubmitOptions& options,
                       const Environment& environment) {
  CatchInterrupts("interrupted: nothing was submitted\n");
  try {
    return SubmitOrThrow(options, environment);
  } catch (const std::bad_alloc&) {
    return PrintError(OrNoAddresses(absl::ResourceExhaustedError(
        absl::StrCat("no memory beyond the ", PeakResidentBytes(),
                     " bytes that this process had"))));
  }
}

}  // namespace dogged
