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

// An agent that leaves waits for agents that are there, to begin with what they
// are to take, for so long, and for half of its time, at most; for more of it
// no agent at all may be there.
constexpr absl::Duration kBeginTimeMax = absl::Seconds(5);
// Several agents may be told at once, and must not count on each other: where
// few could take what this one has, it listens first for so long who else goes.
constexpr int kFewHeirs = 8;
constexpr absl::Duration kNoticeTime = absl::Milliseconds(300);
// The part of its time that it keeps to hand over to an agent that comes.
constexpr int64_t kHandoverPart = 5;
// An agent that is told again to leave hands over what it can in so long.
constexpr absl::Duration kHurriedTime = absl::Seconds(1);
// The others are asked so often to begin.
constexpr absl::Duration kAskInterval = absl::Milliseconds(200);

}  // namespace

void Departure::Begin(absl::Time now, absl::string_view why) {
  if (agent_.IsDraining()) return;
  agent_.phase = AgentPhase::kDrains;
  why_ = std::string(why);
  began_ = now;
  time_ = agent_.options.leave_within;
  deadline_ = now + time_;
  stats_.Publish();
  agent_.membership.HurryGossip();
  int64_t count = 0;
  int64_t bytes = 0;
  for (auto& [id, entry] : table_) {
    if (entry.run == nullptr) continue;
    entry.run->Pause();
    (void)entry.run->TakeHandedOver();  // as members changed before
    count += entry.run->held_count();
    bytes += entry.run->held_bytes();
  }
  if (why_.empty()) return;
  Log(LogLevel::kInfo, absl::StrCat("told to leave by ", why_, ", with ", count,
                                    " values (", bytes, " bytes)"));
}

void Departure::Hurry(absl::Time now) {
  if (!agent_.IsDraining()) return;
  const absl::Duration time = now - began_ + kHurriedTime;
  if (time >= time_) return;
  time_ = time;
  deadline_ = began_ + time;
  agent_.outbox.WakeAt(now);
  Log(LogLevel::kInfo, "told to leave again: waits for nobody any more");
}

absl::Time Departure::BeginLimit() const {
  return began_ + std::min(kBeginTimeMax, time_ / 2);
}

bool Departure::ListensForOthers(absl::Time now,
                                 const ResultKeepers::Heirs& heirs) {
  const absl::Time end = began_ + std::min(kNoticeTime, time_ / kHandoverPart);
  if (heirs.count > kFewHeirs || now >= end) return false;
  agent_.outbox.WakeAt(end);
  return true;
}

bool Departure::AwaitsHeirs(absl::Time now) {
  const absl::Time last = deadline_ - time_ / kHandoverPart;
  bool waits = false;
  std::vector<std::string> awaited;
  for (auto& [job, entry] : table_) {
    const bool is_running = entry.run != nullptr && entry.run->failure().ok() &&
                            !entry.is_done &&
                            entry.over_since == absl::InfiniteFuture();
    if (!is_running || entry.run->held_count() == 0) continue;
    const ResultKeepers::Heirs heirs = keepers_.HeirsOf(job, entry);
    if (ListensForOthers(now, heirs)) {
      waits = true;
      continue;
    }
    // An agent that was waited for has nothing yet, not even the job. An agent
    // that was there before may have begun without this one having heard of it.
    if (heirs.begun > 0 || (heirs.count > 0 && !said_awaits_)) continue;
    if (heirs.count == 0 && entry.run->storage().keeps_values()) {
      waits |= AwaitsDirectory(entry) && now < last;
      continue;
    }
    waits |= now < last;
    if (heirs.count > 0) continue;
    awaited.push_back(absl::StrCat(entry.job->program.name, " (",
                                   entry.run->held_bytes(), " bytes)"));
  }
  if (waits) agent_.outbox.WakeAt(now + kAskInterval);
  if (waits && !awaited.empty() && !std::exchange(said_awaits_, true)) {
    Log(LogLevel::kWarning,
        absl::StrCat("nobody else can take the values of ",
                     absl::StrJoin(awaited, ", "), ", which runs: waits up to ",
                     absl::FormatDuration(
                         absl::Trunc(last - now, absl::Milliseconds(1))),
                     " for an agent that joins"));
  }
  return waits;
}

bool Departure::AwaitsKeepers(absl::Time now) {
  bool waits = false;
  bool asks = now >= next_asked_;
  std::vector<std::string> kept;
  for (auto& [job, entry] : table_) {
    if (!keepers_.HasKept(entry)) continue;
    const ResultKeepers::Heirs heirs = keepers_.HeirsOf(job, entry);
    if (heirs.count == 0 && entry.run->storage().keeps_values()) {
      waits |= AwaitsDirectory(entry) && now < deadline_;
    } else if (heirs.count == 0) {
      waits |= now < deadline_;
      kept.push_back(absl::StrCat(entry.job->program.name, " (",
                                  entry.run->held_bytes(), " bytes), ",
                                  ResultKeepers::WhyKept(entry)));
    } else {
      const bool begins = !heirs.idle.empty() && now < BeginLimit();
      if (begins && asks) keepers_.Ask(now, entry, heirs.idle);
      waits |= ListensForOthers(now, heirs) || begins;
    }
  }
  if (asks) next_asked_ = now + kAskInterval;
  if (waits) agent_.outbox.WakeAt(next_asked_);
  if (!kept.empty() && !std::exchange(said_kept_, true)) {
    Log(LogLevel::kWarning,
        absl::StrCat("told to leave, and nobody else has the results of ",
                     absl::StrJoin(kept, "; of "), ": waits up to ",
                     absl::FormatDuration(time_),
                     " for a client, or for an agent that joins"));
  }
  return waits;
}

bool Departure::AwaitsDirectory(JobEntry& entry) {
  JobStorage& storage = entry.run->storage();
  if (!storage.keeps_values()) return false;
  storage.WriteAll();
  return !storage.IsWritten();
}

// A task that still ran here while another home had it would run twice.
bool Departure::TakeLeave(absl::Time now) {
  if (agent_.phase != AgentPhase::kDrains) return false;
  int64_t executing = 0;
  for (const auto& [id, entry] : table_) {
    if (entry.run != nullptr) executing += entry.run->tasks().executing_count();
  }
  const absl::Time half = began_ + time_ / 2;
  if (executing > 0 && now < half) {
    agent_.outbox.WakeAt(half);
    return false;
  }
  const bool awaits_heirs = AwaitsHeirs(now);
  if (AwaitsKeepers(now) || awaits_heirs) return false;
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
  for (auto& [id, entry] : table_) {
    // Agents that were to take it may have left meanwhile, too.
    holds |= entry.run != nullptr && entry.run->failure().ok() &&
             entry.run->held_count() > 0 &&
             (takers_.HasHeirs(entry) || AwaitsDirectory(entry));
    holds |= entry.inputs != nullptr && agent_.membership.view()->size() > 0 &&
             entry.inputs->HasToStay();
    if (keepers_.HasKept(entry) && !entry.run->storage().keeps_values()) {
      lost.push_back(absl::StrCat(entry.job->program.name, ", ",
                                  ResultKeepers::WhyKept(entry)));
    }
  }
  const bool is_gone = !holds || now >= deadline_;
  if (is_gone) agent_.phase = AgentPhase::kGone;
  agent_.outbox.WakeAt(now + absl::Milliseconds(10));
  if (is_gone && !why_.empty()) LogEnd(now);
  if (!is_gone || lost.empty()) return;
  Log(LogLevel::kWarning,
      absl::StrCat("leaves with results of ", absl::StrJoin(lost, "; of "),
                   ", and no other agent has taken them over; the same command "
                   "makes them again"));
}

void Departure::LogEnd(absl::Time now) {
  std::vector<std::string> words;
  int64_t left = 0;
  int64_t stay = 0;  // in the directory
  for (auto& [job, entry] : table_) {
    if (entry.run == nullptr) continue;
    for (const auto& [to, handed] : entry.run->TakeHandedOver()) {
      const Member* member = agent_.membership.view()->Find(to);
      words.push_back(absl::StrCat(
          handed.count, " of ", entry.job->program.name, " (", handed.bytes,
          " bytes) to ",
          member == nullptr ? to.ToString() : member->control_address));
    }
    const JobStorage& storage = entry.run->storage();
    if (storage.keeps_values() && storage.IsWritten()) {
      stay += entry.run->held_count();
    } else if (!entry.is_done) {
      left += entry.run->held_count();
    }
  }
  Log(LogLevel::kInfo,
      absl::StrCat(
          "leaves after ",
          absl::FormatDuration(
              absl::Trunc(now - began_, absl::Milliseconds(1))),
          words.empty() ? ", with nothing handed over"
                        : absl::StrCat(", having handed over ",
                                       absl::StrJoin(words, ", ")),
          left > 0 ? absl::StrCat("; ", left, " values go with it") : "",
          stay > 0 ? absl::StrCat("; ", stay, " values stay in its directory")
                   : ""));
}

}  // namespace dogged
