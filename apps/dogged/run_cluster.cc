// Running a job on agents: our own, or a cluster that is there already.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged/cluster_client.h"
#include "apps/dogged/launch.h"
#include "apps/dogged/progress_printer.h"
#include "apps/dogged/run_outcome.h"
#include "runtime/base/clock.h"
#include "runtime/base/random.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::Duration kStartTimeout = absl::Seconds(30);
constexpr absl::Duration kViewsTimeout = absl::Seconds(2);
constexpr absl::Duration kPollInterval = absl::Milliseconds(40);

// One run, from the first agent to the last result.
class ClusterRun {
 public:
  ClusterRun(const RunOptions& options, const LoadedProgram& program,
             const Environment& environment)
      : options_(options),
        program_(program),
        relations_(program.job.program),
        agents_({.workers = options.program.workers,
                 .memory = environment.memory,
                 .multicast = options.multicast}),
        rng_(options.seed),
        tasks_needed_(program.job.program.TaskCount()) {}

  absl::Status Run() {
    DOGGED_RETURN_IF_ERROR(Connect());
    start_ = clock_.Now();
    ProgressPrinter progress;
    JobOptions job_options{.replicas = options_.replicas,
                           .search_only = options_.search_only};
    if (job_options.replicas == 0) {
      job_options.replicas =
          options_.program.agents > 1 || client_->agent_count() > 1 ? 2 : 1;
    }
    Rng ids = Rng(options_.seed).Stream("submission");
    DOGGED_RETURN_IF_ERROR(client_->Submit(program_.job.Encode(),
                                           SubmissionId(ids.Next() | 1),
                                           job_options, relations_));
    while (!client_->HasAll()) {
      const absl::Status collected = client_->Collect(kPollInterval);
      DOGGED_RETURN_IF_ERROR(NoteStatus());
      DOGGED_RETURN_IF_ERROR(collected);
      if (note_ != said_note_ && !note_.empty()) {
        progress.Say(absl::StrCat("the job waits: ", note_));
      }
      said_note_ = note_;
      progress.Update(clock_.Now(),
                      {.done = std::min(tasks_needed_, ledger_.tasks_done()),
                       .needed = tasks_needed_,
                       .alive = alive_,
                       .wanted = std::max(alive_, options_.program.agents)});
      DOGGED_RETURN_IF_ERROR(InjectFaults(progress));
      NoteDeaths(progress);
    }
    compute_ = clock_.Now() - start_;
    JobRecord record = client_->record();
    record.state = JobState::kDone;
    (void)client_->Conclude(record);
    DOGGED_RETURN_IF_ERROR(NoteStatus());
    return absl::OkStatus();
  }

  absl::StatusOr<Value> Find(const Label& label) const {
    Value value = client_->Find(label);
    if (value.IsNone()) return absl::InternalError("a result is missing");
    return value;
  }

  RunReport Report() const {
    RunReport report{.job = client_->record().hash.ToString(),
                     .program = program_.job.program.name};
    report.compute_seconds = absl::ToDoubleSeconds(compute_);
    report.tasks_needed = tasks_needed_;
    report.agents_started =
        options_.cluster.empty() ? options_.program.agents : alive_;
    report.agents_joined = joined_;
    report.seed = options_.seed;
    ledger_.Fill(report);
    // What was run again is the work of all losses together; nothing tells
    // them apart, so each gets an equal part.
    report.losses = losses_;
    for (Loss& loss : report.losses) {
      loss.redone =
          report.tasks_recomputed / static_cast<int64_t>(report.losses.size());
    }
    return report;
  }

  // What was asked for and did not happen; empty if all did.
  std::string Omissions() const {
    const size_t kills = options_.kill_at.size() - kills_done_;
    const size_t joins = options_.join_at.size() - joins_done_;
    std::string out;
    if (kills > 0) {
      absl::StrAppend(&out, "--kill-at ", options_.kill_at[kills_done_].text,
                      " did not happen: the run was over before. ");
    }
    if (joins > 0) {
      absl::StrAppend(&out, "--join-at ", options_.join_at[joins_done_].text,
                      " did not happen: the run was over before. ");
    }
    if (options_.kill_every_seconds > 0 && periodic_kills_ == 0) {
      absl::StrAppend(&out,
                      "--kill-every did not happen: the run was over before. ");
    }
    return out;
  }

 private:
  absl::Status Connect() {
    std::vector<std::string> addresses;
    if (options_.cluster.empty()) {
      DOGGED_RETURN_IF_ERROR(
          agents_.Start(options_.program.agents, kStartTimeout));
      for (const auto& process : agents_.processes()) {
        addresses.push_back(process.address);
      }
    } else {
      addresses.push_back(options_.cluster);
    }
    DOGGED_ASSIGN_OR_RETURN(client_, ClusterClient::Connect(addresses));
    AwaitViews();
    return absl::OkStatus();
  }

  // Until our agents know one another, within reason: a job that starts before
  // that runs right, but some of its tasks twice.
  void AwaitViews() {
    if (!options_.cluster.empty()) return;
    const auto wanted = static_cast<size_t>(options_.program.agents);
    const absl::Time deadline = clock_.Now() + kViewsTimeout;
    bool all = false;
    while (!all && clock_.Now() < deadline) {
      const std::vector<StatusReply> replies = client_->PollStatus();
      all = replies.size() == wanted;
      for (const StatusReply& reply : replies) {
        all = all && reply.members.size() == wanted;
      }
    }
  }

  // Takes in what the agents say; an error if the job has failed.
  absl::Status NoteStatus() {
    note_.clear();
    const std::vector<StatusReply> replies = client_->PollStatus();
    alive_ = static_cast<int>(replies.size());
    for (const StatusReply& reply : replies) {
      ledger_.Note(reply, client_->record().job());
      for (const JobSummary& job : reply.jobs) {
        if (job.record.Key() != client_->record().Key()) continue;
        if (!job.note.empty()) note_ = job.note;
        if (job.record.state == JobState::kFailed) {
          return job.record.code == absl::StatusCode::kResourceExhausted
                     ? absl::ResourceExhaustedError(job.record.message)
                     : absl::AbortedError(job.record.message);
        }
        if (job.record.state == JobState::kCancelled) {
          return absl::AbortedError("the job was cancelled");
        }
      }
    }
    return absl::OkStatus();
  }

  bool IsDue(const When& when) const {
    if (when.share.has_value()) {
      return static_cast<double>(ledger_.tasks_done()) >=
             *when.share * static_cast<double>(tasks_needed_);
    }
    return clock_.Now() - start_ >= absl::Seconds(when.seconds);
  }

  absl::Status InjectFaults(ProgressPrinter& progress) {
    while (kills_done_ < options_.kill_at.size() &&
           IsDue(options_.kill_at[kills_done_])) {
      if (!KillOne(progress)) break;
      ++kills_done_;
    }
    if (options_.kill_every_seconds > 0 &&
        clock_.Now() - start_ >=
            (periodic_kills_ + 1) *
                absl::Seconds(options_.kill_every_seconds)) {
      ++periodic_kills_;
      if (KillOne(progress)) DOGGED_RETURN_IF_ERROR(AddOne(progress));
    }
    while (joins_done_ < options_.join_at.size() &&
           IsDue(options_.join_at[joins_done_])) {
      ++joins_done_;
      DOGGED_RETURN_IF_ERROR(AddOne(progress));
    }
    return absl::OkStatus();
  }

  // False if there is nobody who may be killed.
  bool KillOne(ProgressPrinter& progress) {
    const std::vector<size_t> alive = agents_.Alive();
    if (alive.size() < 2) return false;
    agents_.Kill(alive[static_cast<size_t>(
        rng_.Below(static_cast<int64_t>(alive.size())))]);
    // The death is certain and takes effect at once.
    while (!NoteDeaths(progress)) {
    }
    return true;
  }

  absl::Status AddOne(ProgressPrinter& progress) {
    DOGGED_RETURN_IF_ERROR(agents_.Start(1, kStartTimeout));
    client_->AddAddress(agents_.processes().back().address);
    ++joined_;
    if (!losses_.empty() && losses_.back().replaced_by.empty()) {
      losses_.back().replaced_by = agents_.processes().back().name;
    }
    progress.Say(absl::StrCat(agents_.processes().back().name, " joined"));
    return absl::OkStatus();
  }

  bool NoteDeaths(ProgressPrinter& progress) {
    const std::vector<size_t> ended = agents_.Reap();
    for (size_t index : ended) {
      const auto& process = agents_.processes()[index];
      losses_.push_back({.who = process.name,
                         .after = clock_.Now() - start_,
                         .cause = process.end,
                         .needed = tasks_needed_});
      progress.Say(absl::StrCat("lost ", process.name, " (", process.end, ")"));
    }
    return !ended.empty();
  }

  mutable SystemClock clock_;
  const RunOptions& options_;
  const LoadedProgram& program_;
  const Relations relations_;
  LocalAgents agents_;
  Rng rng_;
  const int64_t tasks_needed_;
  std::unique_ptr<ClusterClient> client_;
  AgentLedger ledger_;
  absl::Time start_;
  absl::Duration compute_;
  std::vector<Loss> losses_;
  size_t kills_done_ = 0;
  size_t joins_done_ = 0;
  int periodic_kills_ = 0;
  int joined_ = 0;
  int alive_ = 0;
  std::string note_;  // what agents say the job waits for
  std::string said_note_;
};

}  // namespace

ExitCode RunOnCluster(const RunOptions& options, const LoadedProgram& program,
                      const KernelSource& kernels,
                      const Environment& environment, absl::Time wall_start) {
  // Agents find what this compiles in the cache.
  const auto table = kernels.Load(program.job);
  if (!table.ok()) {
    std::fprintf(stderr, "error: %s\n",
                 std::string(table.status().message()).c_str());
    return ExitCodeOf(table.status());
  }
  ClusterRun run(options, program, environment);
  const absl::Status status = run.Run();
  if (!status.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
    return status.code() == absl::StatusCode::kAborted ? ExitCode::kFailed
                                                       : ExitCodeOf(status);
  }
  SystemClock clock;
  RunReport report = run.Report();
  report.wall_seconds = absl::ToDoubleSeconds(clock.Now() - wall_start);
  const ExitCode code = FinishRun(
      options, program, kernels, *table,
      [&run](const Label& label) { return run.Find(label); },
      std::move(report));
  const std::string omissions = run.Omissions();
  if (!omissions.empty()) {
    std::fprintf(stderr, "error: %s\n", omissions.c_str());
    if (code == ExitCode::kDone) return ExitCode::kMistyped;
  }
  return code;
}

}  // namespace dogged
