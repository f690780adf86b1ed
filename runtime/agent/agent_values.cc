// How an agent gets the values of jobs that records name, and gives them to
// others.
#include <utility>
#include <vector>

#include "runtime/agent/agent.h"

namespace dogged {

void Agent::RequestJobs(absl::Time now) {
  std::vector<AgentId> others;
  for (auto& [job, entry] : jobs_) {
    const bool is_over = entry.over_since <= now && !entry.is_needed_again;
    if (!entry.encoded.empty() || is_over) continue;
    if (others.empty()) {
      for (const Member& member : membership_.view()->members()) {
        if (member.id != id()) others.push_back(member.id);
      }
    }
    entry.pull.Tick(now, job, options_.limits, others, rng_, outbox_);
  }
}

void Agent::SendPart(AgentId to, JobId job, const Bytes& value,
                     const Bytes& wish) {
  if (value.empty()) {
    outbox_.Send(to, static_cast<uint8_t>(AgentMessage::kJobAbsent), job, {});
    return;
  }
  absl::StatusOr<Bytes> part = PartOf(value, wish.view());
  if (!part.ok()) {
    ++refused_count_;
    return;
  }
  outbox_.Send(to, static_cast<uint8_t>(AgentMessage::kJobValue), job,
               *std::move(part));
}

void Agent::TakePart(absl::Time now, AgentId from, Entry& entry,
                     const Bytes& part) {
  if (!entry.encoded.empty()) return;
  if (!entry.pull.TakePart(now, from, part.view()).ok()) {
    ++refused_count_;
    return;
  }
  if (!entry.pull.IsWhole()) return;
  std::string whole = entry.pull.Take();
  if (Hash128(whole) != entry.hash) {
    ++refused_count_;
    return;
  }
  entry.encoded = Bytes(std::move(whole));
  ApplyAnyRecord(now, entry.hash);
}

}  // namespace dogged
