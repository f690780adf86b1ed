#include "runtime/job/job_placement.h"

#include <algorithm>
#include <utility>

#include "runtime/graph/affinity.h"

namespace dogged {
namespace {

constexpr int64_t kConsumersAsked = 16;

}  // namespace

JobPlacement::JobPlacement(AgentId self, int replicas,
                           const Relations& relations,
                           const Watermarks& watermarks)
    : self_(self),
      replicas_(replicas),
      relations_(relations),
      watermarks_(watermarks),
      // Retained generations have one copy more.
      placement_({}, replicas + 1) {}

Placement JobPlacement::SetView(PlacementView view) {
  return std::exchange(
      placement_,
      Placement(std::move(view.members), replicas_ + 1, std::move(view.salts)));
}

bool JobPlacement::IsKnown(const Label& label) const {
  const std::vector<Array>& arrays = relations_.program().arrays;
  return label.array < static_cast<int64_t>(arrays.size()) &&
         label.index.size() == arrays[static_cast<size_t>(label.array)].rank;
}

uint64_t JobPlacement::KeyOf(const Label& label) const {
  return AffinityKey(
      relations_.program().arrays[static_cast<size_t>(label.array)],
      label.index);
}

// All ranks are placed as if the label were a retained generation, so that
// being one adds a holder and moves none.
absl::Span<const AgentId> JobPlacement::HoldersOf(const Label& label) const {
  const absl::Span<const AgentId> ranks = placement_.Ranks(KeyOf(label));
  const int copies =
      replicas_ + (watermarks_.IsRetainedGeneration(label) ? 1 : 0);
  return ranks.subspan(0, static_cast<size_t>(copies));
}

bool JobPlacement::IsInternal(const Task& task) const {
  bool is_internal = true;
  relations_.ForEachCreated(task, [&](int, const Label& label) {
    is_internal =
        is_internal && HoldersOf(label).size() == 1 && IsHome(label) &&
        relations_.ConsumerCount(label) <= kConsumersAsked &&
        relations_.ForEachConsumer(
            label, [&](const Task& reader, int) { return IsMine(reader); });
  });
  return is_internal;
}

int JobPlacement::RankOf(const Label& label, AgentId agent) const {
  const absl::Span<const AgentId> holders = HoldersOf(label);
  const auto it = std::find(holders.begin(), holders.end(), agent);
  return it == holders.end() ? -1 : static_cast<int>(it - holders.begin());
}

}  // namespace dogged
