// LifeLines: connections to peers that the view names, kept open: the end of
// one is the end of that incarnation, known at once where an operating system
// lives to say so.
//
// Used by the thread that runs the loop.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_LIFE_LINES_H_
#define DOGGED_RUNTIME_AGENT_LOOP_LIFE_LINES_H_

#include <map>
#include <memory>

#include "absl/time/time.h"
#include "routing/control/control_socket.h"
#include "runtime/agent/agent.h"

namespace dogged {

class LifeLines {
 public:
  // Both outlive this.
  LifeLines(Agent& agent, ControlPort& control)
      : agent_(agent), control_(control) {}
  // Closes them: their ends are no news about the next incarnation.
  ~LifeLines();
  LifeLines(const LifeLines&) = delete;
  LifeLines& operator=(const LifeLines&) = delete;

  // Has lines to the neighbours in the present view, and no others.
  void Tick();
  // Takes an event of a line, or a kLifeLine frame with which a peer begins
  // one; false for others. A peer whose line tells its end is dead for the
  // agent.
  bool Take(absl::Time now, const ControlEvent& event);

 private:
  struct Line {
    AgentId peer;
    bool confirmed = false;  // the peer has named itself
  };
  using Lines = std::map<ConnectionId, Line>;

  // `line` may be the end: the peer has dialled.
  void TakeName(absl::Time now, const ControlEvent& event,
                Lines::iterator line);
  void TakeEnd(absl::Time now, Lines::iterator line);
  void SendName(ConnectionId to);

  Agent& agent_;
  ControlPort& control_;
  Lines lines_;
  std::shared_ptr<const View> view_;  // as of the last Tick()
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_LIFE_LINES_H_
