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

void ViewChange::SetMembers(const Pass& pass, PlacementView view) {
  const Placement before = labels_.places.SetView(std::move(view));
  if (!job_.failure.ok()) return;
  const bool lost = std::any_of(
      before.members().begin(), before.members().end(), [this](const auto& m) {
        return !labels_.places.placement().Contains(m.agent);
      });
  if (lost) {
    job_.times.NoteLoss(pass.now);
    job_.rebuild_after = pass.now + job_.times.DemandTimeout(pass.now);
  }
  homes_.Review(pass, before);
  tasks_.DropMovedTasks();
  if (job_.forward) {
    tasks_.ClaimMovedTasks();
    grants_.SweepStealing(pass);
  }
  tasks_.claims().Forget([this](const Task& task, AgentId holder) {
    return !labels_.places.placement().Contains(holder) ||
           !labels_.places.IsMine(task);
  });
  AskAllAgain(pass.now);
  tasks_.DrawLeaves(/*anew=*/true);
  results_.ListResults();
}

void ViewChange::PeerStarted(const Pass& pass, AgentId peer) {
  if (labels_.places.placement().Contains(peer)) AskAllAgain(pass.now);
  homes_.PeerStarted(pass, peer);
}

// Homes have changed, or have heard nothing: demands so far tell nothing about
// how soon they answer.
void ViewChange::AskAllAgain(absl::Time now) {
  tasks_.demanded().CheckAllAt(now);
  results_.AskAllAgain(now);
  job_.next_sweep = now;
}

}  // namespace dogged
