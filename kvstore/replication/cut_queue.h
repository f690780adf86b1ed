// CutQueue: labels that get their copies in cuts (cut_schedule.h). A label that
// is bound after a cut has begun waits for the next one; a label that is used
// up by then needs no copy, for its successors have theirs. A part of a cut
// would be worth nothing: what goes with it was of another moment.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_REPLICATION_CUT_QUEUE_H_
#define DOGGED_KVSTORE_REPLICATION_CUT_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "runtime/base/label.h"

namespace dogged {

class CutQueue {
 public:
  void Add(const Label& label) { labels_.push_back(label); }

  // Begins a cut: labels that `joins` says true of belong to it, all others
  // leave the queue. Only if IsCutting() is false.
  void Begin(absl::FunctionRef<bool(const Label&)> joins) {
    const auto kept =
        std::remove_if(labels_.begin(), labels_.end(),
                       [joins](const Label& label) { return !joins(label); });
    labels_.erase(kept, labels_.end());
    of_cut_left_ = std::ssize(labels_);
  }
  bool IsCutting() const { return of_cut_left_ > 0; }
  // The next label of the cut; none if there is none left.
  std::optional<Label> Take() {
    if (of_cut_left_ == 0) return std::nullopt;
    --of_cut_left_;
    std::optional<Label> label = std::move(labels_.front());
    labels_.pop_front();
    return label;
  }
  // All that waits, of a cut or not; empty from now on.
  std::deque<Label> TakeAll() {
    of_cut_left_ = 0;
    return std::exchange(labels_, {});
  }

  // Calls visit(label) for all labels that wait for the next cut.
  void ForEachWaiting(absl::FunctionRef<void(const Label&)> visit) const {
    std::for_each(labels_.begin() + of_cut_left_, labels_.end(), visit);
  }

  // Labels of the cut that are still to be taken, and those that wait for the
  // next one.
  int64_t cut_count() const { return of_cut_left_; }
  int64_t waiting_count() const { return std::ssize(labels_) - of_cut_left_; }

 private:
  std::deque<Label> labels_;  // those of the cut first
  int64_t of_cut_left_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_CUT_QUEUE_H_
