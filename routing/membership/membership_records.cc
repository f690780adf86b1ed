// Membership: its records.
#include <utility>

#include "routing/membership/membership.h"
#include "routing/membership/reconcile.h"

namespace dogged {

void Membership::MergeRecords(
    std::vector<std::pair<std::string, GossipRecord>> records,
    GossipNews& fresh) {
  for (auto& [key, record] : records) {
    if (!records_.Put(key, record)) continue;
    events_.push_back({.kind = MembershipEvent::Kind::kRecord, .key = key});
    fresh.records.emplace_back(std::move(key), std::move(record));
  }
}

void Membership::PutRecord(absl::Time now, absl::string_view key,
                           uint64_t version, Bytes bytes, Outbox& out) {
  Advance(now);
  GossipNews fresh;
  MergeRecords({{std::string(key), {version, std::move(bytes)}}}, fresh);
  Spread(fresh, AgentId(), out);
}

void Membership::PutDigests(Encoder& encoder) const {
  encoder.PutU64(MembersDigest());
  encoder.PutU64(records_.sum());
}

void Membership::SendDigest(AgentId to, Outbox& out) const {
  Encoder encoder;
  PutDigests(encoder);
  out.Send(to, RoutingKind::kGossipDigest, JobId(), Bytes(encoder.Take()));
}

void Membership::ReceiveDigest(AgentId from, const Bytes& body, Outbox& out) {
  Decoder decoder(body.view());
  const uint64_t their_members = decoder.GetU64();
  const uint64_t their_records = decoder.GetU64();
  if (!decoder.Finish("gossip digest").ok()) {
    ++refused_count_;
    return;
  }
  if (their_members != MembersDigest()) SendNews(from, AllFacts(), true, out);
  if (their_records != records_.sum()) SendReconcile(from, out);
}

void Membership::SendReconcile(AgentId to, Outbox& out) {
  SendReconcile(to, StartReconcile(records_), out);
}

void Membership::SendReconcile(AgentId to, const ReconcileMessage& message,
                               Outbox& out) {
  Bytes body = message.Encode();
  if (reconcile_bytes_ < body.size()) return;  // gossip begins again
  reconcile_bytes_ -= body.size();
  out.Send(to, RoutingKind::kReconcile, JobId(), std::move(body));
}

void Membership::ReceiveReconcile(AgentId from, const Bytes& body,
                                  Outbox& out) {
  auto heard = ReconcileMessage::Decode(body.view());
  if (!heard.ok()) {
    ++refused_count_;
    return;
  }
  GossipNews fresh;
  MergeRecords(std::exchange(heard->records, {}), fresh);
  if (view_->size() > options_.push_all_max) Spread(fresh, from, out);
  const ReconcileMessage answer = AnswerReconcile(records_, *heard);
  if (!answer.empty()) {
    SendReconcile(from, answer, out);
  } else if (heard->has_more && !fresh.empty()) {
    // Only an exchange that brought records goes on at once: copies of it end
    // here.
    SendDigest(from, out);
  }
}

}  // namespace dogged
