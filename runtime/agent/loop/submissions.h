// Submissions: clients on their way from a job's submission to its end: they
// hear that it is safe once another agent has it, are asked for the chunks of
// its inputs that they alone have, and hear that it has ended once it would not
// begin again.
//
// Used by the thread that runs the loop.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_SUBMISSIONS_H_
#define DOGGED_RUNTIME_AGENT_LOOP_SUBMISSIONS_H_

#include <map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "routing/control/control_socket.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/bytes.h"

namespace dogged {

class Submissions {
 public:
  using Send = absl::FunctionRef<void(ConnectionId, ControlType, const Bytes&)>;

  explicit Submissions(Agent& agent) : agent_(agent) {}  // outlives this
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;

  // `client` sends a SubmitRequest. Errors: as SubmitRequest::Decode() and
  // Agent::Submit().
  absl::Status Take(absl::Time now, ConnectionId client,
                    absl::string_view body);
  // `client` sends a ChunkPart. After an error it is asked for no more. Errors:
  // as ChunkPart::Decode() and Agent::Supply(), but for a chunk that comes
  // after the job's end.
  absl::Status TakeChunk(ConnectionId client, absl::string_view body);
  // `client` sends a JobRecord in its new state. Errors: as
  // JobRecord::Decode().
  absl::Status Conclude(absl::Time now, ConnectionId client,
                        absl::string_view body);
  // Sends clients what is due: confirmations, and wishes for chunks.
  void SendDue(absl::Time now, Send send);
  // The connection of `client` has ended.
  void Forget(ConnectionId client);

 private:
  Agent& agent_;
  // Clients whose job is not with other agents yet.
  std::vector<std::pair<ConnectionId, JobId>> unconfirmed_;
  // Clients that have ended a job, which the disk does not know yet.
  struct Ending {
    ConnectionId client;
    JobRecord record;
    absl::Time limit;
  };
  std::vector<Ending> endings_;
  // Clients that have the inputs of a job.
  std::map<ConnectionId, JobId> suppliers_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_SUBMISSIONS_H_
