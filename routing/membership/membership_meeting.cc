// How agents meet: snapshots, candidates, and which of two sides gives way.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/membership/membership.h"
#include "runtime/base/hash.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

absl::Status Malformed(absl::string_view bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      "membership snapshot of ", bytes.size(), " bytes is malformed"));
}

}  // namespace

// The sender's ID and view, its facts and records, its candidates.
std::string Membership::Snapshot() const {
  GossipNews news = AllFacts();
  news.records.assign(records().begin(), records().end());
  GossipNews named;
  named.facts = candidates_.facts();
  Encoder encoder;
  encoder.PutId(self_.id);
  encoder.PutId(view_->digest());
  news.EncodeTo(encoder);
  named.EncodeTo(encoder);
  return encoder.Take();
}

bool Membership::Clashes(const GossipNews& theirs) const {
  return std::any_of(
      theirs.facts.begin(), theirs.facts.end(), [this](const MemberFact& fact) {
        if (fact.state == MemberState::kDead) return view_->Contains(fact.id);
        return fact.state == MemberState::kAlive && IsDead(fact.id);
      });
}

absl::StatusOr<std::string> Membership::Admit(absl::Time now,
                                              absl::string_view snapshot) {
  Advance(now);
  if (declared_dead_ || leaving_) {
    return absl::FailedPreconditionError("this agent has ended");
  }
  Decoder decoder(snapshot);
  const auto from = decoder.GetId<AgentId>();
  const auto digest = decoder.GetId<ViewDigest>();
  GossipNews news = GossipNews::DecodeFrom(decoder);
  GossipNews named = GossipNews::DecodeFrom(decoder);
  if (!decoder.Finish("snapshot").ok()) return Malformed(snapshot);
  uint64_t size = 0;
  std::string address;
  for (const MemberFact& fact : news.facts) {
    size += fact.state == MemberState::kAlive ? 1 : 0;
    if (fact.id == from) address = fact.member.control_address;
  }
  Encoder answer;
  if (Clashes(news)) {
    const auto mine =
        std::make_pair(static_cast<uint64_t>(view_->size()), view_->digest());
    const bool we_do = std::make_pair(size, digest) > mine;
    if (we_do) GiveWay("a larger part of the cluster goes on", address);
    answer.PutU8(static_cast<uint8_t>(we_do ? Meeting::kWeGiveWay
                                            : Meeting::kTheyGiveWay));
    return answer.Take();
  }
  // Live agents become candidates, to be heard first; facts of ended agents are
  // merged at once.
  const auto first_ended = std::stable_partition(
      news.facts.begin(), news.facts.end(),
      [](const MemberFact& fact) { return fact.state == MemberState::kAlive; });
  for (auto it = news.facts.begin(); it != first_ended; ++it) {
    AddCandidate(std::move(*it));
  }
  news.facts.erase(news.facts.begin(), first_ended);
  for (MemberFact& fact : named.facts) AddCandidate(std::move(fact));
  GossipNews fresh;
  MergeNews(std::move(news), fresh);
  answer.PutU8(static_cast<uint8_t>(Meeting::kMerged));
  answer.PutRaw(Snapshot());
  return answer.Take();
}

absl::StatusOr<AgentId> Membership::Absorb(const Pass& pass,
                                           absl::string_view answer,
                                           absl::string_view by) {
  Advance(pass.now);
  if (declared_dead_ || leaving_) {
    return absl::FailedPreconditionError("this agent has ended");
  }
  Decoder decoder(answer);
  switch (static_cast<Meeting>(decoder.GetU8())) {
    case Meeting::kTheyGiveWay:
      if (!decoder.Finish("answer").ok()) return Malformed(answer);
      GiveWay("a larger part of the cluster goes on", by);
      return AgentId();
    case Meeting::kWeGiveWay:
      if (!decoder.Finish("answer").ok()) return Malformed(answer);
      return AgentId();
    case Meeting::kMerged:
      break;
  }
  const auto from = decoder.GetId<AgentId>();
  (void)decoder.GetId<ViewDigest>();
  GossipNews news = GossipNews::DecodeFrom(decoder);
  GossipNews named = GossipNews::DecodeFrom(decoder);
  if (!decoder.Finish("snapshot").ok()) return Malformed(answer);
  if (from == self_.id) return from;
  const std::shared_ptr<const View> before = view_;
  GossipNews fresh;
  MergeNews(std::move(news), fresh);
  if (declared_dead_) {
    GiveWay(entries_.at(self_.id).fact.cause, by);
    return AgentId();
  }
  for (MemberFact& fact : named.facts) AddCandidate(std::move(fact));
  for (const Member& member : before->members()) {
    if (member.id != self_.id && !fresh.empty()) {
      SendNews(member.id, fresh, false, pass.out);
    }
  }
  newcomer_until_ = awake_ + 2 * options_.gossip_interval;
  Spread(NewsOf(self_.id), AgentId(), pass.out);
  for (const AgentId id : candidates_.ids()) {
    SendNews(id, NewsOf(self_.id), false, pass.out);
  }
  return from;
}

void Membership::GiveWay(absl::string_view cause, absl::string_view address) {
  End(self_.id, MemberState::kDead, cause, nullptr);
  if (!declared_dead_) return;  // it leaves anyway
  Member to_join;
  to_join.control_address = std::string(address);
  events_.push_back({.kind = MembershipEvent::Kind::kDeclaredDead,
                     .member = std::move(to_join),
                     .cause = std::string(cause)});
}

std::string Membership::AddressOf(AgentId id) const {
  const auto it = entries_.find(id);
  return it == entries_.end() ? "" : it->second.fact.member.control_address;
}

void Membership::AddCandidate(MemberFact fact) {
  if (fact.state != MemberState::kAlive || entries_.contains(fact.id)) return;
  Member member = fact.member;
  if (!candidates_.Add(std::move(fact), awake_)) return;
  events_.push_back(
      {.kind = MembershipEvent::Kind::kNamed, .member = std::move(member)});
}

void Membership::Promote(AgentId id, Outbox& out) {
  MemberFact fact = candidates_.Take(id);
  GossipNews fresh;
  if (MergeFact(fact)) fresh.facts.push_back(std::move(fact));
  detector_.Heard(id, awake_);
  Spread(fresh, id, out);
  EndPredecessors(id, out);
}

void Membership::EndPredecessors(AgentId id, Outbox& out) {
  const std::string address = AddressOf(id);
  if (address.empty()) return;
  for (const Member& member : std::vector<Member>(view_->members())) {
    if (member.control_address != address || member.id == id ||
        member.id == self_.id) {
      continue;
    }
    End(member.id, MemberState::kDead, "it goes on as another incarnation",
        &out);
  }
}

void Membership::TickCandidates(Outbox& out) {
  const Candidates::Due due = candidates_.Tick(awake_);
  for (const Member& member : due.forgotten) {
    events_.push_back(
        {.kind = MembershipEvent::Kind::kForgotten, .member = member});
  }
  for (const AgentId id : due.to_ping) SendPing(id, AgentId(), out);
}

// --- Links that are down ---------------------------------------------------

void Membership::NoteUnheard() {
  MemberFact& fact = entries_.at(self_.id).fact;
  std::vector<AgentId> unheard = detector_.Unheard(awake_);
  if (unheard == fact.unheard) return;
  fact.unheard = std::move(unheard);
  ++fact.blob_version;
  blob_changed_ = true;
  next_gossip_ = awake_;  // other agents learn from it to send via relays
  RefreshRelays();
}

std::vector<AgentId> Membership::UnheardBy(AgentId id) const {
  const auto it = entries_.find(id);
  return it == entries_.end() ? std::vector<AgentId>()
                              : it->second.fact.unheard;
}

void Membership::RefreshRelays() {
  relays_.clear();
  for (const Member& member : view_->members()) {
    const MemberFact& fact = entries_.at(member.id).fact;
    if (member.id == self_.id || fact.Hears(self_.id)) continue;
    AgentId& best = relays_[member.id];
    uint64_t best_rank = 0;
    for (const Member& other : view_->members()) {
      if (other.id == self_.id || other.id == member.id ||
          !fact.Hears(other.id) ||
          !entries_.at(other.id).fact.Hears(self_.id)) {
        continue;
      }
      const uint64_t rank =
          Mix64(Mix64(self_.id.value(), member.id.value()), other.id.value());
      if (best.IsNone() || rank > best_rank) {
        best = other.id;
        best_rank = rank;
      }
    }
  }
}

AgentId Membership::RelayTo(AgentId to) const {
  if (relays_.empty()) return AgentId();
  const auto it = relays_.find(to);
  return it == relays_.end() ? AgentId() : it->second;
}

}  // namespace dogged
