// SimNode: an incarnation of a simulated process: an agent and its ports, or
// what is left of them.
#ifndef DOGGED_RUNTIME_SIM_NODE_H_
#define DOGGED_RUNTIME_SIM_NODE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "routing/membership/contacts.h"
#include "runtime/agent/agent.h"
#include "runtime/job/carried_over.h"
#include "runtime/sim/background.h"
#include "runtime/sim/disk.h"
#include "runtime/sim/executor.h"
#include "runtime/sim/network.h"
#include "runtime/sim/shared_memory.h"
#include "runtime/sim/sickness.h"

namespace dogged {

struct SimNode {
  AgentId id;
  int place = 0;  // of the process: its incarnations share address and contacts
  std::shared_ptr<Contacts> contacts;
  std::set<std::string> named;  // contacts that it was told as it began
  // State of the incarnation before, to be adopted once the contacts have
  // settled.
  std::optional<CarriedOver> left;
  std::vector<std::pair<std::string, GossipRecord>> left_records;
  std::string host;
  std::unique_ptr<SimNetwork::Endpoint> transport;
  std::unique_ptr<SimExecutor> executor;
  std::unique_ptr<SimBackground> background;
  std::shared_ptr<SimDisk> disk;
  std::unique_ptr<SimEngine> engine;
  SimArena* arena = nullptr;         // null: none
  int64_t live_bytes = 0;            // of values
  std::unique_ptr<Agent> agent;      // null: dead
  std::shared_ptr<const View> view;  // as of its last pass
  bool crashed = false;
  bool paused = false;
  // What the system keeps for it meanwhile: connections that it is to answer.
  std::vector<std::function<void()>> waiting;
  bool woken = false;  // an event that runs it is in the queue
  bool leaving = false;
  absl::Time told_to_leave;
  bool foreign = false;  // of another numeric class than the job
  Sickness sickness = Sickness::kNone;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_NODE_H_
