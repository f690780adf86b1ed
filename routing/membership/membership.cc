#include "routing/membership/membership.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "routing/membership/reconcile.h"
#include "routing/transport/transport.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

// Every so many gossips, one goes to an agent that counts as dead.
constexpr int64_t kDeadProbeShare = 2;

// Why an agent that gives way counts as dead, if no other cause is known.
constexpr absl::string_view kGoesOn = "the others go on without it";

// More than a packet carries, also where packets are large.
constexpr size_t kFillerBytes = 9216;

// First byte of a gossip.
enum class GossipForm : uint8_t {
  kNews = 0,    // merge
  kFull = 1,    // merge; answer with all facts if ours are more
  kNotice = 2,  // "here you count as dead"
};

absl::Status Malformed(absl::string_view bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      "membership snapshot of ", bytes.size(), " bytes is malformed"));
}

}  // namespace

Membership::Membership(Member self, const MembershipOptions& options, Rng rng)
    : self_(std::move(self)),
      options_(options),
      rng_(rng.Stream("membership")),
      detector_(options.detector, rng.Stream("failure detector")),
      records_(options.reconcile_bytes_max),
      candidates_(options.candidate_time_max),
      relays_(self_.id) {
  DOGGED_CHECK(!self_.id.IsNone());
  entries_[self_.id] =
      Entry{.fact = {.id = self_.id, .member = self_}, .known = true};
  RefreshView();
}

// Moves awake time on, by little if the agent did not run for long.
void Membership::Advance(absl::Time now) {
  if (last_now_ == absl::InfinitePast()) last_now_ = now;
  awake_ +=
      std::clamp(now - last_now_, absl::ZeroDuration(), options_.tick_gap_max);
  last_now_ = std::max(last_now_, now);
}

// --- Facts ---------------------------------------------------------------

GossipNews Membership::AllFacts() const {
  GossipNews news;
  for (const auto& [id, entry] : entries_) news.facts.push_back(entry.fact);
  return news;
}

GossipNews Membership::NewsOf(AgentId id) const {
  return {.facts = {entries_.at(id).fact}, .records = {}};
}

bool Membership::Merge(Decoder& decoder, GossipNews& fresh) {
  // All is read before anything is believed.
  GossipNews news = GossipNews::DecodeFrom(decoder);
  if (!TakeOpenEnd(decoder, "gossip").ok()) {
    ++refused_count_;
    return false;
  }
  MergeNews(std::move(news), fresh);
  return true;
}

void Membership::MergeNews(GossipNews news, GossipNews& fresh) {
  for (MemberFact& fact : news.facts) {
    if (MergeFact(fact)) fresh.facts.push_back(std::move(fact));
  }
  MergeRecords(std::move(news.records), fresh);
}

bool Membership::MergeFact(MemberFact fact) {
  const AgentId id = fact.id;
  const bool alive = fact.state == MemberState::kAlive;
  auto it = entries_.find(id);
  if (it == entries_.end()) {
    candidates_.Remove(id);
    Entry entry{.fact = std::move(fact), .known = alive};
    if (alive) {
      detector_.Add(id, awake_);
      events_.push_back({.kind = MembershipEvent::Kind::kJoined,
                         .member = entry.fact.member});
    } else {
      entry.forgotten = true;  // never met
    }
    entries_.emplace(id, std::move(entry));
    members_digest_ = 0;
    if (alive) RefreshView();
    return true;
  }
  MemberFact& mine = it->second.fact;
  const bool is_news = fact.state > mine.state;
  if (is_news) End(id, fact.state, fact.cause, nullptr);
  // An agent that leaves may have sent a last payload with that.
  if (fact.state == mine.state && id != self_.id && !it->second.forgotten &&
      fact.blob_version > mine.blob_version) {
    mine.blob_version = fact.blob_version;
    mine.blob = std::move(fact.blob);
    if (mine.unheard != fact.unheard) {
      mine.unheard = std::move(fact.unheard);
      RefreshRelays();
    }
  }
  return is_news;
}

// The end of `id`, one way or the other; spread if `out` is given.
void Membership::End(AgentId id, MemberState state, absl::string_view cause,
                     Outbox* out) {
  Entry& entry = entries_.at(id);
  MemberFact& fact = entry.fact;
  if (fact.state >= state) return;
  const bool was_alive = fact.state == MemberState::kAlive;
  fact.state = state;
  fact.cause = std::string(cause);
  entry.ended = awake_;
  if (was_alive && state == MemberState::kDead) {
    fact.blob = Bytes();
    fact.unheard.clear();
  }
  detector_.Remove(id);
  members_digest_ = 0;
  if (id == self_.id) {
    declared_dead_ = !leaving_;
    return;
  }
  if (was_alive) {
    RefreshView();
    events_.push_back({.kind = state == MemberState::kLeft
                                   ? MembershipEvent::Kind::kLeft
                                   : MembershipEvent::Kind::kDied,
                       .member = fact.member,
                       .cause = fact.cause});
  }
  if (out != nullptr) Spread(NewsOf(id), AgentId(), *out);
}

void Membership::RefreshView() {
  std::vector<Member> members;
  for (const auto& [id, entry] : entries_) {
    if (entry.fact.state == MemberState::kAlive) {
      members.push_back(entry.fact.member);
    }
  }
  view_ = std::make_shared<const View>(std::move(members));
  members_digest_ = 0;
  RefreshRelays();
}

uint64_t Membership::MembersDigest() const {
  if (members_digest_ != 0) return members_digest_;
  uint64_t digest = 1;
  for (const auto& [id, entry] : entries_) {
    digest = Mix64(Mix64(digest, id.value()),
                   static_cast<uint64_t>(entry.fact.state));
  }
  members_digest_ = digest | 1;
  return members_digest_;
}

uint64_t Membership::StateDigest() const {
  return Mix64(MembersDigest(), records_.set().sum());
}

// --- Sending -------------------------------------------------------------

void Membership::SendNews(AgentId to, const GossipNews& news, bool full,
                          Outbox& out) const {
  Encoder encoder;
  encoder.PutU8(
      static_cast<uint8_t>(full ? GossipForm::kFull : GossipForm::kNews));
  PutDigests(encoder);
  news.EncodeTo(encoder);
  PutOpenEnd(encoder);
  out.Send(to, RoutingKind::kGossip, JobId(), Bytes(encoder.Take()));
}

void Membership::Spread(const GossipNews& news, AgentId except, Outbox& out) {
  if (news.empty()) return;
  std::vector<AgentId> others;
  for (const Member& member : view_->members()) {
    if (member.id != self_.id && member.id != except) {
      others.push_back(member.id);
    }
  }
  if (view_->size() > options_.push_all_max) {
    for (int i = 0; i < options_.fanout && !others.empty(); ++i) {
      SendNews(rng_.Pick(others), news, false, out);
    }
    return;
  }
  for (AgentId id : others) SendNews(id, news, false, out);
}

void Membership::SendPing(AgentId to, AgentId asked_by, Outbox& out) const {
  Encoder encoder;
  encoder.PutId(asked_by);
  entries_.at(self_.id).fact.EncodeTo(encoder);
  PutFiller(to, encoder);
  PutOpenEnd(encoder);
  out.Send(to, RoutingKind::kPing, JobId(), Bytes(encoder.Take()));
}

void Membership::PutFiller(AgentId to, Encoder& encoder) const {
  const auto it = entries_.find(to);
  if (it == entries_.end() || it->second.fact.Hears(self_.id)) return;
  encoder.PutString(std::string(kFillerBytes, '\0'));
}

void Membership::SendNotice(AgentId to, Outbox& out) const {
  Encoder encoder;
  encoder.PutU8(static_cast<uint8_t>(GossipForm::kNotice));
  encoder.PutU64(static_cast<uint64_t>(view_->size()));
  encoder.PutId(view_->digest());
  encoder.PutString(entries_.at(to).fact.cause);
  PutOpenEnd(encoder);
  out.Send(to, RoutingKind::kGossip, JobId(), Bytes(encoder.Take()));
}

AgentId Membership::RandomPeer() {
  const std::vector<Member>& members = view_->members();
  if (members.size() < 2) return AgentId();
  while (true) {
    const AgentId id = rng_.Pick(members).id;
    if (id != self_.id) return id;
  }
}

// --- Receiving -----------------------------------------------------------

void Membership::Receive(const Pass& pass, AgentId from, uint8_t kind,
                         const Bytes& body) {
  Advance(pass.now);
  if (declared_dead_) return;
  if (IsDead(from)) {
    ReceiveFromDead(from, kind, body, pass.out);
    return;
  }
  Decoder decoder(body.view());
  switch (static_cast<RoutingKind>(kind)) {
    case RoutingKind::kGossip:
      ReceiveGossip(from, body, pass.out);
      break;
    case RoutingKind::kGossipDigest:
      ReceiveDigest(from, body, pass.out);
      break;
    case RoutingKind::kReconcile:
      ReceiveReconcile(from, body, pass.out);
      break;
    case RoutingKind::kPing:
      ReceivePing(from, body, pass.out);
      break;
    case RoutingKind::kPingAck:
      ReceiveAck(from, body, pass.out);
      break;
    case RoutingKind::kPingRequest:
      if (const auto target = decoder.GetId<AgentId>();
          view_->Contains(target)) {
        SendPing(target, from, pass.out);
      }
      break;
    case RoutingKind::kNone:
    case RoutingKind::kRelay:
    case RoutingKind::kMulticast:
    case RoutingKind::kStreamOffer:
    case RoutingKind::kStreamSegment:
    case RoutingKind::kStreamPull:
      ++refused_count_;
      break;
  }
}

void Membership::ReceiveGossip(AgentId from, const Bytes& body, Outbox& out) {
  Decoder decoder(body.view());
  const uint8_t form = decoder.GetU8();
  if (form == static_cast<uint8_t>(GossipForm::kNotice)) {
    const uint64_t size = decoder.GetU64();
    const auto digest = decoder.GetId<ViewDigest>();
    const absl::string_view cause = decoder.GetString();
    if (!TakeOpenEnd(decoder, "notice").ok()) {
      ++refused_count_;
      return;
    }
    // Two parts gave each other up: the smaller one gives way.
    const auto mine =
        std::make_pair(static_cast<uint64_t>(view_->size()), view_->digest());
    if (!IsDead(from) || std::make_pair(size, digest) >= mine) {
      GiveWay(cause, AddressOf(from));
    }
    return;
  }
  const uint64_t their_members = decoder.GetU64();
  const uint64_t their_records = decoder.GetU64();
  GossipNews fresh;
  if (!Merge(decoder, fresh)) return;
  if (declared_dead_) {
    GiveWay(entries_.at(self_.id).fact.cause, AddressOf(from));
    return;
  }
  const bool is_small = view_->size() <= options_.push_all_max;
  if (!is_small) Spread(fresh, from, out);
  const bool is_full = form == static_cast<uint8_t>(GossipForm::kFull);
  // Agents that join at the same time do not know each other: a newcomer tells
  // its own fact to all members that it hears of.
  bool is_newcomer = false;
  for (const MemberFact& fact : fresh.facts) {
    if (fact.id == from) EndPredecessors(from, out);
    is_newcomer |= is_small && fact.id == from;
    if (is_small && awake_ < newcomer_until_ && fact.id != from &&
        fact.id != self_.id && fact.state == MemberState::kAlive) {
      SendNews(fact.id, NewsOf(self_.id), false, out);
    }
  }
  if (!(is_full || is_newcomer) || !view_->Contains(from)) return;
  if (MembersDigest() != their_members) {
    SendNews(from, AllFacts(), is_full, out);
  }
  if (records_.set().sum() != their_records) records_.Start(from, out);
}

// Body of a ping: the agent that asked for it (0: the sender), then the
// sender's own fact.
void Membership::ReceivePing(AgentId from, const Bytes& body, Outbox& out) {
  Decoder decoder(body.view());
  const auto asked_by = decoder.GetId<AgentId>();
  MemberFact heard = MemberFact::DecodeFrom(decoder);
  if (!TakeOpenEnd(decoder, "ping").ok() || heard.id != from) {
    ++refused_count_;
    return;
  }
  MergeFact(std::move(heard));
  Encoder encoder;
  encoder.PutId(asked_by);
  encoder.PutId(self_.id);
  entries_.at(self_.id).fact.EncodeTo(encoder);
  PutFiller(from, encoder);
  PutOpenEnd(encoder);
  out.Send(from, RoutingKind::kPingAck, JobId(), Bytes(encoder.Take()));
}

// An answer: for whom, about whom, then the fact of the one who answered.
void Membership::ReceiveAck(AgentId from, const Bytes& body, Outbox& out) {
  Decoder decoder(body.view());
  const auto asked_by = decoder.GetId<AgentId>();
  const auto about = decoder.GetId<AgentId>();
  MemberFact heard = MemberFact::DecodeFrom(decoder);
  if (!TakeOpenEnd(decoder, "answer to a ping").ok() || heard.id != about ||
      about == self_.id) {
    ++refused_count_;
    return;
  }
  // By way of another agent, too: so the two ends of a link that is down hear
  // of it.
  if (about == from || view_->Contains(about)) MergeFact(std::move(heard));
  if (asked_by.IsNone() || asked_by == self_.id) {
    // That the sender itself lives is known since the message came.
    if (about != from) {
      detector_.HeardOf(about, awake_);
    } else if (asked_by.IsNone()) {
      detector_.Answered(about, awake_);
    }
  } else if (view_->Contains(asked_by)) {
    out.Send(asked_by, RoutingKind::kPingAck, JobId(), body);
  }
}

// A message from one that counts as dead here: nothing of it is believed, or
// its verdicts on us would spread; it is told. A notice may still end us.
void Membership::ReceiveFromDead(AgentId from, uint8_t kind, const Bytes& body,
                                 Outbox& out) {
  const bool is_notice = kind == static_cast<uint8_t>(RoutingKind::kGossip) &&
                         !body.empty() &&
                         static_cast<uint8_t>(body.view()[0]) ==
                             static_cast<uint8_t>(GossipForm::kNotice);
  if (is_notice) ReceiveGossip(from, body, out);
  if (!declared_dead_ && !is_notice && entries_.at(from).known) {
    SendNotice(from, out);
  }
}

// --- Records -------------------------------------------------------------

void Membership::MergeRecords(
    std::vector<std::pair<std::string, GossipRecord>> records,
    GossipNews& fresh) {
  const size_t before = fresh.records.size();
  records_.Merge(std::move(records), fresh);
  for (size_t i = before; i < fresh.records.size(); ++i) {
    events_.push_back({.kind = MembershipEvent::Kind::kRecord,
                       .key = fresh.records[i].first});
  }
}

void Membership::PutRecord(const Pass& pass, absl::string_view key,
                           uint64_t version, Bytes bytes) {
  PutRecords(pass, {{std::string(key), {version, std::move(bytes)}}});
}

void Membership::PutRecords(
    const Pass& pass,
    std::vector<std::pair<std::string, GossipRecord>> records) {
  Advance(pass.now);
  GossipNews fresh;
  MergeRecords(std::move(records), fresh);
  Spread(fresh, AgentId(), pass.out);
}

std::vector<std::pair<std::string, GossipRecord>> Membership::AllRecords()
    const {
  std::vector<std::pair<std::string, GossipRecord>> out;
  for (const KeptRecord* record : records().StartingWith("")) {
    out.emplace_back(record->key(), record->ToSend());
  }
  return out;
}

void Membership::PutDigests(Encoder& encoder) const {
  encoder.PutU64(MembersDigest());
  encoder.PutU64(records_.set().sum());
}

void Membership::SendDigest(AgentId to, Outbox& out) const {
  Encoder encoder;
  PutDigests(encoder);
  PutOpenEnd(encoder);
  out.Send(to, RoutingKind::kGossipDigest, JobId(), Bytes(encoder.Take()));
}

void Membership::ReceiveDigest(AgentId from, const Bytes& body, Outbox& out) {
  Decoder decoder(body.view());
  const uint64_t their_members = decoder.GetU64();
  const uint64_t their_records = decoder.GetU64();
  if (!TakeOpenEnd(decoder, "gossip digest").ok()) {
    ++refused_count_;
    return;
  }
  if (their_members != MembersDigest()) SendNews(from, AllFacts(), true, out);
  if (their_records != records_.set().sum()) records_.Start(from, out);
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
  if (!records_.Answer(from, *heard, out) && heard->has_more &&
      !fresh.empty()) {
    // Only an exchange that brought records goes on at once: copies of it end
    // here.
    SendDigest(from, out);
  }
}

// --- Time ----------------------------------------------------------------

void Membership::Tick(const Pass& pass) {
  Advance(pass.now);
  if (declared_dead_) return;
  RunDetector(pass.out);
  if (declared_dead_) return;
  TickCandidates(pass.out);
  RunGossip(pass.out);
  const absl::Time next =
      std::min({detector_.next_tick(), next_gossip_, candidates_.next_ping()});
  pass.out.WakeAt(pass.now + std::max(next - awake_, absl::ZeroDuration()));
}

void Membership::RunDetector(Outbox& out) {
  const FailureDetector::Wishes messages = detector_.Tick(awake_);
  for (AgentId id : messages.pings) SendPing(id, AgentId(), out);
  for (const auto& [relay, target] : messages.relays) {
    Encoder encoder;
    encoder.PutId(target);
    out.Send(relay, RoutingKind::kPingRequest, JobId(), Bytes(encoder.Take()));
  }
  for (const auto& [id, cause] : messages.verdicts) {
    End(id, MemberState::kDead, cause, &out);
  }
  if (!messages.isolation.empty()) {
    GiveWay(absl::StrCat("all others were ", messages.isolation), "");
  }
  NoteUnheard();
}

void Membership::RunGossip(Outbox& out) {
  if (awake_ < next_gossip_) return;
  next_gossip_ = awake_ + options_.gossip_interval;
  records_.Refill();
  if (blob_changed_ && view_->size() <= options_.push_all_max) {
    Spread(NewsOf(self_.id), AgentId(), out);
  }
  blob_changed_ = false;
  if (const AgentId peer = RandomPeer(); !peer.IsNone()) {
    SendDigest(peer, out);
  }
  std::vector<AgentId> dead;
  for (auto& [id, entry] : entries_) {
    if (entry.fact.state == MemberState::kAlive || entry.forgotten ||
        id == self_.id) {
      continue;
    }
    if (awake_ - entry.ended >= options_.forget_after) {
      entry.forgotten = true;
      entry.fact.blob = Bytes();
      events_.push_back({.kind = MembershipEvent::Kind::kForgotten,
                         .member = entry.fact.member});
      // It may yet be heard, and told where to join; see AddressOf().
      Member remembered;
      remembered.id = id;
      remembered.control_address = entry.fact.member.control_address;
      entry.fact.member = std::move(remembered);
    } else if (entry.fact.state == MemberState::kDead) {
      dead.push_back(id);
    }
  }
  // A dead agent may in fact live, and hear nothing but this.
  if (!dead.empty() && rng_.Below(kDeadProbeShare) == 0) {
    SendNotice(rng_.Pick(dead), out);
  }
}

// --- From the agent ------------------------------------------------------

void Membership::Heard(const Pass& pass, const Envelope& head) {
  Advance(pass.now);
  if ((head.flags & Envelope::kRelayedFlag) != 0) {
    detector_.HeardOf(head.source, awake_);
  } else {
    detector_.Heard(head.source, awake_);
  }
  if (candidates_.Contains(head.source)) Promote(head.source, pass.out);
}

void Membership::PeerDied(const Pass& pass, AgentId peer,
                          absl::string_view cause) {
  Advance(pass.now);
  if (declared_dead_ || peer == self_.id || !entries_.contains(peer)) return;
  End(peer, MemberState::kDead, cause, &pass.out);
}

void Membership::Leave(const Pass& pass) {
  Advance(pass.now);
  leaving_ = true;
  End(self_.id, MemberState::kLeft, "left", nullptr);
  Spread(NewsOf(self_.id), AgentId(), pass.out);
}

void Membership::SetGossipPayload(Bytes blob) {
  MemberFact& fact = entries_.at(self_.id).fact;
  if (fact.blob == blob) return;
  fact.blob = std::move(blob);
  ++fact.blob_version;
  blob_changed_ = true;
}

Bytes Membership::GossipPayloadOf(AgentId id) const {
  auto it = entries_.find(id);
  return it == entries_.end() ? Bytes() : it->second.fact.blob;
}

std::vector<MembershipEvent> Membership::TakeEvents() {
  return std::exchange(events_, {});
}

bool Membership::IsDead(AgentId id) const {
  auto it = entries_.find(id);
  return it != entries_.end() && it->second.fact.state == MemberState::kDead;
}

// --- Meetings and candidates -----------------------------------------------

std::string Membership::Snapshot(bool is_for_kin) const {
  MeetingSnapshot out{.from = self_.id,
                      .view = view_->digest(),
                      .news = AllFacts(),
                      .named = {.facts = candidates_.facts(), .records = {}},
                      .is_for_kin = is_for_kin,
                      .kin = {}};
  if (is_for_kin) out.kin = options_.kin;
  out.news.records = AllRecords();
  Encoder encoder;
  out.EncodeTo(encoder);
  PutOpenEnd(encoder);
  return encoder.Take();
}

bool Membership::Clashes(const GossipNews& theirs) const {
  return std::any_of(
      theirs.facts.begin(), theirs.facts.end(), [this](const MemberFact& fact) {
        if (fact.state == MemberState::kDead) return view_->Contains(fact.id);
        return fact.state == MemberState::kAlive && IsDead(fact.id);
      });
}

Meeting Membership::Verdict(const MeetingSnapshot& theirs) const {
  if (!Clashes(theirs.news)) return Meeting::kMerged;
  // An agent that counts as dead among those that it takes for members (it was
  // stopped, say, and knows of nothing since) is no side of its own, however
  // many its view has: they are the others'.
  const MemberFact* const self_there = theirs.FactOf(self_.id);
  const bool lives_there =
      self_there != nullptr && self_there->state == MemberState::kAlive;
  const bool is_dead_there =
      self_there != nullptr && self_there->state == MemberState::kDead;
  if (view_->Contains(theirs.from)) {
    if (is_dead_there) return Meeting::kWeGiveWay;
    if (lives_there) return Meeting::kMerged;  // by gossip they would as well
  }
  if (lives_there && IsDead(theirs.from)) return Meeting::kTheyGiveWay;
  return theirs.Outweighs(*view_) ? Meeting::kWeGiveWay : Meeting::kTheyGiveWay;
}

absl::Status Membership::CheckKin(const MeetingSnapshot& theirs) const {
  const bool is_free = options_.looks_for_others && view_->size() == 1;
  if (!theirs.is_for_kin || is_free) return absl::OkStatus();
  const absl::flat_hash_set<AgentId> kin(options_.kin.begin(),
                                         options_.kin.end());
  if (theirs.IsKin([&](AgentId id) {
        return entries_.contains(id) || candidates_.Contains(id) ||
               kin.contains(id);
      })) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      self_.control_address,
      " was the address of an agent that has died, and an agent of another "
      "cluster has it now: give each the other's address with --join, if the "
      "two are to be one"));
}

absl::Status Membership::CheckProtection(const Member& other) const {
  const absl::string_view theirs = ProtectionOf(other.fabric_address);
  const absl::string_view ours = ProtectionOf(self_.fabric_address);
  if (theirs == ours) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "the agent at ", self_.control_address, " has messages between hosts ",
      ours, ", and the one at ", other.control_address, " has them ", theirs,
      ": start it with --wire ", ours));
}

absl::Status Membership::CheckWires(const GossipNews& theirs) const {
  WireRange common = view_->wire();
  for (const MemberFact& fact : theirs.facts) {
    if (fact.state != MemberState::kAlive) continue;
    if (!common.Overlaps(fact.member.wire)) {
      return absl::UnimplementedError(absl::StrCat(
          "the agents with ", self_.control_address, " speak version ",
          common.ToString(), " of the wire, and the one at ",
          fact.member.control_address, " speaks ", fact.member.wire.ToString(),
          ", too far apart to work together: bring the older ones to the "
          "releases in between first, one by one"));
    }
    common = common.Common(fact.member.wire);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Membership::Admit(absl::Time now,
                                              absl::string_view snapshot) {
  Advance(now);
  if (declared_dead_ || leaving_) {
    return absl::FailedPreconditionError("this agent has ended");
  }
  Decoder decoder(snapshot);
  MeetingSnapshot theirs = MeetingSnapshot::DecodeFrom(decoder);
  if (!TakeOpenEnd(decoder, "snapshot").ok()) return Malformed(snapshot);
  DOGGED_RETURN_IF_ERROR(CheckKin(theirs));
  const Member* const sender = theirs.Sender();
  if (sender != nullptr) DOGGED_RETURN_IF_ERROR(CheckProtection(*sender));
  DOGGED_RETURN_IF_ERROR(CheckWires(theirs.news));
  Encoder answer;
  const Meeting verdict = Verdict(theirs);
  answer.PutU8(static_cast<uint8_t>(verdict));
  if (verdict == Meeting::kTheyGiveWay) return answer.Take();
  if (verdict == Meeting::kWeGiveWay) {
    const MemberFact* const fact = theirs.FactOf(self_.id);
    GiveWay(fact == nullptr || fact->cause.empty() ? kGoesOn : fact->cause,
            sender == nullptr ? "" : sender->control_address);
    return answer.Take();
  }
  // Live agents become candidates, to be heard first; facts of ended agents are
  // merged at once.
  std::vector<MemberFact>& facts = theirs.news.facts;
  const auto first_ended = std::stable_partition(
      facts.begin(), facts.end(),
      [](const MemberFact& fact) { return fact.state == MemberState::kAlive; });
  for (auto it = facts.begin(); it != first_ended; ++it) {
    AddCandidate(std::move(*it));
  }
  facts.erase(facts.begin(), first_ended);
  for (MemberFact& fact : theirs.named.facts) AddCandidate(std::move(fact));
  GossipNews fresh;
  MergeNews(std::move(theirs.news), fresh);
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
      GiveWay(kGoesOn, by);
      return AgentId();
    case Meeting::kWeGiveWay:
      if (!decoder.Finish("answer").ok()) return Malformed(answer);
      return AgentId();
    case Meeting::kMerged:
      break;
  }
  MeetingSnapshot theirs = MeetingSnapshot::DecodeFrom(decoder);
  if (!TakeOpenEnd(decoder, "snapshot").ok()) return Malformed(answer);
  if (theirs.from == self_.id) return theirs.from;
  const std::shared_ptr<const View> before = view_;
  GossipNews fresh;
  MergeNews(std::move(theirs.news), fresh);
  if (declared_dead_) {
    GiveWay(entries_.at(self_.id).fact.cause, by);
    return AgentId();
  }
  for (MemberFact& fact : theirs.named.facts) AddCandidate(std::move(fact));
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
  return theirs.from;
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
  relays_.Refresh(*view_, [this](AgentId at, AgentId from) {
    return entries_.at(at).fact.Hears(from);
  });
}

}  // namespace dogged
