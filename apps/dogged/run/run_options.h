// Options of `dogged run`. Plain data.
#ifndef DOGGED_APPS_DOGGED_RUN_RUN_OPTIONS_H_
#define DOGGED_APPS_DOGGED_RUN_RUN_OPTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "apps/dogged/keys/key_choice.h"
#include "apps/dogged/run/program_options.h"

namespace dogged {

// When to kill or to let join: a share of the tasks, or seconds.
struct When {
  std::optional<double> share;  // 0 to 1
  double seconds = 0;
  std::string text;
};

struct RunOptions {
  // No agents: one, or as many as the cluster has.
  ProgramOptions program{.agents = 0};
  int replicas = 0;             // 0: 2, or 1 with one agent
  double redo_max_seconds = 0;  // 0: what costs least
  bool check = false;
  std::string cluster;      // meeting points; empty: start agents
  absl::Duration patience;  // with a cluster without agents
  // Agents of the cluster as they were last seen, answering ones first.
  std::vector<std::string> cluster_agents;
  KeyChoice key_choice;
  // As `key_choice` says; null: none. Own agents have the keys of a file that
  // somebody named.
  std::shared_ptr<Credentials> credentials;
  std::vector<When> kill_at;
  double kill_every_seconds = 0;  // 0: never
  std::vector<When> join_at;
  std::string multicast = "auto";
  std::string libraries = "jailed";  // here and of own agents
  bool search_only = false;
  uint64_t seed = 0;
  bool json = false;
  std::string output_to = "here";  // or "agents", which write the files
  // Bytes that the values of each own agent may take; 0: no bound.
  int64_t memory_bytes = 0;
};

// JobOptions::redo_max_ms for a bound of that many seconds; 0 for none.
inline int64_t RedoMaxMs(double seconds) {
  if (seconds <= 0) return 0;
  return std::max<int64_t>(1, std::llround(1000 * std::min(seconds, 1e9)));
}

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_RUN_OPTIONS_H_
