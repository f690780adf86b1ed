// AgentLoop: an agent in real life. Sleeps until the transport, the control
// port, a worker or a deadline wants something, then runs one pass of the
// agent; answers clients; keeps life lines to the peers that the view names.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_AGENT_LOOP_H_
#define DOGGED_RUNTIME_AGENT_LOOP_AGENT_LOOP_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "routing/control/control_socket.h"
#include "routing/control/poller.h"
#include "routing/membership/contacts.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/loop/control.h"
#include "runtime/agent/loop/deliveries.h"
#include "runtime/agent/loop/dialer.h"
#include "runtime/base/clock.h"
#include "runtime/exec/loop_turn.h"

namespace dogged {

class AgentLoop : private LoopTurn::Loop {
 public:
  // Bytes: of this process now and at most, what its values may take (0: no
  // bound), and of this computer.
  struct Memory {
    int64_t now = 0;
    int64_t peak = 0;
    int64_t limit = 0;
    int64_t host = 0;
  };
  struct Ports {
    Clock& clock;
    Transport& transport;
    ControlPort& control;
    Poller& poller;  // watches the transport's and the control port's fds
    LoopTurn& turn;  // of those that run this loop
    std::function<Memory()> memory;
    // Whom to look for, beyond the life of this server.
    Contacts& contacts;
    // Others were met, or nobody answers for now. Called again, later, while
    // it returns false.
    std::function<bool()> on_settled;
  };
  enum class End {
    kLeft,          // by Leave()
    kDeclaredDead,  // the others think so: start again as another incarnation
  };

  // `agent` outlives the server.
  AgentLoop(Agent& agent, Ports ports);
  // Closes its life lines: what they say is no news of the next incarnation.
  ~AgentLoop() override;
  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;

  // Runs until the agent has left or was declared dead.
  End Run();
  // Why it was declared dead.
  const std::string& cause() const { return cause_; }
  // Hands over, then ends Run(). Callable from signal handlers.
  void Leave() {
    leave_ = true;
    ports_.poller.Wake();
  }

 private:
  struct LifeLine {
    AgentId peer;
    bool confirmed = false;  // the peer has said who it is
  };

  // Receives, works and answers, once.
  void Pass();
  void PassForSleeper() override;
  void HandBack() override;
  void Keep() override;
  // Until there is reason for a pass of the loop's thread.
  void Sleep(std::unique_lock<std::mutex>& turn);
  void SetAsleep(bool is_asleep);
  // When there is something to do that nobody wakes the loop for.
  absl::Time NextWake() const;
  // The loop's thread sleeps no longer than this.
  void SleepUntil(absl::Time limit);
  bool HasArrivals() const override { return ports_.transport.HasArrivals(); }
  int listen_fd() const override { return ports_.transport.listen_fd(); }
  // Asks to be woken, or that a worker who listens is. False: call Pass first.
  bool PrepareToSleep();
  // Looks for what may be close for a short while: true once it is there.
  bool LookOut();
  // Clients may have said something, or have something coming.
  bool IsControlDue(absl::Time now) const;
  void HandleControl(absl::Time now);
  void HandleFrame(absl::Time now, const ControlEvent& event);
  void HandleStatus(ConnectionId from, absl::string_view body);
  void HandleWant(absl::Time now, ConnectionId from, absl::string_view body);
  void HandleSubmit(absl::Time now, ConnectionId from, absl::string_view body);
  void HandleChunk(ConnectionId from, absl::string_view body);
  void HandleClosed(absl::Time now, const ControlEvent& event);
  // Asks clients for the inputs that they have.
  void AskSuppliers();
  // Says to clients that their jobs are with others, too.
  void ConfirmSubmits();
  void ForgetSupplier(ConnectionId client);
  void KeepLifeLines();
  void SendWanted(absl::Time now);
  void LogEvents();
  StatusReply Status(const StatusRequest& request) const;
  // In words: the members that `id` does not hear directly.
  std::string LinksDownOf(AgentId id) const;
  void SendError(ConnectionId connection, const absl::Status& status);

  Agent& agent_;
  Ports ports_;
  std::atomic<bool> leave_{false};
  // The loop's thread is: it sees to all that is not of this host.
  bool is_asleep_ = false;
  // Clients said something at the end of the last pass: there is another one
  // to make.
  bool has_news_ = false;
  // Until then the loop's thread sleeps, if nobody wakes it.
  absl::Time sleeps_until_ = absl::InfinitePast();
  // Until then a worker sees to messages and to what is due.
  absl::Time kept_until_ = absl::InfinitePast();
  // When the loop's thread looks at clients next, if nothing tells it earlier.
  absl::Time control_due_ = absl::InfinitePast();
  std::vector<ControlEvent> control_events_;
  absl::btree_map<ConnectionId, LifeLine> life_lines_;
  std::shared_ptr<const View> lined_view_;
  Dialer dialer_;
  std::string cause_;
  Deliveries deliveries_;
  // Who has submitted a job that is not with others yet.
  std::vector<std::pair<ConnectionId, JobId>> unconfirmed_;
  // Clients that have the inputs of a job.
  absl::btree_map<ConnectionId, JobId> suppliers_;
  std::deque<MemberStatus> departed_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_AGENT_LOOP_H_
