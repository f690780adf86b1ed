#include "apps/dogged/door/door_job.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/client_times.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/door/shared_values.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/run/not_finite.h"
#include "apps/dogged/run/run_progress.h"
#include "apps/output/run_text.h"
#include "runtime/base/status.h"
#include "runtime/exec/needed.h"
#include "runtime/graph/rounds.h"

namespace dogged {
namespace {

bool IsSameBox(const ResultView& view, const dsl::SelectedLabels& labels) {
  return view.lower == labels.lower && view.upper == labels.upper &&
         view.step == labels.step;
}

// Its own memory while it lives.
class InstalledMemory {
 public:
  explicit InstalledMemory(ValueMemory& memory) { SetValueMemory(&memory); }
  ~InstalledMemory() { SetValueMemory(nullptr); }
  InstalledMemory(const InstalledMemory&) = delete;
  InstalledMemory& operator=(const InstalledMemory&) = delete;
};

}  // namespace

absl::StatusOr<std::vector<NamedResult>> ResultsOf(
    const LoadedProgram& program, const std::vector<std::string>& wanted) {
  std::vector<NamedResult> out;
  const auto& views = program.job.program.views;
  std::vector<bool> is_wanted(views.size());
  for (size_t w = 0; w < wanted.size(); ++w) {
    auto selection = ParseLabels(wanted[w]);
    if (!selection.ok()) {
      return absl::NotFoundError(std::string(selection.status().message()));
    }
    const dsl::SelectedLabels& labels = program.wanted_labels[w];
    const auto view = static_cast<size_t>(labels.view);
    is_wanted[view] = is_wanted[view] || IsSameBox(views[view], labels);
    out.push_back({.name = wanted[w],
                   .output = {.from = "want",
                              .selection = *std::move(selection),
                              .labels = labels}});
  }
  std::map<std::string, int> counts;
  for (size_t v = 0; v < views.size(); ++v) {
    if (!is_wanted[v]) ++counts[views[v].array];
  }
  for (size_t v = 0; v < views.size(); ++v) {
    if (is_wanted[v]) continue;
    const ResultView& view = views[v];
    NamedResult one{.name =
                        counts[view.array] > 1 ? LabelsText(view) : view.array};
    one.output.selection = {
        .text = view.array, .array = view.array, .indices = {}, .path = ""};
    one.output.labels = {.view = static_cast<int32_t>(v),
                         .lower = view.lower,
                         .upper = view.upper,
                         .step = view.step};
    out.push_back(std::move(one));
  }
  return out;
}

DoorJob::DoorJob(LoadedProgram program, std::vector<NamedResult> results,
                 Options options)
    : program_(std::move(program)),
      results_(std::move(results)),
      options_(std::move(options)),
      relations_(program_.job.program),
      tasks_needed_(NeededTasks(relations_).count()) {}

absl::Status DoorJob::Submit() {
  DOGGED_ASSIGN_OR_RETURN(
      client_, ClusterClient::Connect(options_.addresses,
                                      {.connect = options_.connect}));
  DOGGED_ASSIGN_OR_RETURN(const std::vector<StatusReply> replies,
                          client_->AwaitStatus());
  NoteAgents(replies);
  JobOptions job = options_.job;
  // A loop's tasks are not known before its end.
  if (!program_.job.program.repeat.has_value()) {
    job.tasks_needed = tasks_needed_;
  }
  DOGGED_RETURN_IF_ERROR(client_->Submit(program_.job, options_.submission, job,
                                         relations_, TextHash(program_)));
  hash_ = client_->record().hash.ToString();
  Tell("submitted", {{"job", hash()}, {"program", program_.job.program.name}});
  return absl::OkStatus();
}

void DoorJob::NoteAgents(const std::vector<StatusReply>& replies) {
  start_ = clock_.Now();
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      ledger_.NoteAddress(m.member.id, m.member.control_address);
      started_ += m.member.id == reply.self ? 1 : 0;
    }
  }
  (void)losses_.Note(replies, absl::ZeroDuration());
  (void)member_news_.Note(replies);
}

absl::Status DoorJob::Attach(std::unique_ptr<ClusterClient> client,
                             NamedJob named) {
  client_ = std::move(client);
  DOGGED_ASSIGN_OR_RETURN(const std::vector<StatusReply> replies,
                          client_->AwaitStatus());
  NoteAgents(replies);
  DOGGED_RETURN_IF_ERROR(client_->Attach(named.record(), relations_));
  watch_.emplace(*client_, std::move(named), start_);
  hash_ = client_->record().hash.ToString();
  Tell("attached", {{"job", hash()}, {"program", program_.job.program.name}});
  return absl::OkStatus();
}

void DoorJob::Tell(const char* event, nlohmann::ordered_json fields) {
  nlohmann::ordered_json out = {{"event", event}};
  out.update(fields);
  events_.push_back(std::move(out));
}

std::vector<nlohmann::ordered_json> DoorJob::TakeEvents() {
  return std::exchange(events_, {});
}

int64_t DoorJob::TasksNeeded() const {
  return NeededAt(program_.job.program, client_->rounds().time(),
                  tasks_needed_);
}

void DoorJob::Step(absl::Duration patience) {
  if (has_ended_) return;
  absl::Status status;
  try {
    status = StepOrFail(patience);
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("no memory beyond the ", PeakResidentBytes(),
                     " bytes that the client had"));
  }
  if (status.ok()) return;
  if (absl::IsUnavailable(status) && options_.reap != nullptr) options_.reap();
  has_ended_ = true;
  const ExitCode code = ExitCodeOf(status);
  const RunReport report = ReportAt(clock_.Now());
  Tell("failed", {{"status", static_cast<int>(code)},
                  {"error", ErrorJson(code, status.message(),
                                      nlohmann::ordered_json::array())},
                  {"report", report.ToJson()}});
}

absl::Status DoorJob::StepOrFail(absl::Duration patience) {
  if (client_->HasAll()) {
    DOGGED_ASSIGN_OR_RETURN(const bool has_all, client_->CopyLent());
    if (has_all && (!watch_ || watch_->IsDone())) return Finish();
  }
  const absl::Status collected = client_->Collect(patience);
  if (clock_.Now() >= next_poll_ || !collected.ok()) {
    next_poll_ = clock_.Now() + kPollInterval;
    // How the job failed comes before how the connection did.
    DOGGED_RETURN_IF_ERROR(Poll());
  }
  return collected;
}

absl::Status DoorJob::Poll() {
  const JobRecord& record = client_->record();
  // A job that was attached to goes on with any of its submissions.
  const std::vector<StatusReply> replies =
      watch_ ? client_->PollStatus({.jobs = {.job = record.job()}})
             : client_->PollOwn();
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      ledger_.NoteAddress(m.member.id, m.member.control_address);
    }
    ledger_.Note(reply, client_->record().job());
  }
  if (!options_.has_own_agents) {
    for (const Loss& loss : losses_.Note(replies, clock_.Now() - start_)) {
      Tell("lost", LossJson(loss));
    }
    for (const MemberNews::News& one : member_news_.Note(replies)) {
      Tell(one.has_left ? "left" : "joined", {{"who", one.address}});
    }
  }
  TellProgress();
  for (const StatusReply& reply : replies) {
    for (const JobSummary& job : reply.jobs) {
      const bool is_ours = watch_ ? job.record.hash == record.hash
                                  : job.record.Key() == record.Key();
      if (!is_ours) continue;
      std::vector<std::string> notes = job.troubles;
      if (!job.note.empty()) {
        notes.push_back(absl::StrCat("the job waits: ", job.note));
      }
      for (const std::string& words : notes) {
        if (told_.insert(words).second) Tell("note", {{"words", words}});
      }
      if (!watch_) DOGGED_RETURN_IF_ERROR(EndOf(job.record));
    }
  }
  if (!watch_) return absl::OkStatus();
  auto now = NamedJobIn(replies, record.hash);
  if (now.empty()) return absl::OkStatus();
  return watch_->Note(std::move(now.front()), clock_.Now());
}

void DoorJob::TellProgress() {
  Progress moment{.done = std::min(tasks_needed_, ledger_.tasks_done()),
                  .needed = tasks_needed_};
  NotePlace(program_.job.program, client_->rounds().time(), moment);
  if (moment.done == told_done_) return;
  told_done_ = moment.done;
  nlohmann::ordered_json fields = {{"done", moment.done},
                                   {"needed", moment.needed}};
  if (!moment.place.empty()) fields["place"] = moment.place;
  Tell("progress", std::move(fields));
}

RunReport DoorJob::ReportAt(absl::Time end) const {
  RunReport report{.job = client_->record().hash.ToString(),
                   .program = program_.job.program.name};
  report.compute_seconds = absl::ToDoubleSeconds(end - start_);
  report.wall_seconds = report.compute_seconds;
  report.tasks_needed = TasksNeeded();
  report.agents_started = started_;
  report.agents_left = losses_.left_count();
  report.agents_joined = std::max(0, losses_.known_count() - started_);
  report.replicas = client_->record().options.replicas;
  report.results_lent = client_->lent_count();
  report.troubles.assign(told_.begin(), told_.end());
  report.inputs_made = program_.facts.made;
  ledger_.Fill(report);
  report.losses = losses_.losses();
  ledger_.ShareRedone(losses_.lost(), report);
  return report;
}

// Wanted results come first.
absl::Status DoorJob::SelectAtEnd(const Job& ended) {
  if (options_.select == nullptr) return absl::OkStatus();
  DOGGED_ASSIGN_OR_RETURN(std::vector<dsl::SelectedLabels> labels,
                          options_.select(ended));
  for (size_t w = 0; w < labels.size(); ++w) {
    results_[w].output.labels = std::move(labels[w]);
  }
  return absl::OkStatus();
}

absl::Status DoorJob::Finish() {
  const absl::Time end = clock_.Now();
  DOGGED_RETURN_IF_ERROR(Poll());  // for what agents count at the end
  RunReport report = ReportAt(end);
  LoadedProgram ended = program_;
  if (program_.job.program.repeat.has_value()) {
    ended.job = EndedJob(program_.job, client_->rounds().time());
    report.loop = LoopEndOf(program_.job.program, client_->rounds().time());
    DOGGED_RETURN_IF_ERROR(SelectAtEnd(ended.job));
  }
  ResultMemory memory;
  const auto find = [this](const Label& label) -> absl::StatusOr<Value> {
    DOGGED_ASSIGN_OR_RETURN(Value value, client_->Find(label));
    if (value.IsNone()) return absl::InternalError("a result is missing");
    return value;
  };
  auto list = nlohmann::ordered_json::array();
  {
    const InstalledMemory installed(memory);
    dsl::ResultViews views(ended.job.program, find);
    NotFinite not_finite(ended.job.program);
    DOGGED_ASSIGN_OR_RETURN(report.result_digest,
                            DigestOfAll(views, not_finite));
    report.results_not_finite = not_finite.count();
    for (const std::string& words : not_finite.Words()) {
      Tell("note", {{"words", words}, {"is_warning", true}});
    }
    for (const NamedResult& one : results_) {
      DOGGED_ASSIGN_OR_RETURN(const Value value, ValueOf(one.output, views));
      DOGGED_ASSIGN_OR_RETURN(OwnedDescriptor descriptor,
                              memory.DescriptorOf(value));
      list.push_back({{"name", one.name},
                      {"array", one.output.selection.array},
                      {"type", ElementName(value.type())},
                      {"shape", std::vector<int64_t>(value.shape().begin(),
                                                     value.shape().end())}});
      finished_[one.name] = {.type = value.type(),
                             .shape = value.shape(),
                             .descriptor = std::move(descriptor)};
      // A client may write into what it gets, so each has memory of its own.
      views.Forget();
    }
  }
  if (watch_) {
    DOGGED_RETURN_IF_ERROR(
        CheckDigest(report.result_digest, watch_->named().record()));
    watch_.reset();
  } else {
    // Agents find out by themselves.
    (void)client_->ConcludeDone(report.result_digest,
                                /*they_stay=*/options_.job.keep_ms > 0);
  }
  client_.reset();  // the results that it has are in memory twice
  has_ended_ = true;
  Tell("done", {{"status", 0},
                {"results", std::move(list)},
                {"report", report.ToJson()}});
  return absl::OkStatus();
}

void DoorJob::NoteOwnLoss(const Loss& loss, const std::string& address) {
  if (has_ended_) return;
  Loss noted = loss;
  noted.after = clock_.Now() - start_;
  losses_.Lose(noted.who, ledger_.AgentAt(address), noted.cause, noted.after);
  Tell("lost", LossJson(noted));
}

void DoorJob::NoteOwnAgent(const std::string& address,
                           const std::string& name) {
  if (has_ended_) return;
  client_->AddAddress(address);
  Tell("joined", {{"who", name}});
}

absl::Status DoorJob::Cancel() {
  if (has_ended_) return absl::OkStatus();
  JobRecord record = client_->record();
  record.state = JobState::kCancelled;
  return client_->Conclude(record);
}

absl::StatusOr<DoorJob::Finished> DoorJob::Take(const std::string& name) {
  const auto it = finished_.find(name);
  if (it == finished_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no result \"", name, "\" is here: ",
                     has_ended_ ? "it was taken, or there is none of this name"
                                : "the job runs still"));
  }
  Finished out = std::move(it->second);
  finished_.erase(it);
  return out;
}

}  // namespace dogged
