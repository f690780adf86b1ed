// PolledDeadlines: times by which connections have to have done something;
// PolledPatience: how long a client waits for an answer. Time counts only while
// it is looked at: of a process that was stopped, or whose computer slept,
// nobody could be answered in time, nor did it listen to answers.
#ifndef DOGGED_ROUTING_CONTROL_POLLED_DEADLINES_H_
#define DOGGED_ROUTING_CONTROL_POLLED_DEADLINES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"

namespace dogged {

class PolledDeadlines {
 public:
  // At most so much counts of the time between two looks.
  static constexpr absl::Duration kStepMax = absl::Seconds(1);

  // `id` is due when so much time has counted; a former deadline is void.
  void Set(uint64_t id, absl::Duration after) { due_[id] = counted_ + after; }
  void Clear(uint64_t id) { due_.erase(id); }
  // The ones that are due, which have no deadline any more.
  std::vector<uint64_t> TakeDue(absl::Time now);

 private:
  absl::Time looked_ = absl::InfiniteFuture();
  absl::Duration counted_;
  std::map<uint64_t, absl::Duration> due_;
};

class PolledPatience {
 public:
  // At most so much counts of the time between two looks.
  static constexpr absl::Duration kStepMax = absl::Milliseconds(500);

  PolledPatience(absl::Time now, absl::Duration left)
      : looked_(now), left_(left) {}
  // What is left of it.
  absl::Duration Left(absl::Time now);

 private:
  absl::Time looked_;
  absl::Duration left_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_POLLED_DEADLINES_H_
