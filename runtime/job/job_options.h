// Options of jobs, as the client gives them, and the times and bounds of the
// protocol. Plain data.
#ifndef DOGGED_RUNTIME_JOB_JOB_OPTIONS_H_
#define DOGGED_RUNTIME_JOB_JOB_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "kvstore/replication/copy_queue.h"
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

  void EncodeTo(Encoder& encoder) const;
  // Malformed ones mark the decoder as failed.
  static JobOptions DecodeFrom(Decoder& decoder);
};

// Times and bounds of the protocol; the simulation draws small ones.
struct JobLimits {
  absl::Duration sweep_interval = absl::Milliseconds(100);
  // A task that has waited so long demands its missing inputs. It is longer
  // where tasks are slow, but for a while after a death: see
  // TaskTimes::DemandTimeout().
  absl::Duration demand_timeout_min = absl::Milliseconds(250);
  absl::Duration after_failure_timeout = absl::Seconds(1);
  absl::Duration backoff_max = absl::Seconds(5);
  // Time that a new home waits, at most, for the former one to hand over.
  absl::Duration handover_max = absl::Seconds(1);
  // Demanded tasks that wait for inputs; beyond it the shallowest is dropped.
  int64_t demanded_tasks_max = 1 << 16;
  int64_t open_demands_max = 1 << 16;
  // Bytes that the live values of this process may take; 0: no bound. Beyond
  // half of it no leaf starts while anything runs; from three quarters on
  // values go to disk. Without an engine the job fails beyond all of it.
  int64_t memory_bytes_max = 0;
  // Every so many versions of a row one is kept for rebuilding. The same at
  // all agents, or copies go astray.
  int64_t generation_interval = 16;
  CopyLimits copies;
  // An agent for which so many bytes wait gets only announcements, and demands
  // the values that it needs.
  int64_t credit_bytes = 16 << 20;
  // Messages about labels to the same agents are batched into messages of so
  // many bytes, which need neither a packet of their own nor a stream.
  int64_t batch_bytes_max = 1000;
  // Longer messages with copies, or with values that move, are offered first.
  int64_t offer_bytes_min = 8 << 10;
  // Tasks on the way down of one backward walk.
  int64_t walk_frames_max = 1 << 14;
  // A shorter task is not worth the messages of a grant.
  absl::Duration granted_task_min = absl::Microseconds(200);
  // A granted task comes back if its thief is silent for so long.
  absl::Duration grant_silence_max = absl::Seconds(1);
  // Tasks of this home that others have said they run.
  int64_t claims_max = 1 << 16;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_JOB_OPTIONS_H_
