#include "routing/model/prefix_multicast.h"

#include <cstdint>
#include <deque>
#include <tuple>
#include <utility>

#include "routing/plans/planner.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

AgentId IdOfProcessor(int processor) {
  return AgentId(static_cast<uint64_t>(processor) + 1);
}
int ProcessorOf(AgentId id) { return static_cast<int>(id.value()) - 1; }

// The network as the prefix planner sees it at one processor.
class NetworkScene : public PlanScene {
 public:
  NetworkScene(const SwitchNetwork& network, int self, EntryChoice choice,
               bool at_source)
      : network_(network),
        self_(self),
        choice_(choice),
        at_source_(at_source) {}
  AgentId self() const override { return IdOfProcessor(self_); }
  // The prefix planner asks for next hops alone.
  const TopologyId* IdOf(AgentId) const override { return nullptr; }
  bool at_source() const override { return at_source_; }

  AgentId NextHopTo(AgentId target) const override {
    // Down from where the ways from the root part.
    const std::vector<int> own = WayTo(network_.switch_of(self_));
    const std::vector<int> to = WayTo(network_.switch_of(ProcessorOf(target)));
    size_t level = 0;
    while (level < own.size() && level < to.size() && own[level] == to[level]) {
      ++level;
    }
    return level == to.size() ? target : EntryBelow(to[level]);
  }

 private:
  // The switches from the root to `at`.
  std::vector<int> WayTo(int at) const {
    std::vector<int> way;
    for (; at >= 0; at = network_.parent(at)) way.insert(way.begin(), at);
    return way;
  }

  AgentId EntryBelow(int top) const {
    std::vector<int> below = {top};
    for (size_t i = 0; i < below.size(); ++i) {
      const std::vector<int>& children = network_.children(below[i]);
      below.insert(below.end(), children.begin(), children.end());
    }
    const int each = network_.processor_count() / network_.switch_count();
    // Less is better.
    std::tuple<size_t, uint64_t, int> best{SIZE_MAX, UINT64_MAX, -1};
    for (int at : below) {
      const size_t far = choice_ == EntryChoice::kNearest
                             ? network_.Route(self_, at * each).size()
                             : 0;
      for (int processor = at * each; processor < (at + 1) * each;
           ++processor) {
        const uint64_t hash =
            Mix64(self().value(), IdOfProcessor(processor).value());
        best = std::min(best, {far, ~hash, processor});
      }
    }
    return IdOfProcessor(std::get<int>(best));
  }

  const SwitchNetwork& network_;
  int self_;
  EntryChoice choice_;
  bool at_source_;
};

}  // namespace

MulticastSchedule PrefixMulticast(const SwitchNetwork& network, int source,
                                  const std::vector<int>& destinations,
                                  EntryChoice choice) {
  MulticastSchedule out{source, destinations, {}};
  out.sends.resize(network.processor_count());
  std::vector<AgentId> all;
  for (int destination : destinations) {
    all.push_back(IdOfProcessor(destination));
  }
  std::deque<std::pair<int, std::vector<AgentId>>> open;
  open.emplace_back(source, std::move(all));
  while (!open.empty()) {
    const auto [at, targets] = std::move(open.front());
    open.pop_front();
    const NetworkScene scene(network, at, choice, at == source);
    for (Branch& branch :
         PlannerOf(MulticastPlan::kPrefix).Split(scene, targets)) {
      const int hop = ProcessorOf(branch.hop);
      out.sends[at].push_back(hop);
      std::erase(branch.targets, branch.hop);
      if (!branch.targets.empty()) {
        open.emplace_back(hop, std::move(branch.targets));
      }
    }
  }
  return out;
}

}  // namespace dogged
