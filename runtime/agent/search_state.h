// What an agent that walks knows of its walks. Plain data.
#ifndef DOGGED_RUNTIME_AGENT_SEARCH_STATE_H_
#define DOGGED_RUNTIME_AGENT_SEARCH_STATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "runtime/base/label.h"
#include "runtime/graph/task.h"
#include "runtime/search/claims.h"
#include "runtime/search/walk.h"

namespace dogged {

struct SearchState {
  explicit SearchState(int64_t claims_max) : claims(claims_max) {}

  struct ActiveWalk {
    std::unique_ptr<Walk> walk;
    absl::Time heard;
  };
  std::vector<ActiveWalk> walks;
  struct Picked {
    Label wanted;  // the output for which it is to run
    absl::Time since;
    absl::Time asked;      // when its claim or its inputs were last asked for
    bool granted = false;  // by its home, or there was nobody to ask
    AgentId giver;         // its home, unless a walk found it
  };
  // Tasks that walks have found, or that others have given.
  absl::flat_hash_map<Task, Picked> picked;
  Claims claims;  // of tasks whose home is here
  absl::Time next_walk = absl::InfinitePast();
  absl::Duration walk_pause;
  // Result labels whose home is elsewhere.
  std::vector<Label> other_results;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_SEARCH_STATE_H_
