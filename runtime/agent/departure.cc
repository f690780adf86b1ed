#include "runtime/agent/departure.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"
#include "runtime/job/inputs/input_chunks.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// An agent that leaves waits no longer than this for others to take over.
constexpr absl::Duration kLeaveTimeMax = absl::Seconds(10);
// At most so much of it for agents that are there, to begin with what they are
// to take; for all of it no agent at all may be there.
constexpr absl::Duration kBeginTimeMax = absl::Seconds(5);
// The others are asked so often to begin.
constexpr absl::Duration kAskInterval = absl::Milliseconds(200);

}  // namespace

void Departure::Begin(absl::Time now) {
  if (agent_.IsDraining()) return;
  agent_.phase = AgentPhase::kDrains;
  deadline_ = now + kLeaveTimeMax;
  for (auto& [id, entry] : table_) {
    if (entry.run != nullptr) entry.run->Pause();
  }
}

bool Departure::IsUnfetched(const JobEntry& entry) const {
  return entry.run != nullptr && entry.run->failure().ok() && entry.is_done &&
         (records_.index().Find(JobId(entry.hash.high))->delivered == 0 ||
          records_.index().KeepOf(JobId(entry.hash.high)) > 0) &&
         entry.run->held_count() > 0;
}

// An agent that came after the end of a job keeps nothing of it unless it is
// asked to.
bool Departure::AwaitsKeepers(absl::Time now) {
  bool waits = false;
  bool asks = now >= next_asked_;
  std::vector<std::string> kept;
  for (auto& [job, entry] : table_) {
    if (!IsUnfetched(entry)) continue;
    std::vector<AgentId> idle;
    int others = 0;
    for (const Member* member : takers_.TakersOf(*entry.job, entry.hash)) {
      if (member->id == agent_.id()) continue;
      ++others;
      const auto stats = stats_.Of(member->id);
      const bool has_run =
          std::any_of(stats.begin(), stats.end(),
                      [&](const auto& known) { return known.first == job; });
      if (!has_run) idle.push_back(member->id);
    }
    if (others == 0) {
      waits |= now < deadline_;
      kept.push_back(absl::StrCat(entry.job->program.name, " (",
                                  entry.run->held_bytes(), " bytes)"));
    } else if (!idle.empty() &&
               now < deadline_ - kLeaveTimeMax + kBeginTimeMax) {
      waits = true;
      for (const AgentId agent : idle) {
        if (asks) agent_.outbox.Send(agent, kKeepResults, job, {});
      }
    }
  }
  if (asks) next_asked_ = now + kAskInterval;
  if (waits) agent_.outbox.WakeAt(next_asked_);
  if (!kept.empty() && !std::exchange(said_kept_, true)) {
    Log(LogLevel::kWarning,
        absl::StrCat("told to leave, and nobody else has the results of ",
                     absl::StrJoin(kept, ", "),
                     ", which no client has fetched: waits up to ",
                     absl::FormatDuration(kLeaveTimeMax),
                     " for one, or for an agent that joins"));
  }
  return waits;
}

// A task that still ran here while another home had it would run twice.
bool Departure::TakeLeave(absl::Time now) {
  if (agent_.phase != AgentPhase::kDrains) return false;
  int64_t executing = 0;
  for (const auto& [id, entry] : table_) {
    if (entry.run != nullptr) executing += entry.run->executing_count();
  }
  if (executing > 0 && now < deadline_ - kLeaveTimeMax / 2) {
    agent_.outbox.WakeAt(deadline_ - kLeaveTimeMax / 2);
    return false;
  }
  if (AwaitsKeepers(now)) return false;
  agent_.phase = AgentPhase::kLeaves;
  for (auto& [id, entry] : table_) {
    if (entry.inputs != nullptr) entry.inputs->HandOver();
  }
  stats_.Publish();
  agent_.membership.Leave({now, agent_.outbox});
  return true;
}

void Departure::End(absl::Time now) {
  if (agent_.phase != AgentPhase::kLeaves) return;
  bool holds = agent_.executor.unfinished_count() > 0;
  std::vector<std::string> lost;
  for (const auto& [id, entry] : table_) {
    holds |= entry.run != nullptr && entry.run->failure().ok() &&
             entry.run->held_count() > 0 && takers_.HasHeirs(entry);
    holds |= entry.inputs != nullptr && agent_.membership.view()->size() > 0 &&
             entry.inputs->HasToStay();
    if (IsUnfetched(entry)) lost.push_back(entry.job->program.name);
  }
  const bool is_gone = !holds || now >= deadline_;
  if (is_gone) agent_.phase = AgentPhase::kGone;
  agent_.outbox.WakeAt(now + absl::Milliseconds(10));
  if (!is_gone || lost.empty()) return;
  Log(LogLevel::kWarning,
      absl::StrCat("leaves with results of ", absl::StrJoin(lost, ", "),
                   " that nobody has fetched or taken over; who wants them "
                   "runs it again"));
}

}  // namespace dogged
