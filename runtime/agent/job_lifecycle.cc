#include "runtime/agent/job_lifecycle.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/agent/records/placement_salts.h"
#include "runtime/base/codec.h"
#include "runtime/base/wire_version.h"
#include "runtime/job/inputs/input_chunks.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// A job that is over is kept for clients that are not through with it; and its
// results, if nobody has fetched them: all of them for as long as it may take a
// client to ask again, and then until `kResultsKeptTime`, or those of all such
// jobs are here more than that.
constexpr absl::Duration kKeptTime = absl::Seconds(2);
constexpr absl::Duration kLargeKeptTime = absl::Seconds(30);
constexpr absl::Duration kResultsKeptTime = absl::Minutes(10);
constexpr int64_t kResultsKeptBytesMax = 256 << 20;

}  // namespace

void JobLifecycle::StartRun(absl::Time now, JobEntry& entry,
                            const JobRecord& record) {
  if (entry.job == nullptr) {
    absl::StatusOr<Job> job = Job::Decode(entry.encoded.view());
    if (!job.ok()) return Fail(now, record.job(), job.status());
    inputs_.Open(entry, *job);
    entry.job = std::make_shared<const Job>(*std::move(job));
    entry.tasks_needed = entry.job->program.TaskCount();
    entry.results_needed = entry.job->program.ResultCount();
  }
  // Of a job that is over seldom a task runs again.
  if (records_.index().IsRunning(record.job())) {
    kernels_.Prepare(now, record.job(), entry);
  }
  entry.leavers.clear();
  entry.is_dropped = false;
  entry.loss.clear();
  const AgentOptions& options = agent_.options;
  entry.run = std::make_unique<JobRun>(JobDependencies{
      .self = agent_.id(),
      .id = record.job(),
      .job = entry.job,
      .kernels = entry.kernels,
      .options = record.options,
      .limits = options.job_limits,
      .executor = &agent_.executor,
      .multicast = &agent_.multicast,
      .queued_bytes =
          [this](AgentId agent) { return mailbox_.QueuedBytes(agent); },
      .link_rate = [this](AgentId agent) { return mailbox_.LinkRate(agent); },
      .rng = agent_.rng.Stream(record.hash.ToString()),
      .values = agent_.values.get(),
      .storage = {.job = record.hash,
                  .keeps_values = options.keeps_values,
                  .bytes_max = options.job_limits.memory_bytes_max,
                  .live_bytes = options.live_bytes,
                  .generation_interval =
                      options.job_limits.generation_interval},
      .lending = agent_.lending.get(),
      .inputs = entry.inputs.get()});
  if (agent_.IsDraining()) entry.run->Pause();
  RaiseRounds(record.hash, *entry.run);
  entry.round_told = {-1, false};
  entry.troubles = takers_.TroublesOfJob(entry.hash);
  entry.run->SetMembers({now, agent_.outbox},
                        takers_.PlacementOf(*entry.job, entry.hash));
  // An agent that may have something to offer says so once it has.
  journal_.NoteValue(record.hash, entry.encoded);
  if (options.keeps_values) {
    static_assert(StoredJob::kTargetMax == JobOptions::kTargetMax);
    agent_.values->NoteJob({.hash = record.hash,
                            .text_hash = record.text_hash,
                            .agents = record.options.agents,
                            .workers = record.options.workers});
    entry.run->StartDiskScan();
  } else {
    entry.run->TellStart(agent_.outbox);
  }
}

void JobLifecycle::Apply(absl::Time now, const JobRecord& record) {
  // A stale record never revives a job: the newest of each counts.
  records_.Note(record);
  const JobIndex& index = records_.index();
  const bool running = index.IsRunning(record.job());
  // Nothing more is kept of a job that was over before it was heard of.
  JobEntry* const found =
      running ? &table_.FindOrMake(record.job()) : table_.Find(record.job());
  if (found == nullptr) {
    journal_.Note(record);
    if (!journal_.Awaits(record.hash)) EraseFromDisk(record.hash);
    return;
  }
  JobEntry& entry = *found;
  entry.hash = record.hash;
  entry.is_done = index.Find(record.job())->done > 0;
  entry.is_delivered = index.Find(record.job())->IsDelivered();
  entry.over_since =
      running ? absl::InfiniteFuture() : std::min(entry.over_since, now);
  NoteKeep(now, entry);
  if ((running || (entry.is_done && entry.is_needed_again)) &&
      entry.run == nullptr && !entry.encoded.empty()) {
    StartRun(now, entry, record);
  }
  if (entry.run != nullptr) {
    if (!entry.troubles.empty()) takers_.ReadTroubles(now, entry);
    RaiseRounds(entry.hash, *entry.run);
    entry.run->SetResultsDemanded(running);
    if (entry.inputs != nullptr) entry.inputs->SetOver(!running);
    if (!running && !entry.is_done) {
      EndRun(entry);  // cancelled or failed: drops its values
    } else if (!running) {
      // Results that are kept stay on disk, too: all agents may die.
      const bool stays =
          agent_.options.keeps_values && index.KeepOf(record.job()) > 0;
      if (!stays) entry.run->storage().Conclude();
      if (entry.inputs != nullptr && entry.is_delivered) {
        // The next job of a sweep has the same ones, where memory allows.
        entry.inputs->Release(
            /*drops=*/agent_.options.job_limits.memory_bytes_max > 0);
      }
      if (entry.kernels != nullptr) RestKernels(*entry.kernels);
    }
  }
  journal_.Note(record);
  if (!running && entry.run == nullptr && !journal_.Awaits(record.hash)) {
    EraseFromDisk(record.hash);
  }
}

void JobLifecycle::EraseFromDisk(const Digest& job) {
  if (agent_.values != nullptr) agent_.values->EraseJob(job);
  journal_.Forget(job);
}

absl::Duration JobLifecycle::KeptTimeOf(JobId job) const {
  const absl::Duration keep = absl::Milliseconds(records_.index().KeepOf(job));
  if (keep > absl::ZeroDuration()) return keep;
  const JobIndex::Known* const known = records_.index().Find(job);
  const bool is_awaited =
      known != nullptr && known->done > 0 && known->delivered == 0;
  return is_awaited ? kResultsKeptTime : absl::ZeroDuration();
}

void JobLifecycle::ApplyAny(absl::Time now, const Digest& job) {
  const auto record = records_.AnyOf(job);
  if (record.has_value()) Apply(now, *record);
}

void JobLifecycle::PublishAndApply(absl::Time now, const JobRecord& record) {
  records_.Publish(now, record);
  Apply(now, record);
}

absl::Duration JobLifecycle::NoteKeep(absl::Time now, JobEntry& entry) const {
  const bool is_over = entry.over_since < absl::InfiniteFuture();
  const absl::Duration keep = absl::Milliseconds(
      is_over ? records_.index().KeepOf(JobId(entry.hash.high)) : 0);
  entry.keep_left =
      is_over ? std::max(keep - (now - entry.over_since), absl::ZeroDuration())
              : absl::ZeroDuration();
  return keep;
}

void JobLifecycle::RaiseRounds(const Digest& hash, JobRun& run) const {
  if (!run.rounds().IsLoop()) return;
  const auto [round, is_last] =
      records_.index().Find(JobId(hash.high))->round();
  run.RaiseRound(round, is_last);
}

void JobLifecycle::NoteKeepResults(absl::Time now, JobId job,
                                   absl::string_view body) {
  Decoder in(body);
  const int64_t age_ms = in.GetSigned();
  if (!TakeOpenEnd(in, "a wish to keep results").ok() || age_ms < 0) {
    ++agent_.refused_count;
    return;
  }
  if (agent_.IsDraining() || records_.index().IsRunning(job) ||
      records_.index().HasKept(job)) {
    return;
  }
  JobEntry* const entry = table_.FindNamed(now, job);
  if (entry == nullptr || entry->run != nullptr || entry->is_dropped) return;
  // The time that results stay counts from the end of the job, however many
  // agents have handed them on.
  entry->over_since =
      std::min(entry->over_since, now - absl::Milliseconds(age_ms));
  NoteDemand(*entry);
  if (!entry->encoded.empty()) ApplyAny(now, entry->hash);
}

void JobLifecycle::TellRounds(absl::Time now) {
  for (auto& [job, entry] : table_) {
    if (entry.run == nullptr || !entry.run->rounds().IsLoop()) continue;
    const Rounds& rounds = entry.run->rounds();
    const auto known = std::make_pair(rounds.round(), rounds.HasEnded());
    if (entry.round_told == known) continue;
    entry.round_told = known;
    entry.results_needed = rounds.ResultCount().value_or(INT64_MAX);
    entry.tasks_needed = rounds.TaskCount();
    for (JobRecord& record : records_.RunningOf(job)) {
      if (std::make_pair(record.round, record.is_last_round) >= known) {
        continue;
      }
      std::tie(record.round, record.is_last_round) = known;
      records_.Publish(now, record);
      journal_.Note(record);
    }
  }
}

void JobLifecycle::Conclude(absl::Time now, JobRecord record) {
  const auto known = records_.Find(record.Key());
  if (known.has_value() && known->round >= record.round) {
    record.round = known->round;
    record.is_last_round |= known->is_last_round;
  }
  if (record.state != JobState::kRunning) {
    // An agent that says it again means the same end.
    const bool is_known = known.has_value() && known->end_number > 0;
    record.end_number =
        is_known ? known->end_number : records_.index().last_end_number() + 1;
  }
  PublishAndApply(now, record);
}

void JobLifecycle::Fail(absl::Time now, JobId job, const absl::Status& status) {
  for (JobRecord& record : records_.RunningOf(job)) {
    record.state = JobState::kFailed;
    record.code = status.code();
    record.message = std::string(status.message());
    Conclude(now, std::move(record));
  }
}

void JobLifecycle::ConcludeDone(absl::Time now, JobId job, const Digest& digest,
                                absl::string_view message) {
  for (JobRecord& record : records_.RunningOf(job)) {
    record.state = JobState::kDone;
    record.result_digest = digest;
    record.message = std::string(message);
    Conclude(now, std::move(record));
  }
}

void JobLifecycle::ReportFailures(absl::Time now) {
  std::vector<std::pair<JobId, absl::Status>> failed;
  for (auto& [job, entry] : table_) {
    const bool has_failed = entry.run != nullptr && !entry.run->failure().ok();
    const absl::Status lost =
        entry.inputs != nullptr ? entry.inputs->lost() : absl::OkStatus();
    const bool is_over = !records_.index().IsRunning(job);
    if (has_failed) {
      failed.emplace_back(job, entry.run->failure());
    } else if (!lost.ok() && !is_over) {
      failed.emplace_back(job, lost);
    }
    if (!is_over) {
      entry.loss.clear();
    } else if (has_failed) {
      entry.loss = std::string(entry.run->failure().message());
    } else if (entry.inputs != nullptr) {
      // Other results that are here stay.
      entry.loss = std::string(lost.message());
    }
  }
  for (const auto& [job, status] : failed) {
    Fail(now, job, status);
    EndRun(table_.FindOrMake(job));  // the same job may be submitted again
  }
}

void JobLifecycle::EndRun(JobEntry& entry) {
  if (entry.run == nullptr) return;
  entry.run->SendBatches(agent_.outbox);
  entry.stats = entry.run->stats();
  entry.run.reset();
  // Workers get free, whatever runs there.
  kernels_.Stop(entry);
  if (entry.inputs == nullptr) return;
  // Another run begins with the inputs of its client.
  entry.inputs.reset();
  entry.job.reset();
}

void JobLifecycle::ForgetJobs(absl::Time now) {
  std::vector<std::pair<absl::Time, JobId>> unfetched;
  std::vector<std::pair<absl::Time, JobId>> kept;
  std::vector<JobId> over;
  int64_t bytes = 0;
  for (auto& [job, entry] : table_) {
    const absl::Duration keep = NoteKeep(now, entry);
    const absl::Duration age = now - entry.over_since;
    if (age < kKeptTime) continue;
    // A client of this agent waits, which no other agent would answer.
    const bool is_awaited = entry.run != nullptr &&
                            (!entry.wanted.empty() || entry.IsBeingWritten());
    if (keep > absl::ZeroDuration()) {
      if (age >= keep + (is_awaited ? kResultsKeptTime : absl::Duration())) {
        over.push_back(job);
      } else if (entry.run != nullptr && !is_awaited) {
        kept.emplace_back(entry.over_since, job);
      }
      continue;
    }
    const bool is_wanted =
        entry.run != nullptr ? !entry.is_delivered : entry.is_needed_again;
    if (!(is_wanted || is_awaited) || age >= kResultsKeptTime) {
      over.push_back(job);
    } else if (entry.run != nullptr && !is_awaited && age >= kLargeKeptTime) {
      unfetched.emplace_back(entry.over_since, job);
      bytes += entry.run->held_bytes();
    }
  }
  std::sort(unfetched.begin(), unfetched.end());
  for (const auto& [since, job] : unfetched) {
    if (bytes <= kResultsKeptBytesMax) break;
    bytes -= table_.FindRun(job)->held_bytes();
    over.push_back(job);
  }
  for (const JobId job : over) Forget(now, job);
  DropKept(now, std::move(kept));
}

void JobLifecycle::DropKept(absl::Time now,
                            std::vector<std::pair<absl::Time, JobId>> kept) {
  std::sort(kept.begin(), kept.end());
  int64_t bytes = 0;
  for (const auto& [since, job] : kept) {
    bytes += table_.FindRun(job)->held_bytes();
  }
  for (const auto& [since, job] : kept) {
    if (bytes <= agent_.options.kept_bytes_max) return;
    JobEntry& entry = *table_.Find(job);
    bytes -= entry.run->held_bytes();
    // Without its inputs a job can't be run again.
    if (entry.inputs != nullptr) {
      Forget(now, job);
      continue;
    }
    EndRun(entry);
    entry.is_needed_again = false;
    entry.is_dropped = true;
    if (agent_.values != nullptr) agent_.values->EraseJob(entry.hash);
    agent_.options.on_freed();
  }
}

void JobLifecycle::Forget(absl::Time now, JobId job) {
  JobEntry& entry = table_.FindOrMake(job);
  EndRun(entry);
  EraseFromDisk(entry.hash);
  auto homes = ForgottenSalts(agent_.membership.records(), entry.hash);
  if (homes.has_value()) {
    agent_.membership.PutRecord({now, agent_.outbox}, HomesKey(entry.hash),
                                homes->version, std::move(homes->bytes));
  }
  agent_.multicast.ForgetJob(job);
  if (entry.tasks_needed > 0) {
    records_.Keep(job, entry.stats, entry.tasks_needed, entry.results_needed);
  }
  table_.Erase(job);
  agent_.options.on_freed();
}

}  // namespace dogged
