#include "kvstore/placement/label_placement.h"

#include <algorithm>
#include <utility>

namespace dogged {
LabelPlacement::LabelPlacement(AgentId self, int replicas,
                               const LabelRelations& relations,
                               const Watermarks& watermarks)
    : self_(self),
      replicas_(replicas),
      relations_(relations),
      watermarks_(watermarks),
      // Retained generations have one copy more.
      placement_({}, replicas + 1) {}

Placement LabelPlacement::SetView(PlacementView view) {
  return std::exchange(
      placement_,
      Placement(std::move(view.members), replicas_ + 1, std::move(view.salts)));
}

// All ranks are placed as if the label were a retained generation, so that
// being one adds a holder and moves none.
absl::Span<const AgentId> LabelPlacement::HoldersOf(const Label& label) const {
  const absl::Span<const AgentId> ranks = placement_.Ranks(KeyOf(label));
  const int copies =
      replicas_ + (watermarks_.IsRetainedGeneration(label) ? 1 : 0);
  return ranks.subspan(0, copies);
}

int LabelPlacement::RankOf(const Label& label, AgentId agent) const {
  const absl::Span<const AgentId> holders = HoldersOf(label);
  const auto it = std::find(holders.begin(), holders.end(), agent);
  return it == holders.end() ? -1 : static_cast<int>(it - holders.begin());
}

}  // namespace dogged
