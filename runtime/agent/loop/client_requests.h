// ClientRequests: what clients ask of an agent by its control port, and the
// answers: jobs submitted and ended, results wanted and written, status.
//
// Used by the thread that runs the loop.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_CLIENT_REQUESTS_H_
#define DOGGED_RUNTIME_AGENT_LOOP_CLIENT_REQUESTS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "routing/control/control_socket.h"
#include "routing/membership/membership.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/loop/control.h"
#include "runtime/agent/loop/deliveries.h"
#include "runtime/agent/loop/departed_members.h"
#include "runtime/agent/loop/file_writes.h"
#include "runtime/agent/loop/submissions.h"

namespace dogged {

// Bytes: of this process now and at most, the limit of its values (0: no
// bound), and of this computer.
struct ProcessMemory {
  int64_t now = 0;
  int64_t peak = 0;
  int64_t limit = 0;
  int64_t host = 0;
};

class ClientRequests {
 public:
  // All outlive this. `is_waiting`: requests are put off until Begin().
  ClientRequests(Agent& agent, ControlPort& control, PartWriter& writer,
                 std::function<ProcessMemory()> memory, bool is_waiting);
  // Closes the connections: the next incarnation knows nothing of what was
  // asked for on them; clients say it again when a connection ends.
  ~ClientRequests();
  ClientRequests(const ClientRequests&) = delete;
  ClientRequests& operator=(const ClientRequests&) = delete;

  // Answers what was put off, in its order, and puts off nothing more.
  void Begin(absl::Time now);
  // Takes an event of a connection that no other part of the loop knows.
  void Take(absl::Time now, const ControlEvent& event);
  // Sends clients what is due: results, answers to writes, news of jobs.
  void SendDue(absl::Time now);
  absl::Time next_due() const { return deliveries_.next_due(); }
  // A member's end is for `status`.
  void AddEvent(const MembershipEvent& event) { departed_.Add(event); }

 private:
  void Answer(absl::Time now, const ControlEvent& event);
  // The error that the client is told; it hears of nothing else then.
  absl::Status Handle(absl::Time now, const ControlEvent& event);
  absl::Status HandleStatus(ConnectionId from, absl::string_view body);
  absl::Status HandleWant(absl::Time now, ConnectionId from,
                          absl::string_view body);
  absl::Status HandleWatch(absl::Time now, ConnectionId from,
                           absl::string_view body);
  absl::Status HandleWrite(absl::Time now, ConnectionId from,
                           absl::string_view body);
  absl::Status HandleHeldWanted(ConnectionId from, absl::string_view body);
  absl::Status HandleJobWanted(ConnectionId from, absl::string_view body);
  absl::Status HandleReturned(ConnectionId from, absl::string_view body);
  void Forget(ConnectionId client);
  void SendSubmissions(absl::Time now);
  void SendResults(absl::Time now);
  StatusReply Status(const StatusRequest& request) const;
  void Send(ConnectionId client, ControlType type, const Bytes& body);

  Agent& agent_;
  ControlPort& control_;
  const std::function<ProcessMemory()> memory_;
  bool is_waiting_;
  std::set<ConnectionId> clients_;     // that have asked for something
  std::vector<ControlEvent> put_off_;  // until Begin()
  Deliveries deliveries_;
  FileWrites file_writes_;
  Submissions submissions_;
  DepartedMembers departed_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_CLIENT_REQUESTS_H_
