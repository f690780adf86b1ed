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
  if (agent_.IsDraining()) out.PutBool(true);
  agent_.membership.SetGossipPayload(Bytes(out.Take()));
}

bool StatsGossip::IsDraining(AgentId agent) const {
  const Bytes blob = agent_.membership.GossipPayloadOf(agent);
  Decoder in(blob.view());
  const int64_t count = in.GetCount(1);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    (void)in.GetId<JobId>();
    (void)JobStats::Decode(in);
  }
  return in.ok() && in.remaining() > 0 && in.GetBool();
}

std::vector<std::pair<JobId, JobStats>> StatsGossip::Of(AgentId agent) const {
  std::vector<std::pair<JobId, JobStats>> out;
  const Bytes blob = agent_.membership.GossipPayloadOf(agent);
  const bool is_member = agent_.membership.view()->Find(agent) != nullptr;
  Decoder in(blob.view());
  const int64_t count = in.GetCount(1);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    const JobId job = in.GetId<JobId>();
    const JobStats stats = JobStats::Decode(in);
    // An agent that left before the job began here did that in an earlier run.
    const JobEntry* const known = table_.Find(job);
    const bool left_this_run = known != nullptr && known->run != nullptr &&
                               known->leavers.contains(agent);
    if (is_member || left_this_run) out.emplace_back(job, stats);
  }
  if (!in.ok()) out.clear();
  return out;
}

}  // namespace dogged
