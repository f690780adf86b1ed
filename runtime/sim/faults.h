// SimFaults: the faults of a simulated cluster: their times, agents and
// durations.
#ifndef DOGGED_RUNTIME_SIM_FAULTS_H_
#define DOGGED_RUNTIME_SIM_FAULTS_H_

#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "runtime/sim/incarnations.h"
#include "runtime/sim/network.h"
#include "runtime/sim/node_table.h"
#include "runtime/sim/world.h"

namespace dogged {

class SimFaults {
 public:
  // All outlive this.
  SimFaults(SimWorld& world, NodeTable& nodes, Incarnations& lives)
      : world_(world), nodes_(nodes), lives_(lives) {}
  SimFaults(const SimFaults&) = delete;
  SimFaults& operator=(const SimFaults&) = delete;

  void ScheduleAll();

 private:
  void Schedule(int count, std::function<void()> fault);
  void ScheduleLong();
  void TellToLeave(SimNode& node);
  // `node`, which leaves, comes back with its directory as soon as it has gone.
  void RestartOnceGone(SimNode& node);
  void Pause(SimNode& node, absl::Duration time);
  absl::Duration LongTime();
  std::set<int> RandomHalf();
  // Two that live, by their places; none if there are not so many.
  std::optional<std::pair<int, int>> RandomPlaces();
  // `link` from one to the other, or both ways, for a long time.
  void Impair(int from, int to, SimNetwork::Link link, bool both);

  SimWorld& world_;
  NodeTable& nodes_;
  Incarnations& lives_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_FAULTS_H_
