#include "kvstore/messages/message_batcher.h"

namespace dogged {

bool MessageBatcher::Add(absl::Span<const AgentId> targets, LabelMessage kind,
                         absl::string_view body) {
  const auto bytes_max = static_cast<size_t>(bytes_max_);
  if (!IsAboutLabels(kind) || body.size() > bytes_max / 2) return false;
  const auto [open, is_new] = open_.try_emplace(
      std::pair(kind, Targets(targets.begin(), targets.end())),
      batcher_.size());
  if (!is_new &&
      batcher_[open->second].bodies.size() + body.size() > bytes_max) {
    open->second = batcher_.size();
  }
  if (open->second == batcher_.size()) {
    batcher_.push_back({.targets = open->first.second, .kind = kind});
  }
  batcher_[open->second].bodies.append(body.data(), body.size());
  return true;
}

std::vector<MessageBatcher::Bulk> MessageBatcher::TakeAll() {
  open_.clear();
  return std::exchange(batcher_, {});
}

}  // namespace dogged
