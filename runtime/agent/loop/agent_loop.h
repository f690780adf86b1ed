// AgentLoop: an agent in real life. Sleeps until the transport, the control
// port, a worker or a deadline wants something, then runs one pass of the
// agent; answers clients; keeps life lines to the peers that the view names.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_AGENT_LOOP_H_
#define DOGGED_RUNTIME_AGENT_LOOP_AGENT_LOOP_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "routing/control/control_socket.h"
#include "routing/control/poller.h"
#include "routing/membership/contacts.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/loop/client_requests.h"
#include "runtime/agent/loop/dialer.h"
#include "runtime/agent/loop/file_writes.h"
#include "runtime/agent/loop/introductions.h"
#include "runtime/agent/loop/life_lines.h"
#include "runtime/base/clock.h"
#include "runtime/exec/loop_turn.h"

namespace dogged {

class AgentLoop : private LoopTurn::Loop {
 public:
  struct Ports {
    Clock& clock;
    Transport& transport;
    ControlPort& control;
    Poller& poller;  // watches the transport's and the control port's fds
    LoopTurn& turn;  // of those that run this loop
    std::function<ProcessMemory()> memory;
    PartWriter& writer;  // of results into files; wakes the poller
    // Addresses to dial; outlive this object.
    Contacts& contacts;
    // Called in each pass, to put news of addresses into `contacts`.
    std::function<void()> refresh_contacts = [] {};
    // Called when agents were met, or no contact answers for now; again, later,
    // while it returns false.
    std::function<bool()> on_settled;
    // Of the transport; null where all connections are admitted.
    Admission* admission = nullptr;
    // The process had another incarnation before: what clients ask waits until
    // this one has met the others, from whom it hears of jobs.
    bool is_reborn = false;
  };
  enum class End {
    kLeft,          // by Leave()
    kDeclaredDead,  // start again as another incarnation
  };

  // `agent` outlives the loop.
  AgentLoop(Agent& agent, Ports ports);
  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;

  // Runs until the agent has left or was declared dead.
  End Run();
  // Why the agent was declared dead; none if it was not.
  const std::optional<std::string>& death() const { return death_; }
  // Hands over, then ends Run(). Callable from signal handlers. `why` for the
  // log, for ever there.
  void Leave(const char* why) {
    leave_ = why;
    ports_.poller.Wake();
  }
  // After Leave(): waits for nobody to hand over to. Callable likewise.
  void HurryLeave() {
    is_hurried_ = true;
    ports_.poller.Wake();
  }

 private:
  // Receives, works and answers, once.
  void RunPass();
  void PassForSleeper() override;
  void HandBack() override;
  void Keep() override;
  // Until there is reason for a pass of the loop's thread.
  void Sleep(std::unique_lock<std::mutex>& turn);
  void SetAsleep(bool is_asleep);
  // Time of work that no event wakes the loop for.
  absl::Time NextWake() const;
  // The loop's thread sleeps no longer than this.
  void SleepUntil(absl::Time limit);
  bool HasArrivals() const override { return ports_.transport.HasArrivals(); }
  int listen_fd() const override { return ports_.transport.listen_fd(); }
  // Asks that this thread, or a listening worker, be woken. False: call Pass
  // first.
  bool PrepareToSleep();
  // Polls for a message for a short while: true once it is there.
  bool LookOut();
  // Frames of or for clients may be waiting.
  bool IsControlDue(absl::Time now) const;
  void HandleControl(absl::Time now);
  // An agent asks to join; false for other events.
  bool TakeJoin(absl::Time now, const ControlEvent& event);
  void NoteEvents();

  Agent& agent_;
  Ports ports_;
  std::atomic<const char*> leave_{nullptr};  // not null: told to leave
  std::atomic<bool> is_hurried_{false};      // told again
  // The loop's thread is asleep: it waits for all messages but those of this
  // host.
  bool is_asleep_ = false;
  // Frames of clients came at the end of the last pass: another one is due.
  bool has_news_ = false;
  // Time until which the loop's thread sleeps, unless it is woken.
  absl::Time sleeps_until_ = absl::InfinitePast();
  // Time until which a worker polls for messages and does due work.
  absl::Time kept_until_ = absl::InfinitePast();
  // Time of the next look at clients, if nothing calls for an earlier one.
  absl::Time control_due_ = absl::InfinitePast();
  std::vector<ControlEvent> control_events_;
  Dialer dialer_;
  Introductions introductions_;
  LifeLines life_lines_;
  ClientRequests requests_;
  RefusalLog far_joins_;  // of agents that speak too far a version of the wire
  // Set once the agent has seen to it, and its contacts know whom to join.
  std::optional<std::string> death_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_AGENT_LOOP_H_
