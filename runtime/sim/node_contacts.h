// NodeContacts: how processes of a simulated cluster find each other: as real
// ones do, by addresses that they were given or have heard of, over connections
// that the network cuts like all else.
#ifndef DOGGED_RUNTIME_SIM_NODE_CONTACTS_H_
#define DOGGED_RUNTIME_SIM_NODE_CONTACTS_H_

#include <optional>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/sim/node_table.h"
#include "runtime/sim/world.h"

namespace dogged {

class NodeContacts {
 public:
  // Both outlive this.
  NodeContacts(SimWorld& world, NodeTable& nodes)
      : world_(world), nodes_(nodes) {}

  // Contacts follow what the agent has heard of members.
  void NoteEvents(SimNode& node);
  // Keeps the contacts as a process does, see AgentLoop.
  void Keep(SimNode& node);

 private:
  void Dial(SimNode& node, const std::string& address);
  void EndDial(SimNode& node, AgentId caller, const std::string& address,
               const std::optional<std::string>& answer);

  SimWorld& world_;
  NodeTable& nodes_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_NODE_CONTACTS_H_
