// SimClients: the clients of a simulated cluster: each submits the job, and
// waits for its end.
#ifndef DOGGED_RUNTIME_SIM_CLIENTS_H_
#define DOGGED_RUNTIME_SIM_CLIENTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/graph/rounds.h"
#include "runtime/sim/incarnations.h"
#include "runtime/sim/node_table.h"
#include "runtime/sim/world.h"

namespace dogged {

struct SimClient {
  SubmissionId submission;
  Rounds rounds;                  // as far as it knows
  SimNode* contact = nullptr;     // agent that it talks to
  std::map<Label, bool> missing;  // asked for, or not
  std::map<Label, Digest> results;
  absl::Duration stands;  // that long after the first one is done
  absl::Time reads_from = absl::InfinitePast();
  bool is_done = false;
  // A client that has got nothing for a while of a job that is done asks
  // another agent.
  size_t missing_before = 0;
  absl::Time progressed = absl::InfinitePast();
};

class SimClients {
 public:
  // There is a client, which has submitted the job, or will. Both outlive this.
  SimClients(SimWorld& world, NodeTable& nodes, Incarnations& lives);
  SimClients(const SimClients&) = delete;
  SimClients& operator=(const SimClients&) = delete;

  // From now on they read, until all is there and the run is over; the second
  // one, if there is to be one, comes now.
  void Begin();
  const SimClient& first() const { return clients_.front(); }
  std::string WhatIsMissing() const;

 private:
  void AddSecondClient();
  void PollClients();
  bool PollClient(SimClient& client);
  bool IsStuck(SimClient& client);
  // An agent says that results are lost for good: the run is over.
  bool HearsOfLoss();
  // Tells `node` whether a client that it talks to supplies inputs.
  void SetSupplier(SimNode& node, bool is_there);
  void SupplyInputs();
  // Lists the results that a client misses, once the end of a loop is known.
  static void ListResults(SimClient& client);
  void SayDelivered(const SimClient& client);
  // Without clients: until every agent knows that the job is done.
  void AwaitDone();
  // Replaces the first agents from that one on; then clients read.
  void ReplaceFrom(int founder);

  SimWorld& world_;
  NodeTable& nodes_;
  Incarnations& lives_;
  std::vector<SimClient> clients_;
  bool asks_later_ = false;  // long after the end; submits nothing
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_CLIENTS_H_
