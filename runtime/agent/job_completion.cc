// Completion: results are handed out, and a job ends without a client: once all
// results are durable, some agent fetches them, takes their digest and
// concludes DONE. An error about durability is harmless: a result that is
// requested later is made again.
#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/agent/agent.h"
#include "runtime/base/log.h"

namespace dogged {
namespace {

// A client that has its results ends its job itself, sooner than this.
constexpr absl::Duration kFinishDelay = absl::Seconds(1);
// The members do it by turns, in case the one before is gone or stuck.
constexpr absl::Duration kFinishTurn = absl::Seconds(5);

}  // namespace

std::optional<int64_t> Agent::DurableResultBytes(JobId job,
                                                 const JobEntry& entry) const {
  JobStats sum = entry.run->stats();
  for (const Member& member : membership_.view()->members()) {
    if (member.id == id()) continue;
    for (const auto& [known, stats] : StatsOf(member.id)) {
      if (known == job) sum += stats;
    }
  }
  if (sum.results_durable < entry.results_needed) return std::nullopt;
  return sum.results_durable_bytes;
}

void Agent::FinishJobs(absl::Time now) {
  const int64_t memory_max = options_.job_limits.memory_bytes_max;
  std::vector<JobId> ended;
  for (auto& [job, entry] : jobs_) {
    if (entry.run == nullptr) continue;
    std::optional<int64_t> bytes;
    if (index_.IsRunning(job) && !leaving_)
      bytes = DurableResultBytes(job, entry);
    if (!bytes.has_value()) {
      entry.durable_since = absl::InfiniteFuture();
      entry.finish.reset();
      continue;
    }
    if (entry.finish != nullptr) continue;
    entry.durable_since = std::min(entry.durable_since, now);
    const std::vector<PlacementMember> members =
        PlacementOf(*entry.job, entry.hash).members;
    const auto turn =
        std::find_if(members.begin(), members.end(),
                     [this](const auto& m) { return m.agent == id(); });
    if (turn == members.end()) continue;
    const absl::Time start =
        entry.durable_since + kFinishDelay +
        kFinishTurn * static_cast<int64_t>(turn - members.begin());
    if (now < start) continue;
    if (memory_max > 0 && options_.live_bytes() + *bytes > memory_max) {
      ended.push_back(job);
    } else {
      StartFinish(now, job, entry);
    }
  }
  for (const JobId job : ended) {
    ConcludeDone(now, job, {},
                 "results are durable; no digest: they are more than this "
                 "agent's --memory has room for");
  }
}

void Agent::StartFinish(absl::Time now, JobId job, JobEntry& entry) {
  entry.finish = std::make_unique<JobFinish>();
  absl::btree_set<Label> labels;
  entry.run->rounds().ForEachDemanded([&](const Label& label) {
    labels.insert(label);
    return true;
  });
  entry.finish->labels = static_cast<int64_t>(labels.size());
  for (const Label& label : labels) entry.run->Want(now, label, outbox_);
  SortWanted(job, entry);
}

absl::Status Agent::Want(absl::Time now, JobId job,
                         absl::Span<const Label> labels) {
  JobEntry* const entry = FindEntry(now, job);
  if (entry == nullptr) {
    return absl::NotFoundError(absl::StrCat("no job ", job.ToString()));
  }
  if (entry->run == nullptr && entry->is_done) {
    // The client came too late for results that other clients had found.
    entry->is_needed_again = true;
    ApplyAnyRecord(now, entry->hash);
  }
  if (entry->run == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("job ", job.ToString(), " is not running here yet"));
  }
  for (const Label& label : labels) {
    entry->wanted.insert(label);
    entry->run->Want(now, label, outbox_);
  }
  return absl::OkStatus();
}

std::vector<std::pair<Label, Value>> Agent::TakeResults(JobId job) {
  auto it = jobs_.find(job);
  if (it == jobs_.end()) return {};
  SortWanted(job, it->second);
  return std::exchange(it->second.found, {});
}

void Agent::SortWanted(JobId job, JobEntry& entry) {
  if (entry.run == nullptr) return;
  for (auto& [label, value] : entry.run->TakeResults()) {
    if (entry.finish != nullptr && !entry.finish->is_hashing) {
      entry.finish->found.emplace(label, value);
    }
    if (entry.wanted.erase(label) > 0) {
      entry.found.emplace_back(label, std::move(value));
    }
  }
  if (entry.finish == nullptr || entry.finish->is_hashing ||
      static_cast<int64_t>(entry.finish->found.size()) < entry.finish->labels) {
    return;
  }
  entry.finish->is_hashing = true;
  auto found = std::make_shared<const absl::flat_hash_map<Label, Value>>(
      std::move(entry.finish->found));
  const int64_t time = entry.run->rounds().time();
  background_.Submit(
      [job, found, time, kept = entry.job, tools = tools_, hashed = hashed_] {
        const absl::StatusOr<Digest> digest = tools->hash_results(
            kept->program.repeat.has_value() ? ProgramAt(kept->program, time)
                                             : kept->program,
            [&found](const Label& label) -> absl::StatusOr<Value> {
              const auto it = found->find(label);
              if (it == found->end()) return absl::NotFoundError("a result");
              return it->second;
            });
        return [job, kept, digest, hashed] {
          hashed->push_back({job, kept, digest});
        };
      });
}

void Agent::TakeDigests(absl::Time now) {
  for (Hashed& hashed : std::exchange(*hashed_, {})) {
    const auto it = jobs_.find(hashed.id);
    if (it == jobs_.end()) continue;
    JobEntry& entry = it->second;
    if (entry.job != hashed.job || entry.finish == nullptr) continue;
    if (!hashed.digest.ok()) {
      Log(LogLevel::kWarning, hashed.digest.status().message());
      entry.finish.reset();  // by turns, again
      continue;
    }
    entry.finish.reset();
    ConcludeDone(now, hashed.id, *hashed.digest, "");
  }
}

void Agent::ConcludeDone(absl::Time now, JobId job, const Digest& digest,
                         absl::string_view message) {
  for (JobRecord& record : RunningRecords(job)) {
    record.state = JobState::kDone;
    record.result_digest = digest;
    record.message = std::string(message);
    Conclude(now, std::move(record));
  }
}

}  // namespace dogged
