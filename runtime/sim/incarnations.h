// Incarnations: the lives of agents in a simulated cluster: how each begins,
// has its turns, crashes or takes leave, and goes on as another one.
#ifndef DOGGED_RUNTIME_SIM_INCARNATIONS_H_
#define DOGGED_RUNTIME_SIM_INCARNATIONS_H_

#include <cstdint>
#include <memory>

#include "runtime/sim/disk.h"
#include "runtime/sim/node_contacts.h"
#include "runtime/sim/node_table.h"
#include "runtime/sim/sickness.h"
#include "runtime/sim/unequal_labels.h"
#include "runtime/sim/world.h"

namespace dogged {

class Incarnations {
 public:
  // All outlive this.
  Incarnations(SimWorld& world, NodeTable& nodes, NodeContacts& contacts,
               UnequalLabels& unequal)
      : world_(world), nodes_(nodes), contacts_(contacts), unequal_(unequal) {
    nodes_.OnTurn([this](SimNode& node) { Run(node); });
  }
  Incarnations(const Incarnations&) = delete;
  Incarnations& operator=(const Incarnations&) = delete;

  // A process that is told of some others; the first one is told of nobody.
  // `disk` may be null: then it gets an empty one, if it is to have one.
  SimNode& Add(std::shared_ptr<SimDisk> disk = nullptr,
               Sickness sickness = Sickness::kNone);
  Sickness SicknessOf(int agent) const;  // by its number
  Sickness DrawSickness();
  // The process is started again, at the same address; with its directory.
  void Restart(const SimNode& crashed);
  void Crash(SimNode& node);
  void Blackout();
  // All agents vanish once some directory has the job; of those whose directory
  // has it at least one comes back, of the others any, and some new ones come.
  void Outage();
  // Adds what its agent has counted to the outcome.
  void CollectStats(const SimNode& node);

 private:
  // As `predecessor` a process goes on with another incarnation, or begins anew
  // if that has crashed.
  SimNode& AddIncarnation(std::shared_ptr<SimDisk> disk,
                          const SimNode* predecessor, Sickness sickness);
  // Without its agent and ports.
  SimNode& AddProcess(const SimNode* predecessor);
  void Run(SimNode& node);
  void End(SimNode& node);
  // A node that was declared dead starts again as another incarnation.
  void Rebirth(SimNode& node);

  SimWorld& world_;
  NodeTable& nodes_;
  NodeContacts& contacts_;
  UnequalLabels& unequal_;
  int next_place_ = 0;
  int64_t unchecked_ = 0;  // turns since invariants were checked
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_INCARNATIONS_H_
