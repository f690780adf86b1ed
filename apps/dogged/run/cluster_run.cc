#include "apps/dogged/run/cluster_run.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/client/client_times.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/find_agents.h"
#include "apps/dogged/client/result_room.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/report/member_news.h"
#include "apps/dogged/report/progress_printer.h"
#include "apps/dogged/run/agent_losses.h"
#include "apps/dogged/run/fault_schedule.h"
#include "apps/dogged/run/finish_run.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/dogged/run/local_agents.h"
#include "apps/dogged/run/not_finite.h"
#include "apps/dogged/run/patience.h"
#include "apps/dogged/run/run_progress.h"
#include "apps/dogged/run/run_warnings.h"
#include "apps/dogged/writers/agent_outputs.h"
#include "runtime/base/clock.h"
#include "runtime/base/hash.h"
#include "runtime/base/random.h"
#include "runtime/base/status.h"
#include "runtime/exec/needed.h"

namespace dogged {
namespace {

// Each question wakes every agent, so it is asked that often only where
// something is to be done at a moment of the run.
constexpr absl::Duration kPollWithFaults = absl::Milliseconds(40);
// Results wait so long for agents to write them, also if this command ends.
constexpr int64_t kKeepForWritersMs = 3'600'000;

// ClusterRun: a run from the first agent to the last result.
class ClusterRun {
 public:
  ClusterRun(const RunOptions& options, const LoadedProgram& program,
             const Environment& environment)
      : options_(options),
        program_(program),
        relations_(program.job.program),
        folder_(options.cluster.empty()
                    ? FolderOfJob(environment.directory, program.job)
                    : ""),
        agents_({.workers = options.program.workers,
                 .memory = environment.memory,
                 .directory = folder_,
                 .temporary_folder = environment.temporary_folder,
                 .multicast = options.multicast,
                 .key_file = options.credentials == nullptr
                                 ? std::string()
                                 : options.credentials->key_path(),
                 .flags = {"--libraries", options.libraries}}),
        rng_(options.seed),
        // Not by the seed: a job that was run before is to run again.
        submission_(Rng(environment.entropy).Stream("submission").Next() | 1),
        tasks_needed_(NeededTasks(relations_).count()),
        faults_(options),
        room_(RoomForResults(program.outputs, environment)) {}

  absl::Status Run() {
    DOGGED_RETURN_IF_ERROR(Connect());
    start_ = clock_.Now();
    ProgressPrinter progress;
    progress_ = &progress;
    const absl::Status status = RunJob(progress);
    NoteDeaths(progress);
    progress_ = nullptr;
    return status.code() == absl::StatusCode::kUnavailable && EndedForRoom()
               ? absl::ResourceExhaustedError(
                     "no agent is left: they had no room; their words are "
                     "above")
               : status;
  }

  // Tells all agents that the job is done. They find out by themselves if this
  // does not arrive.
  void Conclude(const Digest& digest) {
    (void)client_->ConcludeDone(digest, /*they_stay=*/false);
  }

  // Says why the run is over without results.
  ExitCode StopWith(const absl::Status& status) {
    const ExitCode code = PrintError(status);
    TellUnwritten();
    End(/*is_delivered=*/false);
    return code;
  }

  // Ends the run's own agents. Their folder is removed if all has been
  // delivered, else its place is printed.
  void End(bool is_delivered) {
    if (is_delivered) {
      agents_.EndAndForget();
      return;
    }
    agents_.End();
    std::error_code ignored;
    if (folder_.empty() || !std::filesystem::exists(folder_, ignored)) return;
    std::fprintf(stderr,
                 "%s is kept: the same command goes on from what is there\n",
                 folder_.c_str());
  }

  absl::StatusOr<Value> Find(const Label& label) const {
    DOGGED_ASSIGN_OR_RETURN(Value value, client_->Find(label));
    if (value.IsNone()) return absl::InternalError("a result is missing");
    return value;
  }

  // Has agents write the outputs; `ended` is left with those that they can't,
  // and `report` has the others. Errors: kCancelled.
  absl::Status WriteByAgents(LoadedProgram& ended, uint64_t entropy,
                             RunReport& report, ExitCode& code) {
    const absl::Time start = clock_.Now();
    DOGGED_ASSIGN_OR_RETURN(
        code, dogged::WriteByAgents(
                  {.connect = ConnectWith(options_.credentials),
                   .addresses = client_->Addresses(),
                   .job = client_->record().job(),
                   .is_interrupted = IsInterrupted},
                  ended.job.program, entropy, ended.outputs, report));
    fetch_ += clock_.Now() - start;
    ProgressPrinter progress;
    NoteDeaths(progress);
    // An agent may have taken the digest by now.
    return NoteStatus();
  }

  // Has the results come here, or some of them, after agents have written
  // others. Results that are lost are made again.
  absl::Status Fetch(const std::vector<Label>& labels) {
    const absl::Time start = clock_.Now();
    JobRecord record = client_->record();
    record.round = time();
    record.is_last_round = true;
    DOGGED_ASSIGN_OR_RETURN(
        client_, ClusterClient::Connect(client_->Addresses(),
                                        ClientOptions(/*collects=*/true)));
    DOGGED_RETURN_IF_ERROR(client_->Attach(record, relations_, labels));
    while (true) {
      if (client_->HasAll()) {
        DOGGED_ASSIGN_OR_RETURN(const bool has_all, client_->CopyLent());
        if (has_all) break;
      }
      if (IsInterrupted()) return absl::CancelledError(StopWords());
      DOGGED_RETURN_IF_ERROR(client_->Collect(kPollInterval));
      DOGGED_RETURN_IF_ERROR(NoteStatus());
    }
    fetch_ += clock_.Now() - start;
    return absl::OkStatus();
  }

  // A result that has not come here with the others.
  absl::StatusOr<Value> FetchOne(const Label& label) {
    DOGGED_RETURN_IF_ERROR(Fetch({label}));
    return Find(label);
  }

  // Says what becomes of results that are written nowhere.
  void TellUnwritten() const {
    if (IsCollecting() || !is_durable_) return;
    const std::string hash =
        client_->record().hash.ToString().substr(0, kNameDigits);
    std::fprintf(
        stderr, "%s\n",
        options_.cluster.empty()
            ? "the results end with the agents of this run; agents of a "
              "--cluster keep them"
            : absl::StrCat("the results stay with the agents for an hour: "
                           "`dogged fetch --cluster ",
                           options_.cluster, " ", hash,
                           " 'SELECTION=FILE' --output-to agents` has them "
                           "written")
                  .c_str());
  }

  // The digest of the results, as agents have said; none while they have not.
  const Digest& digest_of_agents() const { return digest_; }

  // Bytes that results may take in this process.
  int64_t result_bytes_max() const { return room_.bytes_max; }

  // The loop's parameter in its last round.
  int64_t time() const { return client_->rounds().time(); }

  RunReport Report() const {
    RunReport report{.job = client_->record().hash.ToString(),
                     .program = program_.job.program.name};
    report.results_lent = client_->lent_count();
    report.compute_seconds = absl::ToDoubleSeconds(compute_);
    report.fetch_seconds = absl::ToDoubleSeconds(fetch_);
    report.tasks_needed = TasksNeeded();
    report.agents_started = started_;
    report.agents_joined = joined_;
    report.replicas =
        std::min(client_->record().options.replicas, started_ + joined_);
    report.seed = options_.seed;
    report.submissions = submissions_;
    ledger_.Fill(report);
    report.agents_left = left_;
    report.agents_unheard = unheard_;
    report.troubles.assign(troubles_.begin(), troubles_.end());
    report.losses = agent_losses_.losses();
    ledger_.ShareRedone(agent_losses_.lost(), report);
    return report;
  }

  // Faults that were asked for and did not happen, and why; empty if all did.
  std::string Omissions() const {
    std::vector<std::string> out = failed_joins_;
    absl::c_move(faults_.Omissions(nobody_to_kill_), std::back_inserter(out));
    return absl::StrJoin(out, " ");
  }

 private:
  absl::Status RunJob(ProgressPrinter& progress) {
    JobOptions job_options{.replicas = Replicas(),
                           .search_only = options_.search_only,
                           .agents = options_.program.agents,
                           .workers = options_.program.workers,
                           .redo_max_ms = RedoMaxMs(options_.redo_max_seconds)};
    // Nobody asks for the results until agents write them.
    if (!IsCollecting()) job_options.keep_ms = kKeepForWritersMs;
    // A loop's tasks are not known before its end.
    if (!program_.job.program.repeat.has_value())
      job_options.tasks_needed = tasks_needed_;
    DOGGED_RETURN_IF_ERROR(
        OrResumed(client_->Submit(program_.job, submission_, job_options,
                                  relations_, TextHash(program_)),
                  progress));
    absl::Time all_here;
    absl::Time computed = absl::InfiniteFuture();  // as agents have said
    while (true) {
      DOGGED_ASSIGN_OR_RETURN(const bool has_all, HasAllForGood(all_here));
      if (has_all) break;
      if (IsInterrupted()) return absl::CancelledError(StopWords());
      const absl::Duration interval =
          faults_.IsWaiting() ? kPollWithFaults : kPollInterval;
      const absl::Status collected = IsCollecting() ? client_->Collect(interval)
                                                    : client_->Serve(interval);
      DOGGED_RETURN_IF_ERROR(NoteStatus());
      DOGGED_RETURN_IF_ERROR(OrResumed(collected, progress));
      computed = TasksDone() < TasksNeeded() || !client_->rounds().HasEnded()
                     ? absl::InfiniteFuture()
                     : std::min(computed, clock_.Now());
      if (note_ != said_note_ && !note_.empty()) {
        progress.PrintLine(absl::StrCat("the job waits: ", note_));
      }
      said_note_ = note_;
      const int alive = AliveCount();
      Progress moment{.done = std::min(tasks_needed_, TasksDone()),
                      .needed = tasks_needed_,
                      .alive = alive,
                      .silent = std::max(0, alive - answered_),
                      .wanted = std::max(alive, started_)};
      NotePlace(program_.job.program, time(), moment);
      NoteInputs(moment);
      WarnOfRisk(progress);
      progress.Update(clock_.Now(), moment);
      InjectFaults(progress);
      TakeStarted(absl::ZeroDuration(), progress);
      NoteDeaths(progress);
    }
    computed = std::min(computed, all_here);
    compute_ = computed - start_;
    fetch_ = all_here - computed;
    TakeStarted(kStartTimeout, progress);
    DOGGED_RETURN_IF_ERROR(NoteStatus());
    NoteDeaths(progress);
    return absl::OkStatus();
  }

  // Work of agents that are no more, all of them, is done again.
  int64_t TasksDone() const {
    return std::max<int64_t>(0, ledger_.tasks_done() - tasks_before_);
  }

  // `status`, unless that is that no agent answers any more, and some come back
  // within --patience: then they have the job again.
  absl::Status OrResumed(const absl::Status& status,
                         ProgressPrinter& progress) {
    if (!absl::IsUnavailable(status) || options_.cluster.empty() ||
        options_.patience <= absl::ZeroDuration()) {
      return status;
    }
    agent_losses_.LoseAll("nobody answered any more", clock_.Now() - start_);
    bool is_first = true;
    const auto resume = [&]() -> absl::Status {
      if (std::exchange(is_first, false)) return status;
      DOGGED_ASSIGN_OR_RETURN(
          std::vector<std::string> addresses,
          FindAgents(options_.cluster, options_.credentials));
      return client_->Resume(std::move(addresses));
    };
    DOGGED_RETURN_IF_ERROR(
        Outlive(options_.patience, resume,
                [&](absl::string_view words) { progress.PrintLine(words); }));
    ++submissions_;
    tasks_before_ = ledger_.tasks_done();
    progress.PrintLine("agents are there again, and have the job");
    return absl::OkStatus();
  }

  // Where links don't carry as many cuts as --redo-at-most asks for.
  void WarnOfRisk(ProgressPrinter& progress) {
    const double asked = options_.redo_max_seconds;
    const double risk =
        1e-3 * static_cast<double>(ledger_.TotalStats().at_risk_ms);
    if (asked <= 0 || risk < 1.2 * asked + 1 || std::exchange(told_risk_, true))
      return;
    progress.PrintLine(absl::StrFormat(
        "--redo-at-most %.3g s can't be kept: %.1f s of an agent's work are in "
        "no cut, for links carry none as often; the report says how much in "
        "the end",
        asked, risk));
  }

  // Shows the share of large inputs that agents have, until they have all.
  void NoteInputs(Progress& moment) const {
    const int64_t given = client_->input_bytes_given();
    if (given >= client_->input_bytes()) return;
    moment.place =
        absl::StrCat(moment.place, moment.place.empty() ? "" : ", ", "inputs ",
                     HumanPercent(static_cast<double>(given) /
                                  static_cast<double>(client_->input_bytes())));
  }

  // Tasks that the results need; in a loop, for its rounds so far.
  int64_t TasksNeeded() const {
    return NeededAt(program_.job.program, time(), tasks_needed_);
  }

  int Replicas() const {
    if (options_.replicas > 0) return options_.replicas;
    return options_.program.agents > 1 || client_->agent_count() > 1 ? 2 : 1;
  }

  // Agents that live. An agent that does not answer may only be slow, so our
  // own are counted as processes, and for all others their members are asked.
  int AliveCount() const {
    return options_.cluster.empty() ? static_cast<int>(agents_.Alive().size())
                                    : agent_losses_.alive_count();
  }

  // `when` becomes the time when all had come.
  absl::StatusOr<bool> HasAllForGood(absl::Time& when) {
    if (!IsCollecting()) {
      when = clock_.Now();
      return is_durable_ && client_->rounds().HasEnded();
    }
    if (!client_->HasAll()) return false;
    when = clock_.Now();
    return client_->CopyLent();
  }

  // Results come here; else agents write them.
  bool IsCollecting() const { return options_.output_to != "agents"; }
  ClusterClient::Options ClientOptions(bool collects) const {
    return {.results_bytes_max = room_.bytes_max,
            .result_folders = room_.folders,
            .collects = collects,
            .connect = ConnectWith(options_.credentials)};
  }

  absl::Status Connect() {
    std::vector<std::string> addresses = options_.cluster_agents;
    if (options_.cluster.empty()) {
      DOGGED_RETURN_IF_ERROR(
          agents_.Start(options_.program.agents, kStartTimeout));
      for (const auto& process : agents_.processes()) {
        addresses.push_back(process.address);
      }
      agents_.Prepare(static_cast<int>(options_.join_at.size()));
    }
    const ClusterClient::Options client_options = ClientOptions(IsCollecting());
    if (!addresses.empty()) {
      auto client = ClusterClient::Connect(addresses, client_options);
      const bool may_come =
          !options_.cluster.empty() && absl::IsUnavailable(client.status());
      if (!client.ok() && !may_come) return client.status();
      if (client.ok()) client_ = *std::move(client);
    }
    if (client_ == nullptr) {
      DOGGED_ASSIGN_OR_RETURN(client_,
                              ConnectPatiently(options_, client_options));
    }
    AwaitViews();
    DOGGED_ASSIGN_OR_RETURN(const std::vector<StatusReply> replies,
                            client_->AwaitStatus());
    if (!options_.cluster.empty()) {
      const AgentsMemory agents = MemoryOf(replies);
      DOGGED_RETURN_IF_ERROR(WarnOfMemory(
          {.footprint = program_.facts.footprint,
           .here = IsCollecting() ? static_cast<double>(PhysicalBytes())
                                  : std::numeric_limits<double>::max(),
           .replicas = Replicas(),
           .agents = &agents}));
    }
    NoteMembers(replies, nullptr);
    started_ = options_.cluster.empty() ? options_.program.agents
                                        : agent_losses_.known_count();
    joined_ = 0;
    WarnOfReplicas(options_.replicas,
                   started_ + static_cast<int>(options_.join_at.size()));
    WarnOfPointTasks(program_, tasks_needed_, started_,
                     options_.program.workers);
    return absl::OkStatus();
  }

  // Message of an interrupt: what goes on and what ends.
  std::string StopWords() const {
    const std::string how_far =
        HowFar(program_.job.program, time(), TasksDone(), tasks_needed_);
    if (options_.cluster.empty()) {
      return absl::StrCat("interrupted: stopped ", program_.job.program.name,
                          " at ", how_far, " and its ", agents_.Alive().size(),
                          " agents; nothing was written");
    }
    return absl::StrCat(
        "interrupted: ", program_.job.program.name,
        " goes on without this client, at ", how_far,
        "; the same command attaches to it, `dogged cancel --cluster ",
        options_.cluster, " ",
        client_->record().hash.ToString().substr(0, kNameDigits), "` ends it");
  }

  // Notes arrivals and losses, as agents tell. Our own agents are processes,
  // from which both are known better.
  void NoteMembers(const std::vector<StatusReply>& replies,
                   ProgressPrinter* progress) {
    for (const StatusReply& reply : replies) {
      for (const MemberStatus& m : reply.members) {
        ledger_.NoteAddress(m.member.id, m.member.control_address);
      }
    }
    if (options_.cluster.empty()) return;
    for (const Loss& loss :
         agent_losses_.Note(replies, clock_.Now() - start_)) {
      if (progress == nullptr) continue;
      progress->PrintLine(
          absl::StrCat("lost ", loss.who, " (", loss.cause, ")"));
      PrintEvent("lost", LossJson(loss));
    }
    for (const MemberNews::News& one : member_news_.Note(replies)) {
      PrintEvent(one.has_left ? "left" : "joined", {{"who", one.address}});
    }
    joined_ = agent_losses_.known_count() - started_;
    left_ = agent_losses_.left_count();
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

  // Takes in the agents' status; an error if the job has failed.
  absl::Status NoteStatus() {
    note_.clear();
    const std::vector<StatusReply> replies = client_->PollOwn();
    answered_ = static_cast<int>(replies.size());
    NoteMembers(replies, progress_);
    // Our own that are silent have ended, which their processes say.
    if (!options_.cluster.empty()) unheard_ = AgentLosses::Unheard(replies);
    int64_t durable = 0;  // results
    int64_t needed = 0;
    bool is_done = false;
    for (const StatusReply& reply : replies) {
      ledger_.Note(reply, client_->record().job());
      for (const JobSummary& job : reply.jobs) {
        if (job.record.Key() != client_->record().Key()) continue;
        if (!job.note.empty()) note_ = job.note;
        NoteTroubles(job.troubles);
        durable += job.stats.results_durable;
        needed = std::max(needed, job.results_needed);
        if (job.record.state == JobState::kDone) {
          is_done = true;
          digest_ = job.record.result_digest;
        }
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
    if (is_done || (needed > 0 && durable >= needed)) is_durable_ = true;
    return absl::OkStatus();
  }

  void NoteTroubles(const std::vector<std::string>& troubles) {
    for (const std::string& words : troubles) {
      const bool is_news = troubles_.insert(words).second;
      if (is_news && progress_ != nullptr)
        progress_->PrintLine(Printable(words));
    }
  }

  // All own agents have ended, and some for want of memory or disk.
  bool EndedForRoom() const {
    const auto& processes = agents_.processes();
    return agents_.Alive().empty() &&
           absl::c_any_of(processes, [](const LocalAgents::Process& process) {
             return process.lacked_room;
           });
  }

  void InjectFaults(ProgressPrinter& progress) {
    const RunMoment now{.tasks_done = ledger_.tasks_done(),
                        .tasks_needed = TasksNeeded(),
                        .elapsed = clock_.Now() - start_};
    while (faults_.IsKillDue(now) && KillOne(progress)) faults_.NoteKill();
    if (faults_.TakePeriodicKill(now) && KillOne(progress)) {
      faults_.NotePeriodicKill();
      AddOne("the replacement of --kill-every");
    }
    while (const std::optional<std::string> when = faults_.TakeJoin(now)) {
      AddOne(absl::StrCat("--join-at ", *when));
    }
  }

  // False if there is no agent that may be killed.
  bool KillOne(ProgressPrinter& progress) {
    const std::vector<size_t> alive = agents_.Alive();
    nobody_to_kill_ = alive.size() < 2;
    if (nobody_to_kill_) return false;
    agents_.Kill(rng_.Pick(alive));
    NoteDeaths(progress);
    return true;
  }

  // Starts an agent, without waiting for it. The run goes on even if that
  // fails; the failure is told in the end.
  void AddOne(absl::string_view why) {
    const absl::StatusOr<size_t> started = agents_.StartOne(kStartTimeout);
    if (!started.ok()) return NoteFailedJoin(why, started.status());
    starting_.push_back({.index = *started,
                         .why = std::string(why),
                         .losses = agent_losses_.losses().size()});
  }

  void NoteFailedJoin(absl::string_view why, const absl::Status& status) {
    failed_joins_.push_back(
        absl::StrCat(why, " did not happen: ", status.message(), "."));
  }

  // Takes in the agents that listen by now, or within `patience` each.
  void TakeStarted(absl::Duration patience, ProgressPrinter& progress) {
    for (const Starting& one : std::exchange(starting_, {})) {
      const auto started = agents_.Started(one.index, patience);
      if (!started.has_value()) {
        starting_.push_back(one);
        continue;
      }
      if (!started->ok()) {
        NoteFailedJoin(one.why, *started);
        continue;
      }
      const LocalAgents::Process& process = agents_.processes()[one.index];
      client_->AddAddress(process.address);
      ++joined_;
      if (one.losses > 0) agent_losses_.Replace(one.losses - 1, process.name);
      progress.PrintLine(absl::StrCat(process.name, " joined"));
      PrintEvent("joined", {{"who", process.name}});
    }
  }

  void NoteDeaths(ProgressPrinter& progress) {
    for (size_t index : agents_.Reap()) {
      const auto& process = agents_.processes()[index];
      if (process.left) {
        ++left_;
        progress.PrintLine(absl::StrCat(process.name, " left"));
        PrintEvent("left", {{"who", process.name}});
        continue;
      }
      agent_losses_.Lose(process.name, ledger_.AgentAt(process.address),
                         process.end, clock_.Now() - start_);
      progress.PrintLine(
          absl::StrCat("lost ", process.name, " (", process.end, ")"));
      PrintEvent("lost", LossJson(agent_losses_.losses().back()));
    }
  }

  mutable SystemClock clock_;
  const RunOptions& options_;
  const LoadedProgram& program_;
  const Relations relations_;
  const std::string folder_;
  LocalAgents agents_;
  Rng rng_;
  const SubmissionId submission_;
  const int64_t tasks_needed_;  // of a loop, for all rounds that may come
  std::unique_ptr<ClusterClient> client_;
  AgentLedger ledger_;
  absl::Time start_;
  absl::Duration compute_;
  absl::Duration fetch_;
  bool is_durable_ = false;              // results, as agents have said
  Digest digest_;                        // likewise, of the results
  ProgressPrinter* progress_ = nullptr;  // while the job runs
  AgentLosses agent_losses_;
  MemberNews member_news_;  // of agents of a cluster
  FaultSchedule faults_;
  const ResultRoom room_;
  bool nobody_to_kill_ = false;
  // On its way; `losses` is how many there were when it was asked for.
  struct Starting {
    size_t index = 0;
    std::string why;
    size_t losses = 0;
  };
  std::vector<Starting> starting_;
  std::vector<std::string> failed_joins_;
  int submissions_ = 1;
  int64_t tasks_before_ = 0;  // done before the last submission
  int started_ = 0;
  int joined_ = 0;
  int left_ = 0;
  int answered_ = 0;  // agents, when they were last asked
  std::vector<std::string> unheard_;
  std::string note_;  // reason why the job waits, as agents tell
  std::string said_note_;
  bool told_risk_ = false;
  std::set<std::string> troubles_;  // of agents, as they say
};

}  // namespace

ExitCode RunOnCluster(const RunOptions& options, const LoadedProgram& program,
                      const KernelSource& kernels,
                      const Environment& environment, absl::Time wall_start) {
  auto deferred = std::make_unique<InterruptsDeferred>(&kernels);
  // Agents find the kernels that this compiles in the cache.
  const auto table = kernels.Load(program.job, /*workers=*/1);
  if (IsInterrupted()) {
    return PrintError(
        absl::CancelledError("interrupted while compiling; nothing has run"));
  }
  if (!table.ok()) return PrintError(table.status());
  RestKernels(*table);
  ClusterRun run(options, program, environment);
  const absl::Status status = run.Run();
  if (!status.ok()) return run.StopWith(status);
  LoadedProgram ended = EndedProgram(program, run.time());
  const bool agents_write = options.output_to == "agents";
  RunReport by_agents;
  ExitCode code = ExitCode::kDone;
  bool is_here = true;  // all results are
  if (agents_write) {
    const absl::Status written =
        run.WriteByAgents(ended, environment.entropy, by_agents, code);
    is_here = !ended.outputs.empty() || options.check;
    const absl::Status fetched =
        written.ok() && is_here ? run.Fetch({}) : written;
    if (!fetched.ok()) return run.StopWith(fetched);
  }
  const auto lookup = [&run, is_here](const Label& label) {
    return is_here ? run.Find(label) : run.FetchOne(label);
  };
  dsl::ResultViews views(ended.job.program, lookup, run.result_bytes_max());
  NotFinite not_finite(ended.job.program);
  const auto digest = is_here ? DigestOfAll(views, not_finite)
                              : absl::StatusOr<Digest>(run.digest_of_agents());
  if (!digest.ok()) return PrintError(digest.status());
  if (!agents_write) run.Conclude(*digest);
  deferred.reset();
  SystemClock clock;
  RunReport report = run.Report();
  report.result_digest = *digest;
  report.loop = LoopEndOf(program.job.program, run.time());
  report.wall_seconds = absl::ToDoubleSeconds(clock.Now() - wall_start);
  report.results_not_finite =
      is_here ? not_finite.Warn() : by_agents.results_not_finite;
  report.outputs = std::move(by_agents.outputs);
  report.outputs_failed = std::move(by_agents.outputs_failed);
  const ExitCode finished =
      FinishRun(options, ended, kernels, *table, views, std::move(report));
  if (code == ExitCode::kDone) code = finished;
  if (agents_write) {
    // Results that are not in their files stay.
    if (code == ExitCode::kDone || code == ExitCode::kFailed) {
      run.Conclude(*digest);
    } else {
      run.TellUnwritten();
    }
  }
  run.End(code == ExitCode::kDone);
  const std::string omissions = run.Omissions();
  if (!omissions.empty()) {
    PrintError(omissions);
    if (code == ExitCode::kDone) return ExitCode::kMistyped;
  }
  return code;
}

}  // namespace dogged
