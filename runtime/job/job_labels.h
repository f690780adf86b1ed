// JobLabels: a job's labels at this agent: values and their waiters,
// watermarks, homes, high fan-out, and hand-overs between homes. Components of
// the run read it; each part names the component that changes it.
//
// A label is at this agent in one of these states:
//
//   unbound       no value here; agents may wait for it       shard, or nothing
//   bound         a value is held; at its home its consumers  shard
//                 are counted
//   spilled       bound, and its bytes are on disk only       shard (hollow)
//   retired       was dropped: its consumers were done        watermarks
//   recomputing   was retired or lost, and is needed again    watermarks
//
//   unbound -> bound (Replication, DiskRecovery); bound <-> spilled
//   (JobStorage); bound, spilled -> retired (Retention), or unbound (its home
//   is another, or the disk has lost it); retired, unbound -> recomputing
//   (Demands); recomputing -> bound.
#ifndef DOGGED_RUNTIME_JOB_JOB_LABELS_H_
#define DOGGED_RUNTIME_JOB_JOB_LABELS_H_

#include "kvstore/dictionary/shard.h"
#include "kvstore/dictionary/watermarks.h"
#include "runtime/job/handover.h"
#include "runtime/job/high_fanout.h"
#include "runtime/job/job_context.h"
#include "runtime/job/job_placement.h"

namespace dogged {

struct JobLabels {
  explicit JobLabels(const JobContext& job)
      : watermarks(job.labels_of_program, job.limits.generation_interval),
        places(job.self, job.options.replicas, job.relations, watermarks),
        high_fanout(job.relations) {}

  // None: it has to be demanded.
  Value ValueAtHand(const Label& label) {
    const LabelEntry* entry = shard.Find(label);
    return entry != nullptr && !entry->value.IsNone()
               ? entry->value
               : high_fanout.ValueOf(label);
  }

  // Ends the process, naming the label, unless each label's entry fits its
  // state. Cost: O(labels that are held or waited for).
  void CheckInvariants(const JobContext& job) const;

  Shard shard;  // bound by Replication and DiskRecovery, dropped by Retention
  Watermarks
      watermarks;       // raised where labels are bound, dropped or handed over
  JobPlacement places;  // set by ViewChange
  HighFanoutLabels high_fanout;  // kept by Retention
  Handover handover;  // awaited by ViewChange, settled as values arrive
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_JOB_LABELS_H_
