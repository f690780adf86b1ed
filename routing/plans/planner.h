// Planners: which way a multicast takes. A planner splits the destinations
// that an agent was given among its next hops, and each hop splits its share
// again; all hops of one multicast use the planner that the source named. Pure
// functions of the agent's knowledge: the model (routing/model) runs the same.
#ifndef DOGGED_ROUTING_PLANS_PLANNER_H_
#define DOGGED_ROUTING_PLANS_PLANNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "routing/topology/topology_id.h"
#include "runtime/base/ids.h"

namespace dogged {

// Values are on the wire.
enum class MulticastPlan : uint8_t {
  kAuto = 0,      // the source chooses one of the others: ChoosePlan()
  kPrefix = 1,    // along the prefix table [MC]
  kFlat = 2,      // each destination from the source
  kBinomial = 3,  // halves of the list, the far one first
  kChain = 4,     // one after another
  kAgents = 5,    // an agent for each subtree [AG]
  kTwoTrees = 6,  // half of the body along each of two binary trees
  kKnomial = 7,   // fourths of the list, the far ones first
};
inline constexpr int kMulticastPlanCount = 8;

// "auto", "prefix", "flat", "binomial", "chain", "agents", "twotrees",
// "knomial"; kInvalidArgument naming them all otherwise.
absl::StatusOr<MulticastPlan> ParseMulticastPlan(absl::string_view text);
absl::string_view MulticastPlanName(MulticastPlan plan);
// All of them.
std::vector<std::string> MulticastPlanNames();

// Branch: a next hop with its share of the list. `targets` has the hop itself
// if it is a destination, and is never empty.
struct Branch {
  AgentId hop;
  std::vector<AgentId> targets;
};

// PlanScene: the facts that a planner may use.
class PlanScene {
 public:
  virtual ~PlanScene() = default;
  virtual AgentId self() const = 0;
  // Null for an agent that is not known here. Self is always known.
  virtual const TopologyId* IdOf(AgentId agent) const = 0;
  // By the prefix table; see NextHop() of routing_table.h.
  virtual AgentId NextHopTo(AgentId target) const = 0;
  // Whether the multicast starts here.
  virtual bool at_source() const = 0;
};

class Planner {
 public:
  virtual ~Planner() = default;

  // Among how many trees a large body is divided, each part a stream.
  virtual int tree_count() const { return 1; }

  // At the source, once for each tree: the order in which the list travels.
  // Here: nearest first, each subtree in one piece, and rotated by the source's
  // own digits, so that sources differ in the target that they start with.
  virtual void Order(const PlanScene& scene, int tree,
                     std::vector<AgentId>& targets) const;

  // Branches in the order in which they are to be sent. Each target is in
  // exactly one.
  //
  // Shape:   `targets` known to `scene`, distinct, without self.
  // Cost:    O(n log n) for n targets.
  virtual std::vector<Branch> Split(
      const PlanScene& scene, absl::Span<const AgentId> targets) const = 0;
};

// For all but kAuto.
const Planner& PlannerOf(MulticastPlan plan);

// The default, by the figures of docs/ROUTING.md: for a body of `bytes` to
// `targets` agents, `hosts` hosts in the view.
[[nodiscard]] MulticastPlan ChoosePlan(int64_t bytes, int64_t targets,
                                       int64_t hosts);

// The size of a segment for `plan`: where the time of one more segment is as
// long as the time that the last hop waits for its first one.
[[nodiscard]] int64_t SegmentBytesFor(MulticastPlan plan, int64_t bytes,
                                      int64_t targets, int64_t bytes_max);

}  // namespace dogged

#endif  // DOGGED_ROUTING_PLANS_PLANNER_H_
