// Multicast: one body from one agent to a set of agents, by any planner
// (planner.h). A machine: no threads, no clock, never blocks. Delivery is a
// hint: a destination may get the body twice or not at all; an agent that needs
// it asks again by other means.
//
// Every message carries its list of destinations, which a hop splits among its
// own next hops. Along the prefix table each hop shares one more digit with a
// destination than the one before, whatever its view, so there is no loop [MC
// Theorem 2]; by the other plans each hop is a destination, so the list gets
// shorter. Small bodies travel whole, in one message; larger ones as streams
// (stream.h), where only the offer carries the list.
// Differs: [MC] lets members deduce the group from the task (get_children);
// views may differ here, so the list travels, 8 bytes a destination
// (ADR-19).
#ifndef DOGGED_ROUTING_MULTICAST_MULTICAST_H_
#define DOGGED_ROUTING_MULTICAST_MULTICAST_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/membership/view.h"
#include "routing/multicast/two_tree_reassembler.h"
#include "routing/plans/planner.h"
#include "routing/plans/routing_table.h"
#include "routing/stream/stream.h"
#include "routing/transport/envelope.h"
#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"
#include "runtime/base/split_bytes.h"

namespace dogged {

// Traffic of one job's multicasts at this agent.
struct MulticastTraffic {
  int64_t publications = 0;  // started here
  int64_t messages = 0;      // sent: offers, segments, answers, all
  int64_t bytes = 0;         // of their bodies
};

class Multicast {
 public:
  // `plan` is for multicasts that start here; each message names its own.
  Multicast(AgentId self, MulticastPlan plan, const Limits& limits);

  // From now on messages go by `view`; the table follows it.
  void SetView(std::shared_ptr<const View> view);
  // See Streams::SetWants().
  void SetWants(Streams::Wants wants) { streams_.SetWants(std::move(wants)); }
  // See Streams::NoteRoundTrips().
  void NoteRoundTrips(absl::Duration least, absl::Duration usual) {
    streams_.NoteRoundTrips(least, usual);
  }

  // Sends `body` to all `targets`. Leaves out this agent and targets that are
  // not in the view, and counts the latter. With a `tag`, a destination that
  // has the body takes no bytes of it.
  //
  // Shape:   `targets` in any order; doubles are taken once.
  // Cost:    O(|targets| log |members|).
  void Start(absl::Span<const AgentId> targets, uint8_t kind, JobId job,
             const SplitBytes& body, Outbox& out, const Bytes& tag = {});

  static bool IsMine(uint8_t kind) {
    return kind >= static_cast<uint8_t>(RoutingKind::kMulticast) &&
           kind <= static_cast<uint8_t>(RoutingKind::kStreamPull);
  }
  // Takes a message of a kind that IsMine(): first leaves messages for next
  // hops in the outbox, then appends deliveries for this agent, once whole.
  void Receive(const Pass& pass, const Message& message,
               std::vector<Delivery>& deliveries);

  // Repairs streams, forgets those that have waited too long.
  void Tick(const Pass& pass);

  const RoutingTable& table() const { return table_; }
  MulticastPlan plan() const { return plan_; }
  const Streams& streams() const { return streams_; }
  const TwoTreeReassembler& two_trees() const { return two_trees_; }
  const std::map<JobId, MulticastTraffic>& traffic() const { return traffic_; }
  // Of a job that is over: its traffic counts no more.
  void ForgetJob(JobId job) { traffic_.erase(job); }
  // Malformed messages.
  int64_t refused_count() const { return refused_count_; }
  // Destinations that this agent's view does not have.
  int64_t unknown_count() const { return unknown_count_; }
  // Messages that fell back to direct sends because of the hop limit.
  int64_t hop_limit_count() const { return hop_limit_count_; }
  int64_t forwarded_count() const { return forwarded_count_; }

 private:
  struct Header;
  // Drops targets that are not known.
  std::vector<Branch> Split(MulticastPlan plan, int hops,
                            std::vector<AgentId> targets);
  void Order(MulticastPlan plan, int tree, std::vector<AgentId>& targets) const;
  // Starts a stream for each tree of the plan.
  void StartStreams(const Streams::Shipment& shipment, Outbox& out);
  void ForwardWhole(const Header& header, std::vector<AgentId> targets,
                    JobId job, const SplitBytes& body, Outbox& out);
  absl::Status ReceiveWhole(JobId job, const Bytes& message, Outbox& out,
                            std::vector<Delivery>& deliveries);
  void CountFrom(size_t first, const Outbox& out);

  AgentId self_;
  MulticastPlan plan_;
  Limits limits_;
  std::shared_ptr<const View> view_;
  int64_t host_count_ = 0;
  RoutingTable table_;
  Streams streams_;
  TwoTreeReassembler two_trees_;
  std::map<JobId, MulticastTraffic> traffic_;
  int64_t refused_count_ = 0;
  int64_t unknown_count_ = 0;
  int64_t hop_limit_count_ = 0;
  int64_t forwarded_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MULTICAST_MULTICAST_H_
