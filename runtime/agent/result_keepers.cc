#include "runtime/agent/result_keepers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/wire_version.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// The end of a job is known to all members by then, and whether its client
// takes the results.
constexpr absl::Duration kEndKnown = absl::Seconds(2);
// An agent is asked again after this time, then after twice that, and so on: it
// may have dropped the results for want of room.
constexpr absl::Duration kAskAgain = absl::Seconds(1);
constexpr absl::Duration kAskAgainMax = absl::Minutes(1);

}  // namespace

bool ResultKeepers::HasKept(const JobEntry& entry) const {
  if (entry.run == nullptr || !entry.run->failure().ok() || !entry.is_done ||
      entry.run->held_count() == 0) {
    return false;
  }
  const JobId job(entry.hash.high);
  return records_.index().Find(job)->delivered == 0 ||
         records_.index().KeepOf(job) > 0;
}

std::string ResultKeepers::WhyKept(const JobEntry& entry) {
  if (entry.keep_left == absl::ZeroDuration()) {
    return "which no client has fetched";
  }
  return absl::StrCat(
      "which are kept for ",
      absl::FormatDuration(absl::Ceil(entry.keep_left, absl::Seconds(1))),
      " more");
}

ResultKeepers::Heirs ResultKeepers::HeirsOf(JobId job,
                                            const JobEntry& entry) const {
  Heirs out;
  for (const Member* member : takers_.TakersOf(*entry.job, entry.hash)) {
    if (member->id == agent_.id() || stats_.IsDraining(member->id)) continue;
    ++out.count;
    const auto stats = stats_.Of(member->id);
    const bool has_run =
        std::any_of(stats.begin(), stats.end(),
                    [&](const auto& known) { return known.first == job; });
    if (has_run) {
      ++out.begun;
    } else {
      out.idle.push_back(member->id);
    }
  }
  return out;
}

void ResultKeepers::Ask(absl::Time now, const JobEntry& entry,
                        absl::Span<const AgentId> agents) {
  Encoder body;
  body.PutSigned(absl::ToInt64Milliseconds(
      std::max(now - entry.over_since, absl::ZeroDuration())));
  PutOpenEnd(body);
  const Bytes age(body.Take());
  for (const AgentId agent : agents) {
    agent_.outbox.Send(agent, kKeepResults, JobId(entry.hash.high), age);
  }
}

void ResultKeepers::Tick(absl::Time now) {
  if (agent_.IsDraining()) return;
  for (auto& [job, entry] : table_) {
    if (now - entry.over_since < kEndKnown || !HasKept(entry)) continue;
    const std::vector<AgentId> idle = HeirsOf(job, entry).idle;
    JobEntry::Asked asked;
    std::vector<AgentId> due;
    for (const AgentId agent : idle) {
      const auto known = entry.asked_to_keep.find(agent);
      JobEntry::Ask ask =
          known == entry.asked_to_keep.end() ? JobEntry::Ask() : known->second;
      if (now >= ask.next) {
        due.push_back(agent);
        ask.interval = std::clamp(2 * ask.interval, kAskAgain, kAskAgainMax);
        ask.next = now + ask.interval;
      }
      asked.emplace(agent, ask);
    }
    entry.asked_to_keep = std::move(asked);
    Ask(now, entry, due);
  }
}

}  // namespace dogged
