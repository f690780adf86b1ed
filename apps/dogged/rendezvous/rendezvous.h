// Rendezvous: an agent's eyes on its meeting points, for as long as it lives. A
// thread for each point looks there again and again, with back-off and jitter,
// and keeps the agent's entry in it if that is a folder: freshens it, and
// clears entries of agents that don't answer. So whatever a resolver or a file
// server takes to answer, the loop does not wait for it.
//
// Rules of a folder:
// - Entries of live agents are freshened within ten seconds, and come back if
//   they were cleared.
// - An entry is cleared once nobody answered at its address four times in a
//   row, if a fresher one has its address, if it is none, or if it was not
//   freshened for an hour.
// - Entries of agents with other keys are never asked, nor cleared before that
//   hour is over: they are another cluster's, unless this agent has a
//   certificate.
//
// Used by one thread, beside its own.
#ifndef DOGGED_APPS_DOGGED_RENDEZVOUS_RENDEZVOUS_H_
#define DOGGED_APPS_DOGGED_RENDEZVOUS_RENDEZVOUS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "apps/dogged/rendezvous/meeting_point.h"
#include "runtime/base/ids.h"

namespace dogged {

class Rendezvous {
 public:
  // With a certificate agents with other keys are asked, too. `wake` is called
  // from any thread when there is news. `seed` is of the jitter.
  Rendezvous(std::vector<MeetingPoint> points, bool has_certificate,
             std::function<void()> wake, uint64_t seed);
  // Removes the agent's entries. Does not wait for ever: a thread that is stuck
  // is left behind.
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  // Errors: kResourceExhausted if the system gave no thread.
  const absl::Status& status() const { return status_; }

  bool is_empty() const { return watches_.empty(); }
  // This agent is another incarnation from now on, to be found at `address` by
  // agents that have one of `keys`. Points are looked at soon.
  void Enter(AgentId agent, const std::string& address,
             std::vector<std::string> keys);
  // Costs nothing if there is no news: addresses at all points, once each of
  // them has been looked at.
  std::optional<std::vector<std::string>> TakeNews();
  // Nobody answers at these.
  void NoteSilent(const std::vector<std::string>& addresses);

 private:
  class Watch;
  struct Shared;

  absl::Status status_;
  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Watch>> watches_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RENDEZVOUS_RENDEZVOUS_H_
