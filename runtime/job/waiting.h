// Waiting work beside tasks: requests for results, and reports. Plain data.
#ifndef DOGGED_RUNTIME_JOB_WAITING_H_
#define DOGGED_RUNTIME_JOB_WAITING_H_

#include <deque>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/task.h"

namespace dogged {

struct ResultRequests {
  // How long after it was asked for it is asked for again.
  absl::btree_map<Label, absl::Duration> wanted;
  // When which of them is asked for again; some are wanted no more.
  absl::btree_set<std::pair<absl::Time, Label>> asks;
  std::vector<std::pair<Label, Value>> found;  // to be taken
};

// That a task's outputs are durable, so that it needs this label no more.
struct DoneReports {
  std::deque<std::pair<Label, Task>> queue;
  bool is_busy = false;  // with the queue
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_WAITING_H_
