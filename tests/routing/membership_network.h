// Membership machines on a network in memory that delays, loses, doubles and
// reorders from a seed, under a clock that we move.
#ifndef DOGGED_TESTS_ROUTING_MEMBERSHIP_NETWORK_H_
#define DOGGED_TESTS_ROUTING_MEMBERSHIP_NETWORK_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/membership/membership.h"
#include "routing/topology/site_topology.h"
#include "runtime/base/random.h"

namespace dogged {

inline Member MemberOf(uint64_t number) {
  Member member;
  member.id = AgentId(number * 1000 + 7);
  member.host = absl::StrCat("host", number % 3);
  member.topology_id =
      ExtendTopologyId(HashedHostId(member.host), {}, member.id);
  member.fabric_address = absl::StrCat("fabric", number);
  member.control_address = absl::StrCat("control", number);
  member.workers = 2;
  return member;
}

class Network {
 public:
  explicit Network(uint64_t seed) : rng_(seed) {}

  struct Node {
    std::unique_ptr<Membership> membership;
    absl::Time wake = absl::InfinitePast();
    bool running = true;
    std::map<MembershipEvent::Kind, int> events;
    std::vector<MembershipEvent> log;
  };

  AgentId Add(uint64_t number, const MembershipOptions& options = {},
              const WireRange& wire = {}) {
    Member member = MemberOf(number);
    member.wire = wire;
    nodes_[member.id].membership = std::make_unique<Membership>(
        member, options, Rng(member.id.value()).Stream("test"));
    return member.id;
  }
  // As processes do: the answer of `by` arrives later, at Absorb().
  std::string Ask(AgentId id, AgentId by) {
    const auto answer = of(by).Admit(now, of(id).Snapshot());
    EXPECT_TRUE(answer.ok()) << answer.status();
    Outbox none;
    Post(by, none);
    nodes_.at(by).wake = std::min(nodes_.at(by).wake, now);
    return answer.value_or("");
  }
  void Absorb(AgentId id, const std::string& answer) {
    Outbox out;
    ASSERT_TRUE(of(id).Absorb({now, out}, answer, "by").ok());
    Post(id, out);
  }
  void Join(AgentId id, AgentId by) { Absorb(id, Ask(id, by)); }
  Membership& of(AgentId id) { return *nodes_.at(id).membership; }
  Node& node(AgentId id) { return nodes_.at(id); }
  void Kill(AgentId id) { nodes_.erase(id); }

  void Post(AgentId from, Outbox& out) {
    for (Outbox::OutgoingMessage& wish : out.messages) {
      bytes[wish.kind] += wish.body.size();
      largest = std::max(largest, wish.body.size());
      const int copies = rng_.Chance(loss) ? 0 : rng_.Chance(doubling) ? 2 : 1;
      // As Packer does: pings and their answers go directly.
      const auto kind = static_cast<RoutingKind>(wish.kind);
      const bool is_relayed = relays && kind != RoutingKind::kPing &&
                              kind != RoutingKind::kPingAck &&
                              !of(from).RelayTo(wish.to).IsNone();
      for (int i = 0; i < copies; ++i) {
        const absl::Time at = now + absl::Microseconds(50 + rng_.Below(jitter));
        letters_.emplace(
            at, Letter{from, wish.to, wish.kind, is_relayed, wish.body.Join()});
      }
    }
    nodes_.at(from).wake = std::min(nodes_.at(from).wake, out.wake);
    for (MembershipEvent& event : of(from).TakeEvents()) {
      ++nodes_.at(from).events[event.kind];
      nodes_.at(from).log.push_back(event);
    }
  }

  void RunFor(absl::Duration span) {
    const absl::Time end = now + span;
    while (true) {
      absl::Time next = end;
      if (!letters_.empty()) next = std::min(next, letters_.begin()->first);
      for (auto& [id, node] : nodes_) {
        if (node.running) next = std::min(next, std::max(node.wake, now));
      }
      now = std::max(now, next);
      if (now >= end) return;
      Deliver();
      for (auto& [id, node] : nodes_) {
        if (!node.running || node.wake > now) continue;
        node.wake = absl::InfiniteFuture();
        Outbox out;
        node.membership->Tick({now, out});
        Post(id, out);
      }
    }
  }

  // All running agents have exactly the view of all running agents.
  std::string Disagreement() {
    std::vector<AgentId> ids;
    for (auto& [id, node] : nodes_) ids.push_back(id);
    for (auto& [id, node] : nodes_) {
      std::vector<AgentId> seen;
      for (const Member& member : node.membership->view()->members()) {
        seen.push_back(member.id);
      }
      if (seen != ids) {
        return absl::StrCat("agent ", id.ToString(), " sees ", seen.size(),
                            " of ", ids.size());
      }
    }
    return "";
  }

  absl::Time now = absl::UnixEpoch() + absl::Hours(5);
  double loss = 0;
  double doubling = 0;
  int64_t jitter = 100;  // microseconds
  std::set<std::pair<AgentId, AgentId>> cut;
  // Longer messages from one to the other are lost.
  std::map<std::pair<AgentId, AgentId>, int64_t> bytes_max;
  bool relays = false;               // messages go around links that are down
  std::map<uint8_t, int64_t> bytes;  // sent, by kind of message
  int64_t largest = 0;               // message

 private:
  struct Letter {
    AgentId from, to;
    uint8_t kind;
    bool is_relayed;
    Bytes body;
  };
  void Deliver() {
    while (!letters_.empty() && letters_.begin()->first <= now) {
      const Letter letter = letters_.begin()->second;
      letters_.erase(letters_.begin());
      auto it = nodes_.find(letter.to);
      if (it == nodes_.end() || (!letter.is_relayed && IsLost(letter))) {
        continue;
      }
      if (!it->second.running) {  // stopped: the system keeps it
        held_[letter.to].push_back(letter);
        continue;
      }
      Hand(letter);
    }
    for (auto& [id, held] : held_) {
      if (!nodes_.contains(id) || !nodes_.at(id).running) continue;
      for (const Letter& letter : std::exchange(held, {})) Hand(letter);
    }
  }
  bool IsLost(const Letter& letter) const {
    const std::pair<AgentId, AgentId> way = {letter.from, letter.to};
    const auto most = bytes_max.find(way);
    return cut.contains(way) ||
           (most != bytes_max.end() && letter.body.size() > most->second);
  }
  void Hand(const Letter& letter) {
    Outbox out;
    const uint8_t flags = letter.is_relayed ? Envelope::kRelayedFlag : 0;
    const Envelope head{
        .kind = letter.kind, .flags = flags, .source = letter.from};
    of(letter.to).Heard({now, out}, head);
    of(letter.to).Receive({now, out}, letter.from, letter.kind, letter.body);
    Post(letter.to, out);
  }

  Rng rng_;
  std::map<AgentId, Node> nodes_;
  std::multimap<absl::Time, Letter> letters_;
  std::map<AgentId, std::deque<Letter>> held_;
};

}  // namespace dogged

#endif  // DOGGED_TESTS_ROUTING_MEMBERSHIP_NETWORK_H_
