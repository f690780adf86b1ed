// FailureDetector: finds peers that have been silent for too long. A machine
// over agents and times only; Membership turns its Wishes into messages.
//
// After SWIM (Das, Gupta & Motivala 2002): each interval one peer is probed, in
// a shuffled order; if it is silent, other peers are asked to probe it; if that
// fails it is suspected, probed on, and given up at the end of the suspicion.
// After Lifeguard (Dadgar, Phillips & Currey 2018): an agent that hears from
// nobody doubts itself first and gives everyone more time.
// Differs: suspicion is not spread; every agent judges for itself, and only the
// verdict is spread. Two kinds of silence are told apart: a peer that nobody
// hears is given up, a peer that others hear is only *unheard* here, so its
// link to this agent is down (and messages can go by way of others). An agent
// that hears none of several peers gives up itself instead of them.
//
// `awake` is time that this agent really ran: see Membership.
#ifndef DOGGED_ROUTING_MEMBERSHIP_FAILURE_DETECTOR_H_
#define DOGGED_ROUTING_MEMBERSHIP_FAILURE_DETECTOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/base/random.h"

namespace dogged {

struct FailureDetectorTimes {
  // Time from one probe to the next.
  absl::Duration probe_interval = absl::Milliseconds(300);
  // A peer that lives answers within this time.
  absl::Duration probe_timeout = absl::Milliseconds(700);
  // Time from suspicion to verdict.
  absl::Duration suspicion = absl::Seconds(3);
  // Number of peers that are asked to probe a silent one.
  int relay_count = 3;
  // A peer that is alive counts as unheard after so long without a direct
  // answer.
  absl::Duration unheard_after = absl::Milliseconds(1400);
};

class FailureDetector {
 public:
  // Actions that are due now.
  struct Wishes {
    std::vector<AgentId> pings;
    // Ask `first` to ping `second`.
    std::vector<std::pair<AgentId, AgentId>> relays;
    // Silent to the end; with the seconds of silence in words.
    std::vector<std::pair<AgentId, std::string>> verdicts;
    // No peer at all was heard, of several: how long, in words. Then there are
    // no verdicts.
    std::string isolation;
  };

  FailureDetector(const FailureDetectorTimes& times, Rng rng)
      : times_(times), rng_(rng) {}

  void Add(AgentId peer, absl::Time awake);
  void Remove(AgentId peer) { peers_.erase(peer); }
  // `peer` sent something that came directly.
  void Heard(AgentId peer, absl::Time awake);
  // `peer` answered a ping, directly.
  void Answered(AgentId peer, absl::Time awake);
  // `peer` lives: something of it came by way of another agent.
  void HeardOf(AgentId peer, absl::Time awake);

  Wishes Tick(absl::Time awake);
  // When Tick next has something to do.
  absl::Time next_tick() const { return next_probe_; }

  bool IsSuspect(AgentId peer) const;
  // Live peers from which nothing comes directly, in ascending order.
  std::vector<AgentId> Unheard(absl::Time awake) const;
  // The time that `peer` usually takes to answer a ping; none before its first
  // answer.
  std::optional<absl::Duration> RoundTrip(AgentId peer) const;
  // The longest of the times that peers usually take to answer a ping.
  absl::Duration RoundTripMax() const;
  // The same of the shortest that they ever took: without what waits in queues.
  absl::Duration LeastRoundTripMax() const;
  // 0: in good health; timeouts are multiplied by one more than this.
  int self_doubt() const { return self_doubt_; }

 private:
  struct Peer {
    absl::Time heard;
    // Infinite future: not in this stage.
    absl::Time probed = absl::InfiniteFuture();
    absl::Time relayed = absl::InfiniteFuture();
    absl::Time suspected = absl::InfiniteFuture();
    // The first ping since it was heard directly.
    absl::Time pinged = absl::InfiniteFuture();
    // The first one that it has not answered.
    absl::Time asked = absl::InfiniteFuture();
    absl::Duration round_trip;  // a moving mean
    absl::Duration least_round_trip = absl::InfiniteDuration();
  };

  void Judge(AgentId id, Peer& peer, absl::Time awake, Wishes& messages);
  void AskRelays(AgentId target, Wishes& messages);
  void Ping(AgentId id, Peer& peer, absl::Time awake, Wishes& messages) const;
  bool IsIsolated(absl::Time awake) const;
  AgentId NextInRound();

  FailureDetectorTimes times_;
  Rng rng_;
  std::map<AgentId, Peer> peers_;
  std::vector<AgentId> round_;  // still to be probed in this round
  absl::Time next_probe_ = absl::InfinitePast();
  absl::Time last_heard_ = absl::InfinitePast();
  int self_doubt_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_FAILURE_DETECTOR_H_
