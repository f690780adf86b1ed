// Membership: who takes part, as far as this agent knows. A machine (see
// outbox.h). Nobody votes: everyone holds grow-only facts and merges what it
// hears; whoever heard the same facts has the same view.
//
//   agent:  alive < left < dead. A dead incarnation never comes back.
//   record: key -> (version, bytes); the larger (version, bytes) wins.
//
// A fact travels at once to everyone (to a few, in large views, who pass it
// on), and two random agents compare digests of all facts now and then, so any
// message may be lost: where they differ all is told of members, of records
// those that differ (reconcile.h). To join, absorb the Snapshot() of any
// member.
//
// Time is counted only while Tick is being called: an agent that was stopped
// for an hour suspects nobody when it goes on.
#ifndef DOGGED_ROUTING_MEMBERSHIP_H_
#define DOGGED_ROUTING_MEMBERSHIP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "routing/failure_detector.h"
#include "routing/gossip_codec.h"
#include "routing/outbox.h"
#include "routing/record_set.h"
#include "routing/view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/ids.h"
#include "runtime/base/random.h"

namespace dogged {

struct ReconcileMessage;

struct MembershipOptions {
  FailureDetectorTimes detector;
  // Comparing facts with a random member.
  absl::Duration gossip_interval = absl::Milliseconds(500);
  // A longer time between two ticks counts as this: the agent was stopped.
  absl::Duration tick_gap_max = absl::Milliseconds(600);
  // For so long a dead agent is still written to now and then, to tell it, and
  // can still be answered; then kForgotten.
  absl::Duration forget_after = absl::Minutes(2);
  // Views up to this size: news go to all. Larger: to `fanout` at random.
  int push_all_max = 64;
  int fanout = 4;
  // Of records that differ, and what it takes to find them, between two
  // gossips: whatever is doubled or made up, it stays below that.
  int64_t reconcile_bytes_max = 2 << 20;
};

struct MembershipEvent {
  enum class Kind {
    kJoined,        // the transport needs SetPeer now
    kLeft,          // on its own wish
    kDied,          // `cause` says how we know
    kForgotten,     // the transport may ForgetPeer
    kDeclaredDead,  // this agent itself: start again with a new ID
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

  // Messages of the kinds kGossip to kPingRequest, and kReconcile; others are
  // not for here.
  void Receive(absl::Time now, AgentId from, uint8_t kind, const Bytes& body,
               Outbox& out);
  void Tick(absl::Time now, Outbox& out);

  // `from` sent something, of whatever kind: it lives.
  void Heard(absl::Time now, AgentId from);
  // A life line broke: that incarnation is dead, and all are told.
  void PeerDied(absl::Time now, AgentId peer, absl::string_view cause,
                Outbox& out);
  // This agent takes leave. Flush the outbox before going.
  void Leave(absl::Time now, Outbox& out);

  // All facts. Who wants to join gives his to a member's Admit: so whoever asks
  // that member later knows of him. Then the member's go to his Absorb, which
  // tells all members of him. Errors: kInvalidArgument for malformed bytes.
  std::string Snapshot() const;
  absl::Status Admit(absl::Time now, absl::string_view snapshot);
  absl::Status Absorb(absl::Time now, absl::string_view snapshot, Outbox& out);

  // What this agent says of itself (statistics; keep it below a kilobyte).
  void SetBlob(Bytes blob);
  // The newest that was heard of `id`; empty if nothing was. What one who left
  // said last stays until it is forgotten.
  Bytes BlobOf(AgentId id) const;

  // Adds a record, or a newer version of one, and tells all. Older versions
  // change nothing. Keys are never removed.
  void PutRecord(absl::Time now, absl::string_view key, uint64_t version,
                 Bytes bytes, Outbox& out);
  // By key.
  const RecordSet::Map& records() const { return records_.records(); }

  // What happened since the last call, in order.
  std::vector<MembershipEvent> TakeEvents();
  // Live members, this agent included. Never null.
  std::shared_ptr<const View> view() const { return view_; }
  const Member& self() const { return self_; }
  bool declared_dead() const { return declared_dead_; }
  bool IsDead(AgentId id) const;
  bool IsSuspect(AgentId id) const { return detector_.IsSuspect(id); }

  // Malformed messages.
  int64_t refused_count() const { return refused_count_; }
  // A hash of all facts except blobs; equal after convergence.
  uint64_t StateDigest() const;
  // Records hashed for it so far: one for each that came or changed.
  int64_t hashed_count() const { return records_.hashed_count(); }

 private:
  // A fact and what only this agent keeps with it.
  struct Entry {
    MemberFact fact;
    bool known = false;  // `fact.member` is filled
    bool forgotten = false;
    absl::Time ended = absl::InfiniteFuture();  // awake time of its end
  };

  void Advance(absl::Time now);
  GossipNews AllFacts() const;
  GossipNews NewsOf(AgentId id) const;
  // Merges encoded news; what was new is added to `fresh`. False: malformed.
  bool Merge(Decoder& decoder, GossipNews& fresh);
  bool MergeFact(MemberFact fact);
  void End(AgentId id, MemberState state, absl::string_view cause, Outbox* out);
  void RefreshView();
  // Of members alone; StateDigest() is of records, too.
  uint64_t MembersDigest() const;

  void SendNews(AgentId to, const GossipNews& news, bool full,
                Outbox& out) const;
  void Spread(const GossipNews& news, AgentId except, Outbox& out);
  void SendPing(AgentId to, AgentId asked_by, Outbox& out) const;
  void SendNotice(AgentId to, Outbox& out) const;
  void ReceiveGossip(AgentId from, const Bytes& body, Outbox& out);
  void ReceivePing(AgentId from, const Bytes& body, Outbox& out);
  void ReceiveAck(AgentId from, const Bytes& body, Outbox& out);
  void ReceiveFromDead(AgentId from, uint8_t kind, const Bytes& body,
                       Outbox& out);
  void RunDetector(Outbox& out);
  void RunGossip(Outbox& out);
  AgentId RandomPeer();

  // --- membership_records.cc
  void MergeRecords(std::vector<std::pair<std::string, GossipRecord>> records,
                    GossipNews& fresh);
  void PutDigests(Encoder& encoder) const;
  void SendDigest(AgentId to, Outbox& out) const;
  // Says what could be missing there, or here.
  void SendReconcile(AgentId to, Outbox& out);
  void SendReconcile(AgentId to, const ReconcileMessage& message, Outbox& out);
  void ReceiveDigest(AgentId from, const Bytes& body, Outbox& out);
  void ReceiveReconcile(AgentId from, const Bytes& body, Outbox& out);

  Member self_;
  MembershipOptions options_;
  Rng rng_;
  FailureDetector detector_;
  absl::btree_map<AgentId, Entry> entries_;
  RecordSet records_;
  int64_t reconcile_bytes_ = 0;  // that may be sent until the next gossip
  std::shared_ptr<const View> view_;
  std::vector<MembershipEvent> events_;
  absl::Time last_now_ = absl::InfinitePast();
  absl::Time awake_ = absl::UnixEpoch();
  absl::Time next_gossip_ = absl::UnixEpoch();
  // It has just joined: others may not know it yet, nor it them.
  absl::Time newcomer_until_ = absl::UnixEpoch();
  bool blob_changed_ = false;
  bool declared_dead_ = false;
  bool leaving_ = false;
  mutable uint64_t members_digest_ = 0;  // 0: to be computed
  int64_t refused_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_H_
