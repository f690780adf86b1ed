// Introductions: how the connections of an agent's transport are admitted by
// other agents, and theirs by it (routing/transport/admission.h). A request
// goes by a connection of its own to the control port of the agent that it is
// for, where only members are heard.
//
// Used by the thread that runs the loop.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_INTRODUCTIONS_H_
#define DOGGED_RUNTIME_AGENT_LOOP_INTRODUCTIONS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "routing/control/control_socket.h"
#include "routing/transport/admission.h"
#include "runtime/agent/agent.h"
#include "runtime/base/bytes.h"

namespace dogged {

class Introductions {
 public:
  // All outlive this. `admission` is null where all connections are admitted.
  Introductions(const Agent& agent, ControlPort& control, Admission* admission)
      : agent_(agent), control_(control), admission_(admission) {}
  ~Introductions();
  Introductions(const Introductions&) = delete;
  Introductions& operator=(const Introductions&) = delete;

  // Brings requests of the transport on their way.
  void Tick(absl::Time now);
  absl::Time next_due() const;
  // Takes an event of a connection of its own, or a kAdmit frame, with which a
  // member asks that its transport's connection be admitted; false for others.
  bool Take(const ControlEvent& event);

 private:
  struct Introduction {
    AgentId to;
    Bytes words;
    absl::Time deadline;
  };

  // Errors: as Admission::Admit, and kFailedPrecondition where all connections
  // are admitted.
  absl::Status Admit(ConnectionId connection, absl::string_view words);

  const Agent& agent_;
  ControlPort& control_;
  Admission* const admission_;
  std::map<ConnectionId, Introduction> introductions_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_INTRODUCTIONS_H_
