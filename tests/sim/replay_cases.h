// The runs of the replay: programs, options and faults. Kernels give the same
// bits on every processor: sums and products, no library of mathematics.
#ifndef DOGGED_TESTS_SIM_REPLAY_CASES_H_
#define DOGGED_TESTS_SIM_REPLAY_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/job.h"
#include "runtime/sim/cluster.h"

namespace dogged {

struct ReplayCase {
  std::string name;  // program/plan
  Job job;
  KernelLoader load;
  SimOptions options;
  int64_t seeds = 0;  // from 1 on
};

std::vector<ReplayCase> ReplayCases();

}  // namespace dogged

#endif  // DOGGED_TESTS_SIM_REPLAY_CASES_H_
