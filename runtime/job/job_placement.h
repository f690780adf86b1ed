// JobPlacement: the agents that hold each label of a job and run each task, by
// this agent's view. Views differ for a moment; see docs/ARCHITECTURE.md,
// "Homes".
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_JOB_PLACEMENT_H_
#define DOGGED_RUNTIME_JOB_JOB_PLACEMENT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kvstore/dictionary/watermarks.h"
#include "kvstore/placement/placement.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/graph/relations.h"

namespace dogged {

class JobPlacement {
 public:
  // `relations` and `watermarks`, which know retained generations, outlive
  // this.
  JobPlacement(AgentId self, int replicas, const Relations& relations,
               const Watermarks& watermarks);

  // Returns the placement before.
  Placement SetView(PlacementView view);
  const Placement& placement() const { return placement_; }

  // `label` is of this job, as far as its array and number of indices go:
  // labels from outside are checked before anything reads them.
  bool IsKnown(const Label& label) const;
  uint64_t KeyOf(const Label& label) const;
  // None without members.
  AgentId HomeOf(const Label& label) const {
    return placement_.Home(KeyOf(label));
  }
  // That of its first output.
  AgentId HomeOf(const Task& task) const {
    return HomeOf(relations_.FirstCreated(task));
  }
  bool IsHome(const Label& label) const { return HomeOf(label) == self_; }
  bool IsMine(const Task& task) const { return HomeOf(task) == self_; }
  // The home of `label`, then the agents that are to have copies: one more for
  // retained generations.
  absl::Span<const AgentId> HoldersOf(const Label& label) const;
  // No other agent is to have or to read the outputs of `task`. Also false
  // where that would take long to find out.
  bool IsInternal(const Task& task) const;
  // The place of `agent` among the holders; -1: none.
  int RankOf(const Label& label, AgentId agent) const;

 private:
  const AgentId self_;
  const int replicas_;
  const Relations& relations_;
  const Watermarks& watermarks_;
  Placement placement_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_JOB_PLACEMENT_H_
