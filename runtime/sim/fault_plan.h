// FaultPlan: the faults of a simulated cluster. Plain data.
#ifndef DOGGED_RUNTIME_SIM_FAULT_PLAN_H_
#define DOGGED_RUNTIME_SIM_FAULT_PLAN_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/sim/network.h"

namespace dogged {

// How many of each; times and agents are drawn from the seed.
struct FaultPlan {
  int crash = 0;      // an agent vanishes, for ever
  int pair = 0;       // two agents vanish at the same moment
  int restart = 0;    // vanishes and comes back as another incarnation
  int pause = 0;      // stands still for a while
  int join = 0;       // a new agent
  int leave = 0;      // hands over and goes
  int leavers = 0;    // two agents leave at the same moment
  int regrow = 0;     // one leaves, and its process starts again at once
  int exchange = 0;   // one leaves as another joins, and a third one vanishes
  int founders = 0;   // all of the beginning go, and as many come
  int partition = 0;  // two parts hear nothing of each other for a while
  int blackout = 0;   // all vanish, and come back as other incarnations
  int outage = 0;     // all vanish; some come back, and others than those
  int sick = 0;       // a new agent with a sickness, drawn
  // The same for up to ten minutes; most times are much shorter.
  int stop = 0;   // an agent stands still
  int split = 0;  // two parts
  int deaf = 0;   // an agent hears nothing, but is heard
  int mute = 0;   // an agent is not heard, but hears
  int link = 0;   // of two agents one does not hear the other, or both
  int large = 0;  // messages of more than 600 bytes are lost between two
  int slow = 0;   // messages between two take up to 300 ms
  NetworkFaults network;

  // Some may last for ten minutes.
  bool HasLongFaults() const {
    return stop + split + deaf + mute + link + large + slow > 0;
  }
  // "crash=2,drop=0.05". Errors: kInvalidArgument naming the word.
  static absl::StatusOr<FaultPlan> Parse(absl::string_view text);
  int count() const {
    return crash + pair + restart + pause + join + leave + partition +
           blackout + outage + leavers + regrow + exchange + founders + stop +
           split + deaf + mute + link + large + slow + sick;
  }
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_FAULT_PLAN_H_
