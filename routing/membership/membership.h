// Membership: the agents that take part, as far as this agent knows. A machine
// (see outbox.h). There is no vote: every agent holds grow-only facts and
// merges the facts that it hears; agents that heard the same facts have the
// same view.
//
//   agent:  alive < left < dead. A dead incarnation never comes back.
//   record: key -> (version, bytes); the larger (version, bytes) wins.
//
// A fact travels at once to all agents (in large views to a few, which pass it
// on). Any message may be lost: two random agents compare digests of all facts
// now and then, and where these differ, exchange all facts of members and the
// records that differ (reconcile.h).
//
// Two agents meet over a connection of another kind: the first sends its
// Snapshot() and passes the answer, which Admit() of the second made, to its
// own Absorb(). Where neither side counts a live agent of the other one as
// dead, the two become one. Else the smaller side gives way: its agents end,
// one by one, to begin again as other incarnations. An agent that was only
// named in a meeting is a *candidate*: it is written to, and becomes a member
// once something came from it.
//
// Time is counted only while Tick is being called: an agent that was stopped
// for an hour suspects nobody when it goes on.
#ifndef DOGGED_ROUTING_MEMBERSHIP_MEMBERSHIP_H_
#define DOGGED_ROUTING_MEMBERSHIP_MEMBERSHIP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "routing/membership/candidates.h"
#include "routing/membership/failure_detector.h"
#include "routing/membership/gossip_codec.h"
#include "routing/membership/meeting.h"
#include "routing/membership/record_gossip.h"
#include "routing/membership/record_set.h"
#include "routing/membership/relays.h"
#include "routing/membership/view.h"
#include "routing/transport/envelope.h"
#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/ids.h"
#include "runtime/base/random.h"
#include "runtime/base/small_blocks.h"

namespace dogged {

struct MembershipOptions {
  FailureDetectorTimes detector;
  // Comparing facts with a random member.
  absl::Duration gossip_interval = absl::Milliseconds(500);
  // A longer time between two ticks counts as this: the agent was stopped.
  absl::Duration tick_gap_max = absl::Milliseconds(600);
  // For so long a dead agent is still written to now and then, to tell it, and
  // can still be answered; then kForgotten.
  absl::Duration forget_after = absl::Minutes(2);
  // A candidate that says nothing for so long is forgotten.
  absl::Duration candidate_time_max = absl::Seconds(10);
  // Views up to this size: news go to all. Larger: to `fanout` at random.
  int push_all_max = 64;
  int fanout = 4;
  // Limit of all bytes sent between two gossips to reconcile records, however
  // many messages are doubled or forged.
  int64_t reconcile_bytes_max = 2 << 20;
  // The agent was told of others, and takes whoever finds it first.
  bool looks_for_others = false;
  // Agents that former incarnations of this one have met (Contacts::kin()).
  std::vector<AgentId> kin;
};

struct MembershipEvent {
  enum class Kind {
    kNamed,         // a candidate: the transport needs SetPeer now
    kJoined,        // likewise
    kLeft,          // on its own wish
    kDied,          // `cause` says how we know
    kForgotten,     // the transport may ForgetPeer
    kDeclaredDead,  // this agent itself: start again with a new ID; `member`
                    // has the address of an agent to join, if one is known
    kRecord,        // `key` has a new version
  };
  Kind kind = Kind::kJoined;
  Member member;
  std::string cause;
  std::string key;
};

class Membership {
 public:
  Membership(Member self, const MembershipOptions& options, Rng rng);

  // Messages of the kinds kGossip to kPingRequest, and kReconcile; the caller
  // keeps other kinds.
  void Receive(const Pass& pass, AgentId from, uint8_t kind, const Bytes& body);
  void Tick(const Pass& pass);

  // A message came, of whatever kind: its sender lives. To be called before it
  // is received.
  void Heard(const Pass& pass, const Envelope& head);
  // A life line broke: that incarnation is dead, and all are told.
  void PeerDied(const Pass& pass, AgentId peer, absl::string_view cause);
  // This agent takes leave. Flush the outbox before going.
  void Leave(const Pass& pass);

  // All facts and candidates. An agent that wants to join gives its own to a
  // member's Admit, so agents that ask that member later know of it; the
  // answer goes to its Absorb, which tells all members of the newcomer.
  // `is_for_kin`: for an address that a member once had; another cluster's
  // agent that has it now refuses. Errors: kInvalidArgument for malformed
  // bytes; kFailedPrecondition if this
  //         agent has ended; kPermissionDenied if messages of the two are not
  //         protected alike, or for kin that this agent is not; kUnimplemented
  //         if not all agents would have a version of the wire in common.
  std::string Snapshot(bool is_for_kin = false) const;
  absl::StatusOr<std::string> Admit(absl::Time now, absl::string_view snapshot);
  // `by`: the control address at which the answer was given. Returns the agent
  // that gave it, none if one of the two gives way.
  absl::StatusOr<AgentId> Absorb(const Pass& pass, absl::string_view answer,
                                 absl::string_view by);

  // Statistics that this agent publishes of itself; at most a kilobyte.
  void SetGossipPayload(Bytes blob);
  // News of this agent go with the next Tick(), not with the next gossip.
  void HurryGossip() { next_gossip_ = absl::InfinitePast(); }
  // The newest payload heard of `id`; empty if there is none. The last payload
  // of an agent that left stays until the agent is forgotten.
  Bytes GossipPayloadOf(AgentId id) const;

  // Adds a record, or a newer version of one, and tells all. Older versions
  // change nothing. Keys are never removed.
  void PutRecord(const Pass& pass, absl::string_view key, uint64_t version,
                 Bytes bytes);
  std::vector<std::pair<std::string, GossipRecord>> AllRecords() const;
  // Several at once: they travel in one message, in this order.
  void PutRecords(const Pass& pass,
                  std::vector<std::pair<std::string, GossipRecord>> records);
  const RecordSet& records() const { return records_.set(); }

  // Events since the last call, in order.
  std::vector<MembershipEvent> TakeEvents();
  // Live members, this agent included. Never null.
  std::shared_ptr<const View> view() const { return view_; }
  const Member& self() const { return self_; }
  bool declared_dead() const { return declared_dead_; }
  bool IsDead(AgentId id) const;
  bool IsSuspect(AgentId id) const { return detector_.IsSuspect(id); }
  // See FailureDetector.
  std::optional<absl::Duration> RoundTrip(AgentId peer) const {
    return detector_.RoundTrip(peer);
  }
  absl::Duration RoundTripMax() const { return detector_.RoundTripMax(); }
  absl::Duration LeastRoundTripMax() const {
    return detector_.LeastRoundTripMax();
  }
  // By way of which agent messages to `to` go, since it does not hear this one
  // directly; none: directly. The first in rank of those that reach both.
  AgentId RelayTo(AgentId to) const { return relays_.RelayTo(to); }
  // Live agents from which nothing comes directly to `id`, as it says.
  std::vector<AgentId> UnheardBy(AgentId id) const;
  int64_t candidate_count() const { return candidates_.size(); }

  // Malformed messages.
  int64_t refused_count() const { return refused_count_; }
  // A hash of all facts except blobs; equal after convergence.
  uint64_t StateDigest() const;
  // Number of records hashed for StateDigest() so far: one for each that came
  // or changed.
  int64_t hashed_count() const { return records_.set().hashed_count(); }

 private:
  // Errors: kPermissionDenied if neither would understand the other's
  // messages.
  absl::Status CheckProtection(const Member& other) const;
  // Errors: kUnimplemented if no version of the wire is spoken by all agents of
  // both sides.
  absl::Status CheckWires(const GossipNews& theirs) const;
  // A fact and data that only this agent keeps with it.
  struct Entry {
    MemberFact fact;
    bool known = false;  // `fact.member` is filled
    bool forgotten = false;
    absl::Time ended = absl::InfiniteFuture();  // awake time of its end
  };

  void Advance(absl::Time now);
  GossipNews AllFacts() const;
  GossipNews NewsOf(AgentId id) const;
  // Merges encoded news; new facts are added to `fresh`. False: malformed.
  bool Merge(Decoder& decoder, GossipNews& fresh);
  void MergeNews(GossipNews news, GossipNews& fresh);
  bool MergeFact(MemberFact fact);
  void End(AgentId id, MemberState state, absl::string_view cause, Outbox* out);
  void RefreshView();
  // Digest of members alone; StateDigest() covers records, too.
  uint64_t MembersDigest() const;

  void SendNews(AgentId to, const GossipNews& news, bool full,
                Outbox& out) const;
  void Spread(const GossipNews& news, AgentId except, Outbox& out);
  // A ping or its answer to an agent that does not hear this one is as long as
  // a packet: of a link that carries only short ones nothing is heard, though
  // it has another connection now, and messages go on by way of relays.
  void PutFiller(AgentId to, Encoder& encoder) const;
  void SendPing(AgentId to, AgentId asked_by, Outbox& out) const;
  void SendNotice(AgentId to, Outbox& out) const;
  void ReceiveGossip(AgentId from, const Bytes& body, Outbox& out);
  void ReceivePing(AgentId from, const Bytes& body, Outbox& out);
  void ReceiveAck(AgentId from, const Bytes& body, Outbox& out);
  void ReceiveFromDead(AgentId from, uint8_t kind, const Bytes& body,
                       Outbox& out);
  void ReceiveDigest(AgentId from, const Bytes& body, Outbox& out);
  void ReceiveReconcile(AgentId from, const Bytes& body, Outbox& out);
  void MergeRecords(std::vector<std::pair<std::string, GossipRecord>> records,
                    GossipNews& fresh);
  void PutDigests(Encoder& encoder) const;
  void SendDigest(AgentId to, Outbox& out) const;
  void RunDetector(Outbox& out);
  void RunGossip(Outbox& out);
  AgentId RandomPeer();

  // --- meetings, candidates, links that are down
  // This agent gives way to the others, of which one is at `address`.
  void GiveWay(absl::string_view cause, absl::string_view address);
  std::string AddressOf(AgentId id) const;
  // A live agent here counts as dead there, or the other way round.
  bool Clashes(const GossipNews& theirs) const;
  // Which side gives way in a meeting, or that the two become one.
  Meeting Verdict(const MeetingSnapshot& theirs) const;
  absl::Status CheckKin(const MeetingSnapshot& theirs) const;
  void AddCandidate(MemberFact fact);
  void Promote(AgentId id, Outbox& out);
  // A process has one incarnation at a time: agents at the address of `id`,
  // which was heard just now, are dead, but for `id`.
  void EndPredecessors(AgentId id, Outbox& out);
  void TickCandidates(Outbox& out);
  void NoteUnheard();
  void RefreshRelays();

  Member self_;
  MembershipOptions options_;
  Rng rng_;
  FailureDetector detector_;  // says which members are silent
  RecordGossip records_;      // the facts that are no members
  Candidates candidates_;     // named, and not heard yet

  // Members; written as facts are merged, and by this agent's own news.
  SmallBlocks memory_;  // for what stays
  std::pmr::map<AgentId, Entry> entries_{&memory_};
  std::shared_ptr<const View> view_;     // of entries_
  mutable uint64_t members_digest_ = 0;  // of entries_; 0: to be computed
  Relays relays_;                        // of view_, and of who hears whom
  bool blob_changed_ = false;  // and is to be spread with the next gossip
  bool declared_dead_ = false;
  bool leaving_ = false;
  std::vector<MembershipEvent> events_;  // until TakeEvents()

  // Time; written by Advance(), and by Absorb().
  absl::Time last_now_ = absl::InfinitePast();
  absl::Time awake_ = absl::UnixEpoch();
  absl::Time next_gossip_ = absl::UnixEpoch();  // moved on by RunGossip()
  // Until then this agent has just joined: it and other agents may not know
  // each other yet.
  absl::Time newcomer_until_ = absl::UnixEpoch();
  int64_t refused_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_MEMBERSHIP_H_
