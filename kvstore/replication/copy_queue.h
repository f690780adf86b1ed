// CopyQueue: orders the copies of an agent's labels in time. Most bound labels
// are used up soon and need no copies, for their successors have theirs; so a
// label waits a little. A copy costs some messages, which may take little of a
// loop's time: where too many labels live for long they all wait for the next
// *cut*, at which every label that is in use at that moment gets its copies.
// All labels before a cut can be dropped, and all labels after it can be made
// again from it; a part of a cut would be worth nothing. So cuts are whole,
// however many passes of the loop they take.
//
// A data structure: no messages; time is passed in. Used by one thread.
#ifndef DOGGED_KVSTORE_REPLICATION_COPY_QUEUE_H_
#define DOGGED_KVSTORE_REPLICATION_COPY_QUEUE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "runtime/base/label.h"

namespace dogged {

struct CopyLimits {
  // A bound label gets its copies so much later, unless it was used up by then;
  // and no more than so many bytes in that time, which bounds the cost of
  // growing back to R copies.
  absl::Duration delay = absl::Milliseconds(10);
  int64_t bytes_max = 16 << 20;
  // If more labels are due at a time, they wait for a cut.
  int64_t labels_max = 32;
  // The next cut comes so many labels after the last one.
  int64_t cut_labels = 4096;
};

class CopyQueue {
 public:
  using IsInUse = absl::FunctionRef<bool(const Label&)>;

  explicit CopyQueue(const CopyLimits& limits) : limits_(limits) {}

  void Add(absl::Time now, const Label& label);

  // A pass of the loop, in which Take() is called until there is none. A busy
  // agent makes cuts in a bounded share of its time, an idle one at once. A
  // label not in use when its time comes leaves the queue.
  void BeginPass(absl::Time now, bool is_busy, IsInUse is_in_use);
  // The next label whose copies are to be sent now; labels of a cut also if
  // they are not in use any more.
  std::optional<Label> Take();
  // Copies of the last label taken were sent, of `bytes` altogether.
  void NoteSent(int64_t bytes) { bytes_left_ -= bytes; }
  // The time at which Take() may return a label: infinitely late if none waits.
  absl::Time NextPass() const;

 private:
  bool AreTooManyDue(absl::Time now) const;
  void BeginCut(absl::Time now, IsInUse is_in_use);
  // Drops labels not in use from the first `count`. Returns the number left.
  int64_t Filter(int64_t count, IsInUse is_in_use);

  const CopyLimits limits_;
  // Waiting labels, with the times from which on they may be copied.
  std::deque<std::pair<absl::Time, Label>> labels_;
  absl::Time next_ = absl::InfinitePast();  // period of `delay`
  int64_t bytes_left_ = 0;                  // of the period
  int64_t takes_left_ = 0;                  // of the pass
  int64_t due_left_ = 0;                    // in front, to go without a cut
  int64_t of_cut_left_ = 0;  // in front, of the cut that is being made
  int64_t since_cut_ = 0;    // labels that came after the last one
  int64_t cut_after_ = 0;    // so many
  absl::Time next_cut_ = absl::InfinitePast();
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_COPY_QUEUE_H_
