// Faults that tests of whole clusters share.
#ifndef DOGGED_TESTS_SIM_FAULTS_H_
#define DOGGED_TESTS_SIM_FAULTS_H_

#include "runtime/sim/cluster.h"

namespace dogged {

// Ten, and a network that loses, doubles, reorders and corrupts.
inline FaultPlan ManyFaults() {
  FaultPlan plan{.crash = 2,
                 .restart = 2,
                 .pause = 2,
                 .join = 2,
                 .leave = 1,
                 .partition = 1};
  plan.network = {
      .drop = 0.02, .duplicate = 0.02, .reorder = 0.02, .corrupt = 0.001};
  return plan;
}

}  // namespace dogged

#endif  // DOGGED_TESTS_SIM_FAULTS_H_
