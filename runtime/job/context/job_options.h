// Options of jobs, as the client gives them, and the times and bounds of the
// protocol. Plain data.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_JOB_OPTIONS_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_JOB_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "kvstore/dictionary/label_limits.h"
#include "runtime/base/codec.h"

namespace dogged {

// How a job is to be run. None of it decides bits.
struct JobOptions {
  static constexpr int kReplicasMax = 16;
  static constexpr int kTargetMax = 1024;  // agents, and workers of each
  int replicas = 2;                        // 1 to kReplicasMax
  // No notification and no owner-first order: only the backward search.
  bool search_only = false;
  // Searchers say at a task's home that they run it, and others pass it by.
  bool claims = true;
  // Agents that its tiles were cut for; 0 if not told. Part of the job already;
  // here for clients that come back and don't give it.
  int agents = 0;
  int workers = 0;  // of each
  // Tasks that some result needs, for `status`; 0 if not told. The client has
  // counted them, which takes a bit each; agents don't.
  int64_t tasks_needed = 0;
  // Milliseconds of an agent's work that may be lost with it, as far as links
  // carry copies as often; 0: as many as cost least on average.
  int64_t redo_max_ms = 0;
  // Milliseconds for which results stay after the end of the job, whoever has
  // fetched them; 0: until the client that submitted it has them.
  static constexpr int64_t kKeepMax = int64_t{1000} * 3600 * 24 * 30;
  int64_t keep_ms = 0;

  void EncodeTo(Encoder& encoder) const;
  // Malformed ones mark the decoder as failed.
  static JobOptions DecodeFrom(Decoder& decoder);
};

// Times and bounds of the protocol, for tasks and for labels; the simulation
// draws small ones. Tasks that have waited for demand_timeout_min demand what
// they miss. It is longer where tasks are slow, but for a while after a death:
// see TaskTimes::DemandTimeout(). A task that was given away comes back if its
// thief is silent for grant_silence_max.
struct JobLimits : LabelLimits {
  absl::Duration after_failure_timeout = absl::Seconds(1);
  // Demanded tasks that wait for inputs; beyond it the shallowest is dropped.
  int64_t demanded_tasks_max = 1 << 16;
  int64_t open_demands_max = 1 << 16;
  // Bytes that the live values of this process may take; 0: no bound. Beyond
  // half of it no leaf starts while anything runs; from three quarters on
  // values go to disk. Without an engine the job fails beyond all of it.
  int64_t memory_bytes_max = 0;
  // Tasks on the way down of one backward walk.
  int64_t walk_frames_max = 1 << 14;
  // A shorter task is not worth the messages of a grant.
  absl::Duration granted_task_min = absl::Microseconds(200);
  // Tasks of this home that others have said they run.
  int64_t claims_max = 1 << 16;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_JOB_OPTIONS_H_
