#include "kvstore/replication/copy_queue.h"

#include <algorithm>

namespace dogged {
namespace {

// Time that the messages of a copy take at each of two agents, and the share of
// an agent's time that cuts may take.
constexpr absl::Duration kCopyTime = absl::Microseconds(4);
constexpr int64_t kCutsShare = 10;  // a tenth
// A broad graph has many labels in use at a time: cuts copy no more than one
// label in so many because of their number alone.
constexpr int64_t kLabelsPerCutCopy = 16;
// Some milliseconds: other work of the loop has its turn between.
constexpr int64_t kTakesAPass = 512;

}  // namespace

void CopyQueue::Add(absl::Time now, const Label& label) {
  labels_.emplace_back(now + limits_.delay, label);
  ++since_cut_;
}

bool CopyQueue::AreTooManyDue(absl::Time now) const {
  const auto most = static_cast<size_t>(limits_.labels_max);
  return labels_.size() > most && labels_[most].first <= now;
}

void CopyQueue::BeginPass(absl::Time now, bool is_busy, IsInUse is_in_use) {
  takes_left_ = kTakesAPass;
  due_left_ = 0;
  const bool is_new_period = now >= next_;
  if (is_new_period) {
    next_ = now + limits_.delay;
    bytes_left_ = limits_.bytes_max;
  }
  if (of_cut_left_ > 0 || labels_.empty()) return;
  const bool are_too_many = AreTooManyDue(now);
  if (since_cut_ >= cut_after_ ||
      (are_too_many && (!is_busy || now >= next_cut_))) {
    BeginCut(now, is_in_use);
  } else if (is_new_period && !are_too_many) {
    int64_t due = 0;
    while (due < std::ssize(labels_) && labels_[due].first <= now) {
      ++due;
    }
    due_left_ = Filter(due, is_in_use);
  }
}

void CopyQueue::BeginCut(absl::Time now, IsInUse is_in_use) {
  of_cut_left_ = Filter(std::ssize(labels_), is_in_use);
  since_cut_ = 0;
  cut_after_ = std::max(limits_.cut_labels, kLabelsPerCutCopy * of_cut_left_);
  next_cut_ = now + of_cut_left_ * kCutsShare * kCopyTime;
}

int64_t CopyQueue::Filter(int64_t count, IsInUse is_in_use) {
  const auto begin = labels_.begin();
  const auto kept = std::remove_if(
      begin, begin + count,
      [is_in_use](const auto& due) { return !is_in_use(due.second); });
  const int64_t left = kept - begin;
  labels_.erase(kept, begin + count);
  return left;
}

std::optional<Label> CopyQueue::Take() {
  int64_t& left = of_cut_left_ > 0 ? of_cut_left_ : due_left_;
  if (left == 0 || takes_left_ == 0 || bytes_left_ <= 0) return std::nullopt;
  --left;
  --takes_left_;
  const Label label = labels_.front().second;
  labels_.pop_front();
  return label;
}

absl::Time CopyQueue::NextPass() const {
  if (labels_.empty()) return absl::InfiniteFuture();
  const bool goes_on = of_cut_left_ > 0 && bytes_left_ > 0;
  return goes_on ? absl::InfinitePast() : next_;
}

}  // namespace dogged
