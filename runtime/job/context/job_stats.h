// JobStats: an agent's work for a job, in counts that add up over agents. Plain
// data.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_JOB_STATS_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_JOB_STATS_H_

#include <cstdint>

#include "kvstore/messages/label_stats.h"
#include "runtime/base/codec.h"

namespace dogged {

struct JobStats : LabelStats {
  int64_t tasks_executed = 0;
  // Executed tasks whose outputs were bound already when they completed.
  int64_t tasks_duplicated = 0;
  // Tasks of this agent's shards whose outputs became known as bound here.
  int64_t tasks_done = 0;
  int64_t results_bound = 0;  // result labels at this home
  // Result labels at home here now that have enough copies, and their bytes;
  // counted in order, up to the first without.
  int64_t results_durable = 0;
  int64_t results_durable_bytes = 0;
  int64_t reads_local = 0;   // inputs of executed tasks, made here
  int64_t reads_remote = 0;  // made by another agent
  int64_t bytes_read_local = 0;
  int64_t bytes_read_remote = 0;
  // Bytes of the job's inputs that came from other agents, and from clients,
  // and that tasks of this agent read.
  int64_t input_bytes_received = 0;
  int64_t input_bytes_supplied = 0;
  int64_t input_bytes_read = 0;
  double flops = 0;

  void Encode(Encoder& out) const;
  static JobStats Decode(Decoder& in);
  // Counts that came later: behind all else of a message, for they may be
  // missing (docs/WIRE.md).
  void EncodeLater(Encoder& out) const;
  void DecodeLater(Decoder& in);
  JobStats& operator+=(const JobStats& other);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_JOB_STATS_H_
