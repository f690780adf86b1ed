#include "runtime/agent/stats_gossip.h"

#include <cstdint>

#include "runtime/base/codec.h"
#include "runtime/job/job_run.h"

namespace dogged {

void StatsGossip::Publish() {
  Encoder out;
  int64_t count = 0;
  for (const auto& [job, entry] : table_) count += entry.run != nullptr;
  out.PutVarint(static_cast<uint64_t>(count));
  for (const auto& [job, entry] : table_) {
    if (entry.run == nullptr) continue;
    out.PutId(job);
    entry.run->stats().Encode(out);
  }
  // Behind all that former versions read.
  out.PutBool(agent_.IsDraining());
  for (const auto& [job, entry] : table_) {
    if (entry.run != nullptr) entry.run->stats().EncodeLater(out);
  }
  agent_.membership.SetGossipPayload(Bytes(out.Take()));
}

StatsGossip::Said StatsGossip::SaidBy(AgentId agent) const {
  Said out;
  const Bytes blob = agent_.membership.GossipPayloadOf(agent);
  Decoder in(blob.view());
  const int64_t count = in.GetCount(1);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    const JobId job = in.GetId<JobId>();
    out.stats.emplace_back(job, JobStats::Decode(in));
  }
  if (in.remaining() > 0) out.is_draining = in.GetBool();
  for (auto& [job, stats] : out.stats) stats.DecodeLater(in);
  return in.ok() ? std::move(out) : Said();
}

bool StatsGossip::IsDraining(AgentId agent) const {
  return SaidBy(agent).is_draining;
}

std::vector<std::pair<JobId, JobStats>> StatsGossip::Of(AgentId agent) const {
  std::vector<std::pair<JobId, JobStats>> out;
  const bool is_member = agent_.membership.view()->Find(agent) != nullptr;
  for (auto& [job, stats] : SaidBy(agent).stats) {
    // An agent that left before the job began here did that in an earlier run.
    const JobEntry* const known = table_.Find(job);
    const bool left_this_run = known != nullptr && known->run != nullptr &&
                               known->leavers.contains(agent);
    if (is_member || left_this_run) out.emplace_back(job, stats);
  }
  return out;
}

}  // namespace dogged
