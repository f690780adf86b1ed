// Leaving: an agent lets its running tasks end, has other agents keep results
// of ended jobs that no client has fetched, tells all members, and hands over.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/agent/agent.h"
#include "runtime/base/log.h"

namespace dogged {
namespace {

// An agent that leaves waits no longer than this for others to take over.
constexpr absl::Duration kLeaveTimeMax = absl::Seconds(10);
// Part of that in which agents that are there must begin to take over; without
// any agent it waits for the whole time.
constexpr absl::Duration kBeginTimeMax = absl::Seconds(5);
// Interval of asking other agents to begin.
constexpr absl::Duration kAskInterval = absl::Milliseconds(200);

}  // namespace

void Agent::Leave(absl::Time now) {
  if (draining_) return;
  draining_ = true;
  leave_deadline_ = now + kLeaveTimeMax;
  for (auto& [id, entry] : jobs_) {
    if (entry.run != nullptr) entry.run->Pause();
  }
}

bool Agent::IsUnfetched(const JobEntry& entry) const {
  return entry.run != nullptr && entry.run->failure().ok() && entry.is_done &&
         index_.Find(JobId(entry.hash.high))->delivered == 0 &&
         entry.run->held_count() > 0;
}

// True while other agents have yet to take over results that no client has
// fetched. An agent that came after the end of a job keeps none of them unless
// it is asked to.
bool Agent::AwaitsKeepers(absl::Time now) {
  bool waits = false;
  bool asks = now >= next_asked_;
  std::vector<std::string> kept;
  for (auto& [job, entry] : jobs_) {
    if (!IsUnfetched(entry)) continue;
    std::vector<AgentId> idle;
    int others = 0;
    for (const Member* member : TakersOf(*entry.job, entry.hash)) {
      if (member->id == id()) continue;
      ++others;
      const auto stats = StatsOf(member->id);
      const bool has_run =
          std::any_of(stats.begin(), stats.end(),
                      [&](const auto& known) { return known.first == job; });
      if (!has_run) idle.push_back(member->id);
    }
    if (others == 0) {
      waits |= now < leave_deadline_;
      kept.push_back(absl::StrCat(entry.job->program.name, " (",
                                  entry.run->held_bytes(), " bytes)"));
    } else if (!idle.empty() &&
               now < leave_deadline_ - kLeaveTimeMax + kBeginTimeMax) {
      waits = true;
      for (const AgentId agent : idle) {
        if (asks) outbox_.Send(agent, kKeepResults, job, {});
      }
    }
  }
  if (asks) next_asked_ = now + kAskInterval;
  if (waits) outbox_.WakeAt(next_asked_);
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
void Agent::TakeLeave(absl::Time now) {
  int64_t executing = 0;
  for (const auto& [id, entry] : jobs_) {
    if (entry.run != nullptr) executing += entry.run->executing_count();
  }
  if (executing > 0 && now < leave_deadline_ - kLeaveTimeMax / 2) {
    outbox_.WakeAt(leave_deadline_ - kLeaveTimeMax / 2);
    return;
  }
  if (AwaitsKeepers(now)) return;
  leaving_ = true;
  for (auto& [id, entry] : jobs_) {
    if (entry.inputs != nullptr) entry.inputs->HandOver();
  }
  PublishStats();
  membership_.Leave(now, outbox_);
  placed_view_ = nullptr;  // place again, without this agent
  HandleEvents(now);
}

void Agent::EndLeave(absl::Time now) {
  bool holds = executor_.unfinished_count() > 0;
  std::vector<std::string> lost;
  for (const auto& [id, entry] : jobs_) {
    holds |= entry.run != nullptr && entry.run->failure().ok() &&
             entry.run->held_count() > 0 && HasHeirs(entry);
    holds |= entry.inputs != nullptr && membership_.view()->size() > 0 &&
             entry.inputs->HasToStay();
    if (IsUnfetched(entry)) lost.push_back(entry.job->program.name);
  }
  gone_ = !holds || now >= leave_deadline_;
  outbox_.WakeAt(now + absl::Milliseconds(10));
  if (!gone_ || lost.empty()) return;
  Log(LogLevel::kWarning,
      absl::StrCat("leaves with results of ", absl::StrJoin(lost, ", "),
                   " that nobody has fetched or taken over; who wants them "
                   "runs it again"));
}

}  // namespace dogged
