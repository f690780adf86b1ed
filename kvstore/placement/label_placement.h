// LabelPlacement: which agents hold which label of a job, and the home of each
// reader, as this agent's view has it. Views differ for a moment; see
// docs/ARCHITECTURE.md, "Homes".
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_PLACEMENT_LABEL_PLACEMENT_H_
#define DOGGED_KVSTORE_PLACEMENT_LABEL_PLACEMENT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kvstore/dictionary/label_relations.h"
#include "kvstore/dictionary/watermarks.h"
#include "kvstore/placement/placement.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"

namespace dogged {

class LabelPlacement {
 public:
  // `relations` and `watermarks`, which know retained generations, outlive
  // this.
  LabelPlacement(AgentId self, int replicas, const LabelRelations& relations,
                 const Watermarks& watermarks);

  // Returns the placement before.
  Placement SetView(PlacementView view);
  const Placement& placement() const { return placement_; }

  // As LabelRelations has them.
  bool IsKnown(const Label& label) const { return relations_.IsKnown(label); }
  uint64_t KeyOf(const Label& label) const { return relations_.KeyOf(label); }
  // None without members.
  AgentId HomeOf(const Label& label) const {
    return placement_.Home(KeyOf(label));
  }
  // That of the first label that it makes.
  AgentId HomeOf(const Reader& reader) const {
    return HomeOf(relations_.FirstMade(reader));
  }
  bool IsHome(const Label& label) const { return HomeOf(label) == self_; }
  bool IsMine(const Reader& reader) const { return HomeOf(reader) == self_; }
  // The home of `label`, then the agents that are to have copies: one more for
  // retained generations.
  absl::Span<const AgentId> HoldersOf(const Label& label) const;
  // The place of `agent` among the holders; -1: none.
  int RankOf(const Label& label, AgentId agent) const;

 private:
  const AgentId self_;
  const int replicas_;
  const LabelRelations& relations_;
  const Watermarks& watermarks_;
  Placement placement_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_PLACEMENT_LABEL_PLACEMENT_H_
