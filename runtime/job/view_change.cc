#include "runtime/job/view_change.h"

#include <algorithm>
#include <utility>

namespace dogged {

ViewChange::ViewChange(JobContext& job, LabelTable& labels, const Parts& parts)
    : job_(job),
      labels_(labels),
      homes_(parts.homes),
      tasks_(parts.tasks),
      results_(parts.results),
      grants_(parts.grants) {}

void ViewChange::SetMembers(absl::Time now, PlacementView view, Outbox& out) {
  const Placement before = labels_.places.SetView(std::move(view));
  if (!job_.failure.ok()) return;
  const bool lost = std::any_of(
      before.members().begin(), before.members().end(), [this](const auto& m) {
        return !labels_.places.placement().Contains(m.agent);
      });
  if (lost) {
    job_.times.NoteLoss(now);
    job_.rebuild_after = now + job_.times.DemandTimeout(now);
  }
  homes_.Review(now, before, out);
  tasks_.DropMovedTasks();
  if (job_.forward) {
    tasks_.ClaimMovedTasks();
    grants_.SweepStealing(now, out);
  }
  tasks_.claims().Forget([this](const Task& task, AgentId holder) {
    return !labels_.places.placement().Contains(holder) ||
           !labels_.places.IsMine(task);
  });
  AskAllAgain(now);
  tasks_.DrawLeaves(/*anew=*/true);
  results_.ListResults();
}

void ViewChange::PeerStarted(absl::Time now, AgentId peer, Outbox& out) {
  if (labels_.places.placement().Contains(peer)) AskAllAgain(now);
  homes_.PeerStarted(now, peer, out);
}

// Homes have changed, or have heard nothing: demands so far tell nothing about
// how soon they answer.
void ViewChange::AskAllAgain(absl::Time now) {
  tasks_.demanded().CheckAllAt(now);
  results_.AskAllAgain(now);
  job_.next_sweep = now;
}

}  // namespace dogged
