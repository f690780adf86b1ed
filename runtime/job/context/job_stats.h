// JobStats: what an agent did for a job, in counts that add up over agents.
// Plain data.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_JOB_STATS_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_JOB_STATS_H_

#include <cstdint>

#include "kvstore/messages/label_stats.h"
#include "runtime/base/codec.h"

namespace dogged {

// What one agent did for a job so far.
struct JobStats : LabelStats {
  int64_t tasks_executed = 0;
  // Of those, tasks whose outputs were bound already when they completed.
  int64_t tasks_duplicated = 0;
  // Tasks of this agent's shards whose outputs became known as bound here.
  int64_t tasks_done = 0;
  int64_t results_bound = 0;  // result labels at this home
  // Of the result labels whose home is here now, those of which enough copies
  // exist, and their bytes; not more than that many in a row are looked at.
  int64_t results_durable = 0;
  int64_t results_durable_bytes = 0;
  int64_t reads_local = 0;   // inputs of executed tasks, made here
  int64_t reads_remote = 0;  // made by another agent
  int64_t bytes_read_local = 0;
  int64_t bytes_read_remote = 0;
  // Of the job's inputs: what came here from other agents, and from clients;
  // what tasks of this agent read, each by itself.
  int64_t input_bytes_received = 0;
  int64_t input_bytes_supplied = 0;
  int64_t input_bytes_read = 0;
  double flops = 0;

  void Encode(Encoder& out) const;
  static JobStats Decode(Decoder& in);
  JobStats& operator+=(const JobStats& other);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_JOB_STATS_H_
