#include "runtime/job/bulks.h"

namespace dogged {

bool Bulks::Add(absl::Span<const AgentId> targets, JobMessage kind,
                absl::string_view body) {
  const auto bytes_max = static_cast<size_t>(bytes_max_);
  if (!IsAboutLabels(kind) || body.size() > bytes_max / 2) return false;
  const auto [open, is_new] = open_.try_emplace(
      std::pair(kind, Targets(targets.begin(), targets.end())), bulks_.size());
  if (!is_new && bulks_[open->second].bodies.size() + body.size() > bytes_max) {
    open->second = bulks_.size();
  }
  if (open->second == bulks_.size()) {
    bulks_.push_back({.targets = open->first.second, .kind = kind});
  }
  bulks_[open->second].bodies.append(body.data(), body.size());
  return true;
}

std::vector<Bulks::Bulk> Bulks::TakeAll() {
  open_.clear();
  return std::exchange(bulks_, {});
}

}  // namespace dogged
