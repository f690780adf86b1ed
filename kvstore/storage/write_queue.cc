#include "kvstore/storage/write_queue.h"

#include <algorithm>
#include <cmath>

namespace dogged {
namespace {

// An engine shall work for between an eighth and half of the time, on average
// over some seconds.
constexpr absl::Duration kAverageTime = absl::Seconds(5);
constexpr double kShareMin = 0.125;
constexpr double kShareMax = 0.5;
constexpr int64_t kStrideMax = 64;
// A label left out is written once it is so many strides behind the newest
// version of its array; and the oldest, if too many are left out.
constexpr int64_t kStridesKept = 4;
constexpr int64_t kLeftOutMax = 1 << 18;

}  // namespace

WriteQueue::WriteQueue(const LabelRelations& relations)
    : relations_(relations),
      span_(relations.version_span()),
      newest_(relations.array_count(), INT64_MIN) {}

int64_t WriteQueue::VersionOf(const Label& label) const {
  return relations_.HasVersions(label) ? relations_.VersionOf(label) : -1;
}

void WriteQueue::Add(const Label& label, bool must_go) {
  const int64_t version = VersionOf(label);
  int64_t& newest = newest_[label.array];
  newest = std::max(newest, version);
  if (!must_go && version >= 0 && version % stride_ >= span_) {
    left_out_.push_back({label, stride_});
    return;
  }
  queue_.push_back(label);
  if (version < 0) return;
  const auto [first, is_first] =
      first_of_row_.emplace(relations_.RowOf(label), version);
  is_late_ |= !is_first && version - first->second >= std::max(stride_, span_);
}

std::optional<Label> WriteQueue::Take() {
  if (queue_.empty()) return std::nullopt;
  const Label label = queue_.front();
  queue_.pop_front();
  const auto first = first_of_row_.find(relations_.RowOf(label));
  if (first != first_of_row_.end() && first->second == VersionOf(label)) {
    first_of_row_.erase(first);
  }
  return label;
}

void WriteQueue::AddLeftOut() {
  for (const LeftOut& one : left_out_) queue_.push_back(one.label);
  left_out_.clear();
}

void WriteQueue::BeginPass(absl::Time now, absl::Duration busy) {
  while (!left_out_.empty()) {
    const auto& [label, stride] = left_out_.front();
    const int64_t newest = newest_[label.array];
    const bool is_near =
        newest - VersionOf(label) < kStridesKept * std::max(stride, stride_);
    if (is_near && std::ssize(left_out_) <= kLeftOutMax) break;
    queue_.push_back(label);
    left_out_.pop_front();
  }
  if (last_pass_ == absl::InfinitePast()) changed_ = now;
  if (now > last_pass_) {
    const double weight =
        std::exp(-absl::FDivDuration(now - last_pass_, kAverageTime));
    share_ =
        weight * share_ +
        (1 - weight) * absl::FDivDuration(busy - busy_then_, now - last_pass_);
    last_pass_ = now;
    busy_then_ = busy;
  }
  if (is_late_ || share_ > kShareMax) {
    SetStride(now, 2 * stride_);
  } else if (share_ < kShareMin && now - changed_ > kAverageTime) {
    SetStride(now, stride_ / 2);
  }
}

// Waiting labels are of the former stride, and are written all the same: labels
// behind a complete generation can be dropped.
void WriteQueue::SetStride(absl::Time now, int64_t stride) {
  if (stride > stride_) share_ /= 2;
  stride_ = std::clamp<int64_t>(stride, 1, kStrideMax);
  changed_ = now;
  is_late_ = false;
  first_of_row_.clear();
}

void WriteQueue::Clear() {
  queue_.clear();
  first_of_row_.clear();
  left_out_.clear();
}

}  // namespace dogged
