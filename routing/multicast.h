// Multicast: one body from one agent to a set of agents along the prefix
// table of [MC]. A machine: no threads, no clock, never blocks. Delivery is a
// hint: a destination may get the body twice or not at all; whoever needs it
// asks again by other means.
//
// Every message carries its list of destinations, which a hop splits by next
// hop. Since each hop shares one more digit with a destination than the one
// before, whatever its view, there is no loop [MC Theorem 2].
// Differs: [MC] lets members deduce the group from the task (get_children);
// views may differ here, so the list travels, 8 bytes a destination.
#ifndef DOGGED_ROUTING_MULTICAST_H_
#define DOGGED_ROUTING_MULTICAST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/outbox.h"
#include "routing/routing_table.h"
#include "routing/segmenter.h"
#include "routing/view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"

namespace dogged {

// How destinations are reached: along the prefix table, or one by one.
enum class MulticastPlan { kPrefix, kFlat };

// "prefix" or "flat"; kInvalidArgument naming both otherwise.
absl::StatusOr<MulticastPlan> ParseMulticastPlan(absl::string_view text);

// A body that reached this agent.
struct Delivery {
  AgentId origin;  // where it started, not the last hop
  uint8_t kind = 0;
  JobId job;
  Bytes body;
};

class Multicast {
 public:
  Multicast(AgentId self, MulticastPlan plan, const Limits& limits);

  // From now on messages go by `view`; the table is rebuilt if it changed.
  void SetView(std::shared_ptr<const View> view);

  // Sends `body` to all `targets`: one message (or one per segment, so that
  // relays send segment i while i+1 arrives) per next hop. This agent among
  // the targets, and those that are not in the view, are left out and counted.
  //
  // Shape:   `targets` in any order; doubles are taken once.
  // Cost:    O(|targets| log |members|).
  void Start(absl::Span<const AgentId> targets, uint8_t kind, JobId job,
             const Bytes& body, Outbox& out);

  // Takes a message of RoutingKind::kMulticast: first leaves in `out` what is
  // for others, then appends what is for this agent, once whole.
  void Receive(absl::Time now, JobId job, const Bytes& message, Outbox& out,
               std::vector<Delivery>& deliveries);

  // Drops incomplete bodies that have waited too long.
  void Tick(absl::Time now) { reassembler_.Expire(now); }

  const RoutingTable& table() const { return table_; }
  MulticastPlan plan() const { return plan_; }
  // Malformed messages.
  int64_t refused_count() const { return refused_count_; }
  // Destinations that this agent's view does not have.
  int64_t unknown_count() const { return unknown_count_; }
  // Messages that fell back to direct sends because of the hop limit.
  int64_t hop_limit_count() const { return hop_limit_count_; }
  int64_t forwarded_count() const { return forwarded_count_; }

 private:
  struct Header;
  void Forward(const Header& header, std::vector<AgentId> targets, JobId job,
               absl::string_view segment, Outbox& out);

  AgentId self_;
  MulticastPlan plan_;
  Limits limits_;
  std::shared_ptr<const View> view_;
  RoutingTable table_;
  Reassembler reassembler_;
  uint64_t next_message_id_ = 1;
  int64_t refused_count_ = 0;
  int64_t unknown_count_ = 0;
  int64_t hop_limit_count_ = 0;
  int64_t forwarded_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MULTICAST_H_
