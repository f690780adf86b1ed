#include "runtime/agent/job_completion.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// A client that has its results ends its job itself, sooner than this.
constexpr absl::Duration kFinishDelay = absl::Seconds(1);
// The members do it by turns, in case the one before is gone or stuck.
constexpr absl::Duration kFinishTurn = absl::Seconds(5);

// Labels come from clients, and may be any.
absl::Status CheckLabels(const Program& program,
                         absl::Span<const Label> labels) {
  for (const Label& label : labels) {
    if (label.array >= 0 && label.array < std::ssize(program.arrays) &&
        label.index.size() == program.ArrayOf(label).rank) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the program has no label of array ", label.array,
                     " with ", label.index.size(), " indices"));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> JobCompletion::DurableResultBytes(
    JobId job, const JobEntry& entry) const {
  JobStats sum = entry.run->stats();
  for (const Member& member : agent_.membership.view()->members()) {
    if (member.id == agent_.id()) continue;
    for (const auto& [known, stats] : stats_.Of(member.id)) {
      if (known == job) sum += stats;
    }
  }
  if (sum.results_durable < entry.results_needed) return std::nullopt;
  return sum.results_durable_bytes;
}

void JobCompletion::FinishJobs(absl::Time now) {
  const int64_t memory_max = agent_.options.job_limits.memory_bytes_max;
  std::vector<JobId> ended;
  for (auto& [job, entry] : table_) {
    if (entry.run == nullptr) continue;
    std::optional<int64_t> bytes;
    if (records_.index().IsRunning(job) && !agent_.IsLeaving() &&
        !entry.IsBeingWritten())
      bytes = DurableResultBytes(job, entry);
    if (!bytes.has_value()) {
      entry.durable_since = absl::InfiniteFuture();
      entry.finish.reset();
      continue;
    }
    if (entry.finish != nullptr) continue;
    entry.durable_since = std::min(entry.durable_since, now);
    const std::vector<PlacementMember> members =
        takers_.PlacementOf(*entry.job, entry.hash).members;
    const auto turn =
        std::find_if(members.begin(), members.end(),
                     [this](const auto& m) { return m.agent == agent_.id(); });
    if (turn == members.end()) continue;
    const absl::Time start =
        entry.durable_since + kFinishDelay +
        kFinishTurn * static_cast<int64_t>(turn - members.begin());
    if (now < start) continue;
    if (memory_max > 0 && agent_.options.live_bytes() + *bytes > memory_max) {
      ended.push_back(job);
    } else {
      StartFinish(now, job, entry);
    }
  }
  for (const JobId job : ended) {
    lifecycle_.ConcludeDone(
        now, job, {},
        "results are durable; no digest: they are more than this "
        "agent's --memory has room for");
  }
}

void JobCompletion::StartFinish(absl::Time now, JobId job, JobEntry& entry) {
  entry.finish = std::make_unique<JobFinish>();
  std::set<Label> labels;
  entry.run->rounds().ForEachDemanded([&](const Label& label) {
    labels.insert(label);
    return true;
  });
  entry.finish->labels = std::ssize(labels);
  for (const Label& label : labels)
    entry.run->RequestResult({now, agent_.outbox}, label, RequestKind::kMake);
  SortResultsOf(job, entry);
}

absl::Status JobCompletion::Want(absl::Time now, JobId job,
                                 absl::Span<const Label> labels) {
  JobEntry* const entry = table_.FindNamed(now, job);
  if (entry == nullptr) {
    return absl::NotFoundError(absl::StrCat("no job ", job.ToString()));
  }
  if (entry->run == nullptr && entry->is_done) {
    // The client came too late for results that other clients had found.
    entry->is_needed_again = true;
    lifecycle_.ApplyAny(now, entry->hash);
  }
  if (entry->run == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("job ", job.ToString(), " is not running here yet"));
  }
  DOGGED_RETURN_IF_ERROR(CheckLabels(entry->job->program, labels));
  for (const Label& label : labels) {
    entry->wanted.insert(label);
    entry->run->RequestResult({now, agent_.outbox}, label, RequestKind::kMake);
  }
  return absl::OkStatus();
}

absl::Status JobCompletion::Watch(absl::Time now, JobId job,
                                  absl::Span<const Label> labels) {
  JobEntry* const entry = table_.Find(job);
  if (entry == nullptr || entry->run == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("job ", job.ToString(), " does not run here"));
  }
  DOGGED_RETURN_IF_ERROR(CheckLabels(entry->job->program, labels));
  for (const Label& label : labels) {
    entry->watched.insert(label);
    entry->run->RequestResult({now, agent_.outbox}, label, RequestKind::kWatch);
  }
  return absl::OkStatus();
}

std::vector<Label> JobCompletion::HeldOf(JobId job,
                                         absl::Span<const Label> labels) const {
  std::vector<Label> out;
  const JobRun* const run = table_.FindRun(job);
  if (run == nullptr) return out;
  for (const Label& label : labels) {
    if (run->Holds(label)) out.push_back(label);
  }
  return out;
}

std::shared_ptr<const void> JobCompletion::HoldForWriting(JobId job) {
  JobEntry* const entry = table_.Find(job);
  return entry == nullptr ? nullptr : entry->writer_hold;
}

std::vector<std::pair<Label, Value>> JobCompletion::TakeResults(JobId job) {
  JobEntry* const entry = table_.Find(job);
  if (entry == nullptr) return {};
  SortResultsOf(job, *entry);
  return std::exchange(entry->found, {});
}

void JobCompletion::SortResults() {
  for (auto& [job, entry] : table_) SortResultsOf(job, entry);
}

void JobCompletion::SortResultsOf(JobId job, JobEntry& entry) {
  if (entry.run == nullptr) return;
  for (auto& [label, value] : entry.run->TakeResults()) {
    if (entry.finish != nullptr && !entry.finish->is_hashing) {
      entry.finish->found.emplace(label, value);
    }
    if (entry.wanted.erase(label) + entry.watched.erase(label) > 0) {
      entry.found.emplace_back(label, std::move(value));
    }
  }
  if (entry.finish == nullptr || entry.finish->is_hashing ||
      std::ssize(entry.finish->found) < entry.finish->labels) {
    return;
  }
  entry.finish->is_hashing = true;
  auto found = std::make_shared<const absl::flat_hash_map<Label, Value>>(
      std::move(entry.finish->found));
  const int64_t time = entry.run->rounds().time();
  agent_.background.Submit([job, found, time, kept = entry.job,
                            tools = agent_.tools, hashed = hashed_] {
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

void JobCompletion::TakeDigests(absl::Time now) {
  for (Hashed& hashed : std::exchange(*hashed_, {})) {
    JobEntry* const entry = table_.Find(hashed.id);
    if (entry == nullptr) continue;
    if (entry->job != hashed.job || entry->finish == nullptr) continue;
    if (!hashed.digest.ok()) {
      Log(LogLevel::kWarning, hashed.digest.status().message());
      entry->finish.reset();  // by turns, again
      continue;
    }
    entry->finish.reset();
    lifecycle_.ConcludeDone(now, hashed.id, *hashed.digest, "");
  }
}

}  // namespace dogged
