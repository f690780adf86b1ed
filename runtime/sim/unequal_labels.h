// UnequalLabels: labels of a simulated job that were made with several digests,
// and who knows of them. Only where options ask for it.
#ifndef DOGGED_RUNTIME_SIM_UNEQUAL_LABELS_H_
#define DOGGED_RUNTIME_SIM_UNEQUAL_LABELS_H_

#include <map>
#include <set>

#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/exec/executor.h"
#include "runtime/sim/node_table.h"
#include "runtime/sim/world.h"

namespace dogged {

class UnequalLabels {
 public:
  // Both outlive this.
  UnequalLabels(SimWorld& world, const NodeTable& nodes)
      : world_(world), nodes_(nodes) {}

  void NoteMade(const Completion& done);
  // Counts for the outcome: labels with several digests, and those of which a
  // client, which has `results`, its contact and the members near that one know
  // several.
  void Count(const SimNode* contact, const std::map<Label, Digest>& results);

 private:
  bool AreNear(const SimNode* contact, const SimNode& node) const;

  SimWorld& world_;
  const NodeTable& nodes_;
  std::map<Label, std::set<Digest>> made_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_UNEQUAL_LABELS_H_
