// Whether there is memory for a run, before it begins. A run that can't work is
// refused; where memory may be short there is a warning. Pure functions.
#ifndef DOGGED_APPS_DOGGED_REPORT_MEMORY_CHECK_H_
#define DOGGED_APPS_DOGGED_REPORT_MEMORY_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/compile.h"
#include "runtime/agent/loop/control.h"

namespace dogged {

// AgentsMemory: bytes that all agents together have for values.
struct AgentsMemory {
  int agents = 1;
  int hosts = 1;
  // Sum of the bounds of agents with --memory. Values beyond them go to disk.
  double bounded = 0;
  // Memory of the hosts of agents without --memory, and the share of the values
  // that these get.
  double unbounded = 0;
  double unbounded_share = 0;
};
// Memory of live agents, by their own words.
AgentsMemory MemoryOf(const std::vector<StatusReply>& replies);

struct RunMemory {
  dsl::Footprint footprint;
  double here = 0;  // memory of this computer, where the results come to
  int replicas = 1;
  // Null: the run needs no agents.
  const AgentsMemory* agents = nullptr;
  bool agents_are_here = false;  // on this computer, all of them
};

// A warning, or nothing. Errors: kResourceExhausted where the results and
// inputs have no memory, whatever goes to disk: with the numbers, and the way
// out.
absl::StatusOr<std::string> CheckMemory(const RunMemory& memory);

// "memory: results 40 kB, inputs 0 B, in use about 80 kB; ...".
std::string FootprintSentence(const dsl::Footprint& footprint);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_MEMORY_CHECK_H_
