// Life of a job at an agent: its placement and kernels, its end, and its
// record.
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/placement_salts.h"
#include "runtime/graph/numeric_class.h"

namespace dogged {
namespace {

// Times for which a job that is over is kept, for clients that still ask.
// Results that no client has fetched are all kept for as long as a client may
// take to ask again, and then until kResultsKeptTime, unless those of all such
// jobs exceed kResultsKeptBytesMax here.
constexpr absl::Duration kKeptTime = absl::Seconds(2);
constexpr absl::Duration kLargeKeptTime = absl::Seconds(30);
constexpr absl::Duration kResultsKeptTime = absl::Minutes(10);
constexpr int64_t kResultsKeptBytesMax = 256 << 20;
// An agent without kernels by then leaves the job to agents that have them,
// until it does.
constexpr absl::Duration kKernelsPatience = absl::Seconds(15);

}  // namespace

PlacementView Agent::PlacementOf(const Job& job, const Digest& hash) const {
  std::vector<PlacementMember> out;
  bool has_heirs = false;
  for (const Member* member : TakersOf(job, hash)) {
    has_heirs |= member->id != id();
    out.push_back({member->id, member->host, member->workers});
  }
  // An agent that leaves has no shards of its own, if others are there.
  if (leaving_ && has_heirs) {
    out.erase(std::remove_if(out.begin(), out.end(),
                             [this](const PlacementMember& member) {
                               return member.agent == id();
                             }),
              out.end());
  }
  return {.members = std::move(out),
          .salts = SaltsOf(membership_.records(), hash)};
}

bool Agent::HasHeirs(const JobEntry& entry) const {
  const auto takers = TakersOf(*entry.job, entry.hash);
  return std::any_of(takers.begin(), takers.end(),
                     [&](const Member* member) { return member->id != id(); });
}

void Agent::StartRun(absl::Time now, JobEntry& entry, const JobRecord& record) {
  if (entry.job == nullptr) {
    absl::StatusOr<Job> job = Job::Decode(entry.encoded.view());
    if (!job.ok()) return FailJob(now, record.job(), job.status());
    TakeInputs(record.hash, entry, *job);
    entry.job = std::make_shared<const Job>(*std::move(job));
    entry.tasks_needed = entry.job->program.TaskCount();
    entry.results_needed = entry.job->program.ResultCount();
  }
  if (entry.kernels == nullptr && MeetsNumericClass(options_.self.numeric_class,
                                                    entry.job->numeric_class)) {
    MakeKernels(record.job(), entry.job);
    entry.kernels_due = now + kKernelsPatience;
  }
  entry.leavers.clear();
  entry.run = std::make_unique<JobRun>(JobDependencies{
      .self = id(),
      .id = record.job(),
      .job = entry.job,
      .kernels = entry.kernels,
      .options = record.options,
      .limits = options_.job_limits,
      .executor = &executor_,
      .multicast = &multicast_,
      .queued_bytes =
          [this](AgentId agent) {
            // Behind a link that is down bytes wait for as long as it is: bytes
            // on the way around it count.
            const AgentId relay = membership_.RelayTo(agent);
            return transport_.queued_bytes(relay.IsNone() ? agent : relay) +
                   packer_.waiting_bytes(agent);
          },
      .rng = rng_.Stream(record.hash.ToString()),
      .values = values_.get(),
      .storage = {.job = record.hash,
                  .keeps_values = options_.keeps_values,
                  .bytes_max = options_.job_limits.memory_bytes_max,
                  .live_bytes = options_.live_bytes,
                  .generation_interval =
                      options_.job_limits.generation_interval},
      .lending = lending_.get(),
      .inputs = entry.inputs.get()});
  if (draining_) entry.run->Pause();
  RaiseRounds(record.hash, *entry.run);
  entry.round_told = {-1, false};
  entry.troubles = TroublesOfJob(entry.hash);
  entry.run->SetMembers(now, PlacementOf(*entry.job, entry.hash), outbox_);
  // A directory may hold values of the job.
  if (options_.keeps_values) {
    static_assert(StoredJob::kTargetMax == JobOptions::kTargetMax);
    values_->NoteJob({.hash = record.hash,
                      .text_hash = record.text_hash,
                      .agents = record.options.agents,
                      .workers = record.options.workers});
    entry.run->StartDiskScan();
  } else {
    entry.run->TellStart(outbox_);
  }
}

void Agent::ApplySalts(absl::Time now, const std::string& key) {
  const auto known = membership_.records().find(key);
  refused_count_ += DecodeSalts(known->second.bytes.view()).ok() ? 0 : 1;
  for (auto& [id, entry] : jobs_) {
    if (entry.run == nullptr || HomesKey(entry.hash) != key) continue;
    entry.run->SetMembers(now, PlacementOf(*entry.job, entry.hash), outbox_);
  }
}

void Agent::RaiseRounds(const Digest& hash, JobRun& run) const {
  if (!run.rounds().IsLoop()) return;
  const auto [round, is_last] = index_.Find(JobId(hash.high))->round;
  run.RaiseRound(round, is_last);
}

void Agent::TellRounds(absl::Time now) {
  for (auto& [job, entry] : jobs_) {
    if (entry.run == nullptr || !entry.run->rounds().IsLoop()) continue;
    const Rounds& rounds = entry.run->rounds();
    const auto known = std::make_pair(rounds.round(), rounds.HasEnded());
    if (entry.round_told == known) continue;
    entry.round_told = known;
    entry.results_needed = rounds.ResultCount().value_or(INT64_MAX);
    entry.tasks_needed = rounds.TaskCount();
    for (JobRecord& record : RunningRecords(job)) {
      if (std::make_pair(record.round, record.is_last_round) >= known) {
        continue;
      }
      std::tie(record.round, record.is_last_round) = known;
      membership_.PutRecord(now, record.Key(), record.version(),
                            record.Encode(), outbox_);
    }
  }
}

void Agent::MakeKernels(JobId id, std::shared_ptr<const Job> job) {
  background_.Submit([id, job, tools = tools_, loaded = loaded_] {
    auto kernels = std::make_shared<absl::StatusOr<LoadedKernels>>(
        tools->load_kernels(*job));
    return [id, job, kernels, loaded] {
      loaded->push_back({id, job, std::move(*kernels)});
    };
  });
}

void Agent::TakeKernels() {
  for (Loaded& loaded : std::exchange(*loaded_, {})) {
    const auto it = jobs_.find(loaded.id);
    if (it == jobs_.end() || it->second.job != loaded.job) continue;
    JobEntry& entry = it->second;
    // The run has ended meanwhile, or another began before this was made.
    if (entry.run == nullptr || entry.kernels != nullptr) continue;
    // The submitter could make them, so the fault is this agent's.
    if (!loaded.kernels.ok()) {
      entry.run->Suffer(TroubleKind::kUnable, loaded.kernels.status());
      continue;
    }
    entry.kernels =
        std::make_shared<const KernelTable>(std::move(loaded.kernels->table));
    entry.run->SetKernels(entry.kernels);
    entry.kernels_due = absl::InfiniteFuture();
    if (loaded.kernels->trouble.ok()) entry.run->EndSlowness();
    entry.run->Suffer(TroubleKind::kSlow, loaded.kernels->trouble);
  }
}

void Agent::ApplyAnyRecord(absl::Time now, const Digest& hash) {
  const std::string prefix = JobRecord::KeyPrefix(hash);
  const auto known = membership_.records().lower_bound(prefix);
  if (known == membership_.records().end() ||
      !absl::StartsWith(known->first, prefix)) {
    return;
  }
  const auto record = FindRecord(known->first);
  if (record.has_value()) ApplyRecord(now, *record);
}

std::optional<JobRecord> Agent::FindRecord(const std::string& key) const {
  const auto known = membership_.records().find(key);
  if (known == membership_.records().end()) return std::nullopt;
  auto record = JobRecord::Decode(known->second.bytes.view());
  if (!record.ok()) return std::nullopt;
  return *std::move(record);
}

std::vector<JobRecord> Agent::RunningRecords(JobId job) const {
  std::vector<JobRecord> out;
  for (const SubmissionId submission : index_.RunningOf(job)) {
    auto record =
        FindRecord(JobRecord::KeyOf(index_.Find(job)->hash, submission));
    if (record.has_value()) out.push_back(*std::move(record));
  }
  return out;
}

JobEntry* Agent::FindEntry(absl::Time now, JobId job) {
  const auto it = jobs_.find(job);
  if (it != jobs_.end()) return &it->second;
  const JobIndex::Known* known = index_.Find(job);
  if (known == nullptr) return nullptr;
  JobEntry& entry = jobs_[job];
  entry.hash = known->hash;
  entry.is_done = known->done > 0;
  entry.is_delivered = known->IsDelivered();
  entry.over_since = now;
  return &entry;
}

void Agent::Conclude(absl::Time now, JobRecord record) {
  const auto known = FindRecord(record.Key());
  if (known.has_value() && known->round >= record.round) {
    record.round = known->round;
    record.is_last_round |= known->is_last_round;
  }
  if (record.state != JobState::kRunning) {
    // A repeated conclusion is about the same end.
    const bool is_known = known.has_value() && known->end_number > 0;
    record.end_number =
        is_known ? known->end_number : index_.last_end_number() + 1;
  }
  membership_.PutRecord(now, record.Key(), record.version(), record.Encode(),
                        outbox_);
  ApplyRecord(now, record);
}

void Agent::FailJob(absl::Time now, JobId job, const absl::Status& status) {
  for (JobRecord& record : RunningRecords(job)) {
    record.state = JobState::kFailed;
    record.code = status.code();
    record.message = std::string(status.message());
    Conclude(now, std::move(record));
  }
}

void Agent::ForgetJobs(absl::Time now) {
  std::vector<std::pair<absl::Time, JobId>> kept;
  std::vector<JobId> over;
  int64_t bytes = 0;
  for (const auto& [job, entry] : jobs_) {
    const absl::Duration age = now - entry.over_since;
    if (age < kKeptTime) continue;
    // A client of this agent waits, which no other agent would answer.
    const bool is_awaited = entry.run != nullptr && !entry.wanted.empty();
    const bool is_wanted =
        entry.run != nullptr ? !entry.is_delivered : entry.is_needed_again;
    if (!(is_wanted || is_awaited) || age >= kResultsKeptTime) {
      over.push_back(job);
    } else if (entry.run != nullptr && !is_awaited && age >= kLargeKeptTime) {
      kept.emplace_back(entry.over_since, job);
      bytes += entry.run->held_bytes();
    }
  }
  std::sort(kept.begin(), kept.end());
  for (const auto& [since, job] : kept) {
    if (bytes <= kResultsKeptBytesMax) break;
    bytes -= jobs_[job].run->held_bytes();
    over.push_back(job);
  }
  for (const JobId job : over) ForgetJob(job);
}

void Agent::EndRun(JobEntry& entry) {
  if (entry.run == nullptr) return;
  entry.run->SendBatches(outbox_);
  entry.stats = entry.run->stats();
  entry.run.reset();
  // Workers get free, whatever runs there; another run makes kernels anew.
  if (entry.kernels != nullptr) StopKernels(*entry.kernels);
  entry.kernels.reset();
  if (entry.inputs == nullptr) return;
  // Another run begins with the inputs of its client.
  entry.inputs.reset();
  entry.job.reset();
}

void Agent::ForgetJob(JobId job) {
  JobEntry& entry = jobs_[job];
  EndRun(entry);
  if (values_ != nullptr) values_->EraseJob(entry.hash);
  if (entry.tasks_needed > 0) {
    index_.Keep(job, entry.stats, entry.tasks_needed, entry.results_needed);
  }
  jobs_.erase(job);
  options_.on_freed();
}

std::string Agent::NoteOf(const JobEntry& entry) const {
  if (entry.run != nullptr && entry.troubles.empty() &&
      entry.unservable_since < absl::InfiniteFuture()) {
    return absl::StrCat("no agent here is of its numeric class \"",
                        entry.job->numeric_class,
                        "\"; it fails if none joins within ",
                        absl::FormatDuration(options_.limits.class_wait));
  }
  return entry.inputs == nullptr ? "" : entry.inputs->Note();
}

void Agent::ReportFailures(absl::Time now) {
  std::vector<std::pair<JobId, absl::Status>> failed;
  for (const auto& [job, entry] : jobs_) {
    if (entry.run != nullptr && !entry.run->failure().ok()) {
      failed.emplace_back(job, entry.run->failure());
    } else if (entry.inputs != nullptr && !entry.inputs->lost().ok()) {
      failed.emplace_back(job, entry.inputs->lost());
    }
  }
  for (const auto& [job, status] : failed) {
    FailJob(now, job, status);
    EndRun(jobs_[job]);  // the same job may be submitted again
  }
}

JobSummary Agent::Summarize(JobRecord record) const {
  JobSummary out{.record = std::move(record)};
  const JobIndex::Known& known = *index_.Find(out.record.job());
  out.submissions = known.submissions;
  // However it has come to be known: a loop of the job is one.
  std::tie(out.record.round, out.record.is_last_round) = known.round;
  auto it = jobs_.find(out.record.job());
  if (it == jobs_.end() || it->second.tasks_needed == 0) {
    index_.FillIn(out);
  } else {
    out.tasks_needed = it->second.tasks_needed;
    out.results_needed = it->second.results_needed;
    if (out.record.state == JobState::kRunning) out.note = NoteOf(it->second);
    out.troubles = WordsOf(it->second.troubles, membership_.view()->members());
    // A job that is to begin here again has none yet.
    const bool is_over = out.record.state != JobState::kRunning;
    if (it->second.run != nullptr) {
      out.stats = it->second.run->stats();
    } else if (is_over) {
      out.stats = it->second.stats;
    }
  }
  if (out.record.options.tasks_needed > 0) {
    out.tasks_needed = out.record.options.tasks_needed;
  }
  return out;
}

std::vector<JobId> Agent::RunIds() const {
  std::vector<JobId> out;
  for (const auto& [job, entry] : jobs_) {
    if (entry.run != nullptr) out.push_back(job);
  }
  return out;
}

std::vector<std::pair<JobRecord, Bytes>> Agent::RunningJobs() const {
  std::vector<std::pair<JobRecord, Bytes>> out;
  for (const auto& [job, entry] : jobs_) {
    if (entry.encoded.empty()) continue;
    for (JobRecord& record : RunningRecords(job)) {
      out.emplace_back(std::move(record), entry.encoded);
    }
  }
  return out;
}

CarriedOver Agent::TakeCarriedOver(JobId job) const {
  const JobRun* run = FindRun(job);
  return run == nullptr ? CarriedOver() : run->TakeCarriedOver();
}

void Agent::AdoptCarriedOver(absl::Time now, JobId job,
                             const CarriedOver& carried) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end() || it->second.run == nullptr) return;
  it->second.run->AdoptCarriedOver(now, carried, outbox_);
}

std::vector<StoredJob> Agent::StoredJobs(uint64_t text_hash) const {
  std::vector<StoredJob> out;
  if (values_ == nullptr || text_hash == 0) return out;
  for (const auto& [hash, job] : values_->stored_jobs()) {
    if (job.text_hash == text_hash) out.push_back(job);
  }
  return out;
}

std::vector<JobSummary> Agent::Jobs(const JobQuery& query) const {
  std::vector<std::pair<JobId, SubmissionId>> named;
  const auto add_ended = [&](JobId job) {
    named.emplace_back(job, index_.Foremost(job));
  };
  if (!query.submission.IsNone()) {
    named.emplace_back(query.job, query.submission);
  } else if (query.job.IsNone()) {
    named.assign(index_.running().begin(), index_.running().end());
    for (const JobId job : index_.LastEnded(query.ended_max)) add_ended(job);
  } else {
    for (const SubmissionId submission : index_.RunningOf(query.job)) {
      named.emplace_back(query.job, submission);
    }
    if (named.empty()) add_ended(query.job);
  }
  std::vector<JobSummary> out;
  for (const auto& [job, submission] : named) {
    const JobIndex::Known* known = index_.Find(job);
    if (known == nullptr) continue;
    auto record = FindRecord(JobRecord::KeyOf(known->hash, submission));
    if (record.has_value()) out.push_back(Summarize(*std::move(record)));
  }
  return out;
}

}  // namespace dogged
