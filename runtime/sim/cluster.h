// Cluster: many agents in one thread, one event queue, one seed. Runs a job
// under faults on production code and says whether the results are right.
#ifndef DOGGED_RUNTIME_SIM_CLUSTER_H_
#define DOGGED_RUNTIME_SIM_CLUSTER_H_

#include <string>

#include "absl/time/time.h"
#include "runtime/agent/job_tools.h"
#include "runtime/sim/clients.h"
#include "runtime/sim/faults.h"
#include "runtime/sim/incarnations.h"
#include "runtime/sim/node_contacts.h"
#include "runtime/sim/node_table.h"
#include "runtime/sim/options.h"
#include "runtime/sim/outcome.h"
#include "runtime/sim/unequal_labels.h"
#include "runtime/sim/world.h"

namespace dogged {

class Cluster {
 public:
  Cluster(const SimOptions& options, std::string encoded_job,
          KernelLoader load_kernels);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Runs until the client has all results, or the time is up. Once.
  SimOutcome Run();

 private:
  // As soon as all agents know one another.
  void SubmitToAll();
  // Faults and clients.
  void Begin();
  // Mends all, and waits for one view until then.
  void AwaitOneView(absl::Time limit);

  // Each uses those above it, and none below.
  SimWorld world_;
  NodeTable nodes_;
  NodeContacts contacts_;
  UnequalLabels unequal_;
  Incarnations lives_;
  SimClients clients_;
  SimFaults faults_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_CLUSTER_H_
