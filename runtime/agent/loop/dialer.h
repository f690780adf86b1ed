// Dialer: the connections on which an incarnation of an agent meets its
// contacts (contacts.h). Dials contacts that are due, introduces the agent,
// takes the answer, and ends connections that take too long.
//
// Used by the thread that runs the loop.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_DIALER_H_
#define DOGGED_RUNTIME_AGENT_LOOP_DIALER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "routing/control/control_socket.h"
#include "routing/membership/contacts.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/loop/dial_refusals.h"

namespace dogged {

class Dialer {
 public:
  // All outlive this. `refresh_contacts` is called in each pass, to put news of
  // addresses into `contacts`. `on_settled` is called when agents were met, or
  // when no contact answers for now; again, later, while it returns false.
  Dialer(Agent& agent, ControlPort& control, Contacts& contacts,
         std::function<void()> refresh_contacts,
         std::function<bool()> on_settled)
      : agent_(agent),
        control_(control),
        contacts_(contacts),
        refresh_contacts_(std::move(refresh_contacts)),
        on_settled_(std::move(on_settled)) {}
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  // True if on_settled() was called: it may have given the agent work.
  bool Tick(absl::Time now);
  absl::Time next_due() const;
  bool has_settled() const { return has_settled_; }
  // Takes an event of a connection of its own; false for others.
  bool Take(absl::Time now, const ControlEvent& event);

 private:
  void LogRefusal(absl::Time now, const std::string& address,
                  const std::string& words);

  struct Dial {
    std::string address;
    absl::Time deadline;
  };

  Agent& agent_;
  ControlPort& control_;
  Contacts& contacts_;
  const std::function<void()> refresh_contacts_;
  const std::function<bool()> on_settled_;
  std::map<ConnectionId, Dial> dials_;
  std::shared_ptr<const View> view_;  // as of the last Tick()
  bool has_settled_ = false;
  DialRefusals refusals_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_DIALER_H_
