#include "runtime/sim/unequal_labels.h"

#include <optional>

#include "runtime/agent/agent.h"
#include "runtime/job/job_run.h"

namespace dogged {

// A digest of its own: to ask a value for one has it computed, which agents do
// when they need it.
void UnequalLabels::NoteMade(const Completion& done) {
  if (!done.status.ok()) return;
  world_.relations.ForEachCreated(
      done.task, [&](int create, const Label& label) {
        made_[label].insert(Hash128(done.outputs[create].view()));
      });
}

// Both live and are members for each other, and no cut lies between them.
bool UnequalLabels::AreNear(const SimNode* contact, const SimNode& node) const {
  if (contact == nullptr || contact->agent == nullptr) return false;
  const auto sees = [this](const SimNode& one, const SimNode& other) {
    return one.agent->membership().view()->Contains(other.id) &&
           world_.network.Reaches(one.place, other.place, 0);
  };
  return contact == &node || (sees(*contact, node) && sees(node, *contact));
}

void UnequalLabels::Count(const SimNode* contact,
                          const std::map<Label, Digest>& results) {
  for (const auto& node : nodes_.all()) {
    if (node->agent == nullptr) continue;
    const JobRun* run = node->agent->FindRun(world_.job_id);
    world_.outcome.is_failing |= run != nullptr && !run->failure().ok();
  }
  for (const auto& [label, made] : made_) {
    if (made.size() < 2) continue;
    ++world_.outcome.unequal_labels;
    std::set<Digest> known;
    const auto result = results.find(label);
    if (result != results.end()) known.insert(result->second);
    for (const auto& node : nodes_.all()) {
      if (node->agent == nullptr || !AreNear(contact, *node)) continue;
      const JobRun* run = node->agent->FindRun(world_.job_id);
      if (run == nullptr) continue;
      const std::optional<Digest> digest = run->KnownDigest(label);
      if (digest.has_value()) known.insert(*digest);
    }
    if (known.size() > 1) ++world_.outcome.unequal_known;
  }
}

}  // namespace dogged
