// Estimate of the time of a run in which each point is a task of its own, from
// the description alone, so that nobody has to find out by waiting.
#ifndef DOGGED_APPS_DOGGED_REPORT_POINT_COST_H_
#define DOGGED_APPS_DOGGED_REPORT_POINT_COST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "runtime/graph/program.h"

namespace dogged {

struct PointCost {
  absl::Duration in_one_process;
  absl::Duration on_agents;
};

// The time that tasks on single numbers take, with so many workers in one
// process; none if the program has other tasks, whose kernels decide.
std::optional<PointCost> PointCostOf(const Program& program, int workers);

// "about 9 s in one process, about 2 min on agents".
std::string PointCostText(const PointCost& cost);

// The time that so many of them take one by one, interpreted, as --check runs
// what is no stencil.
absl::Duration SerialTimeOf(int64_t tasks);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_POINT_COST_H_
