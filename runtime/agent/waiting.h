// What a JobRun waits for beside its tasks: results that clients want, and what
// other agents may find in their directories. Plain data.
#ifndef DOGGED_RUNTIME_AGENT_WAITING_H_
#define DOGGED_RUNTIME_AGENT_WAITING_H_

#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

struct Wishes {
  struct Wish {
    absl::Time next_ask;
    absl::Duration interval;
  };
  absl::btree_map<Label, Wish> wanted;
  std::vector<std::pair<Label, Value>> found;  // to be taken
};

struct Offers {
  bool is_reading = false;          // this agent's directory
  bool has_found = false;           // something was there
  absl::btree_set<AgentId> others;  // who may be reading theirs
  absl::Time end = absl::InfinitePast();
  absl::Time limit = absl::InfinitePast();  // of `end`
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_WAITING_H_
