// A network that delays, loses, doubles, reorders and parts. Everything is
// drawn from its own stream of the run's seed. Without `reorder` messages
// between two agents keep their order, as on a connection; with it they come in
// order of their delays, and some a long time later. Bytes under way from one
// agent to another may be bounded, as in a queue; then messages that a link
// does not take wait until it is mended, as on a connection that stalls.
//
// A link stands between two *places*; incarnations of one process share one.
#ifndef DOGGED_RUNTIME_SIM_NETWORK_H_
#define DOGGED_RUNTIME_SIM_NETWORK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "routing/transport/transport.h"
#include "runtime/base/random.h"
#include "runtime/sim/event_queue.h"
#include "runtime/sim/trace.h"

namespace dogged {

struct NetworkFaults {
  double drop = 0;       // probability of losing a message
  double duplicate = 0;  // of delivering it twice
  double reorder = 0;    // of holding it back for a while
  double corrupt = 0;    // of a changed byte
};

class SimNetwork {
 public:
  SimNetwork(EventQueue& queue, NetworkFaults faults, Rng rng,
             const SimTrace& trace = nullptr)
      : queue_(queue), faults_(faults), rng_(rng), trace_(trace) {}

  // An agent's end. `deliver` is called when something has arrived.
  class Endpoint : public Transport {
   public:
    Endpoint(SimNetwork& network, AgentId self, std::function<void()> wake,
             int place = 0);
    ~Endpoint() override;
    void Send(AgentId to, Bytes message) override;
    void Poll(std::vector<Arrival>& arrivals) override;
    void SetPeer(AgentId peer, absl::string_view fabric_address) override;
    void ForgetPeer(AgentId peer) override;
    std::string address() const override { return self_.ToString(); }
    int64_t queued_bytes(AgentId peer) const override;
    int64_t dropped_count() const override { return dropped_count_; }

   private:
    friend class SimNetwork;
    SimNetwork& network_;
    AgentId self_;
    int place_;
    std::function<void()> wake_;
    std::set<AgentId> peers_;
    std::vector<Arrival> arrivals_;
    int64_t dropped_count_ = 0;
  };

  // Link: faults of the way from one place to another.
  struct Link {
    // The first longer message stalls all after it, as on a connection, until
    // that is given up and the next message makes another one.
    int64_t bytes_max = INT64_MAX;
    absl::Duration delay;  // more than usual
  };
  // Messages between the two sides are lost until Heal().
  void Partition(std::set<int> one_side) { one_side_ = std::move(one_side); }
  void Heal() { one_side_.clear(); }
  void SetLink(int from, int to, Link link) { links_[{from, to}] = link; }
  void MendLink(int from, int to);
  void MendAll();
  // A message of so many bytes would arrive, but for chance.
  bool Reaches(int from, int to, int64_t bytes) const;
  // Bytes under way from one agent to another, at most; messages beyond are
  // lost.
  void SetQueueBytesMax(int64_t bytes) { queue_bytes_max_ = bytes; }

  int64_t sent_count() const { return sent_count_; }
  int64_t dropped_count() const { return dropped_count_; }
  // A hash of all deliveries in order: equal seeds give equal digests.
  uint64_t trace_digest() const { return trace_digest_; }

 private:
  void Transmit(AgentId from, AgentId to, Bytes message);
  void Deliver(AgentId from, AgentId to, const Bytes& message);
  void Note(SimEvent::Kind kind, AgentId from, AgentId to, const Bytes&) const;
  // The bytes that are under way; null without a bound.
  int64_t* QueueOf(AgentId from, AgentId to);
  // Bytes that stalled from one place to another are gone; -1: any place.
  void DropStalled(int from, int to);

  EventQueue& queue_;
  NetworkFaults faults_;
  Rng rng_;
  const SimTrace trace_;
  std::map<AgentId, Endpoint*> endpoints_;
  std::map<std::pair<AgentId, AgentId>, absl::Time> last_due_;
  std::set<int> one_side_;
  std::map<std::pair<int, int>, Link> links_;
  std::map<AgentId, int> places_;  // of all that ever were
  int64_t queue_bytes_max_ = 0;    // 0: no bound
  std::map<std::pair<AgentId, AgentId>, int64_t> queued_;
  struct Stall {
    int64_t bytes = 0;
    absl::Time since;
  };
  std::map<std::pair<AgentId, AgentId>, Stall> stalled_;
  int64_t sent_count_ = 0;
  int64_t dropped_count_ = 0;
  uint64_t trace_digest_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_NETWORK_H_
