// LabelLimits: times and bounds of what the dictionary does for one job. Plain
// data.
#ifndef DOGGED_KVSTORE_DICTIONARY_LABEL_LIMITS_H_
#define DOGGED_KVSTORE_DICTIONARY_LABEL_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "kvstore/replication/copy_queue.h"
#include "kvstore/replication/cut_schedule.h"

namespace dogged {

struct LabelLimits {
  absl::Duration sweep_interval = absl::Milliseconds(100);
  // A reader that has waited so long demands what it misses; longer where
  // readers are slow.
  absl::Duration demand_timeout_min = absl::Milliseconds(250);
  absl::Duration backoff_max = absl::Seconds(5);
  // Time that a new home waits, at most, for the former one to hand over.
  absl::Duration handover_max = absl::Seconds(1);
  // So long an agent that makes labels of another home may be silent.
  absl::Duration grant_silence_max = absl::Seconds(1);
  // Every so many versions of a row one is kept for rebuilding. The same at
  // all agents, or copies go astray.
  int64_t generation_interval = 16;
  CopyLimits copies;
  CutLimits cuts;
  // Where copies are bytes, values of so many get theirs in cuts, and are
  // dropped as soon as readers of this agent have used them up. Shorter values
  // cost messages, not bytes, and follow `copies`.
  int64_t cut_bytes_min = 1 << 10;
  // An agent for which so many bytes wait gets only announcements, and demands
  // the values that it needs.
  int64_t credit_bytes = 16 << 20;
  // Messages about labels to the same agents are batched into messages of so
  // many bytes, which need neither a packet of their own nor a stream.
  int64_t batch_bytes_max = 1000;
  // Longer messages with copies, or with values that move, are offered first.
  int64_t offer_bytes_min = 8 << 10;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_LABEL_LIMITS_H_
