#include "routing/membership/record_gossip.h"

#include "routing/membership/reconcile.h"
#include "runtime/base/bytes.h"

namespace dogged {

void RecordGossip::Merge(
    std::vector<std::pair<std::string, GossipRecord>> records,
    GossipNews& fresh) {
  for (auto& [key, record] : records) {
    if (!records_.Put(key, record)) continue;
    fresh.records.emplace_back(std::move(key), std::move(record));
  }
}

void RecordGossip::Start(AgentId to, Outbox& out) {
  Send(to, StartReconcile(records_), out);
}

bool RecordGossip::Answer(AgentId to, const ReconcileMessage& heard,
                          Outbox& out) {
  const ReconcileMessage answer = AnswerReconcile(records_, heard);
  if (answer.empty()) return false;
  Send(to, answer, out);
  return true;
}

void RecordGossip::Send(AgentId to, const ReconcileMessage& message,
                        Outbox& out) {
  Bytes body = message.Encode();
  if (bytes_left_ < body.size()) return;  // gossip begins again
  bytes_left_ -= body.size();
  out.Send(to, RoutingKind::kReconcile, JobId(), std::move(body));
}

}  // namespace dogged
