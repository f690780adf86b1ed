// JobLabels: what this agent holds and knows of a job's labels: values and who
// waits for them, watermarks, homes, labels of many consumers, and what is
// handed over between homes. Components of the run read it; each part says who
// changes it.
#ifndef DOGGED_RUNTIME_JOB_JOB_LABELS_H_
#define DOGGED_RUNTIME_JOB_JOB_LABELS_H_

#include "kvstore/shard.h"
#include "runtime/job/handover.h"
#include "runtime/job/job_context.h"
#include "runtime/job/job_places.h"
#include "runtime/job/marks.h"
#include "runtime/job/wide_labels.h"

namespace dogged {

struct JobLabels {
  explicit JobLabels(const JobContext& job)
      : marks(job.relations, job.limits.pin_interval),
        places(job.self, job.options.replicas, job.relations, marks),
        wide(job.relations) {}

  // None: it has to be demanded.
  Value ValueAtHand(const Label& label) {
    const Entry* entry = shard.Find(label);
    return entry != nullptr && !entry->value.IsNone() ? entry->value
                                                      : wide.ValueOf(label);
  }

  Shard shard;  // bound by Replication and DiskRecovery, dropped by Retention
  Marks marks;  // raised where labels are bound, dropped or handed over
  JobPlaces places;   // set by ViewChange
  WideLabels wide;    // kept by Retention
  Handover handover;  // awaited by ViewChange, settled as values arrive
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_JOB_LABELS_H_
