// LabelTable: what this agent holds and knows of a job's labels: values and the
// agents that wait for them, watermarks, homes, labels of many readers, and
// what is handed over between homes. Components of the dictionary and of the
// job's run read it; each part says which of them change it.
//
// A label is at this agent in one of these states:
//
//   unbound       no value here; agents may wait for it       shard, or nothing
//   bound         a value is held; at its home its consumers  shard
//                 are counted
//   spilled       bound, and its bytes are on disk only       shard
//   retired       was dropped: its consumers were done        watermarks
//   recomputing   was retired or lost, and is needed again    watermarks
//
//   unbound -> bound (Replication, DiskRecovery); bound <-> spilled
//   (JobStorage); bound, spilled -> retired (Retention), or unbound (its home
//   is another, or the disk has lost it); retired, unbound -> recomputing
//   (Demands); recomputing -> bound.
#ifndef DOGGED_KVSTORE_DICTIONARY_LABEL_TABLE_H_
#define DOGGED_KVSTORE_DICTIONARY_LABEL_TABLE_H_

#include "kvstore/dictionary/high_fanout.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/shard.h"
#include "kvstore/dictionary/watermarks.h"
#include "kvstore/placement/label_placement.h"
#include "kvstore/replication/handover.h"

namespace dogged {

struct LabelTable {
  explicit LabelTable(const LabelContext& job)
      : watermarks(job.relations, job.limits.generation_interval),
        places(job.self, job.replicas, job.relations, watermarks),
        high_fanout(job.relations) {}

  // None: it has to be demanded.
  Value ValueAtHand(const Label& label) {
    const LabelEntry* entry = shard.FindBound(label);
    return entry != nullptr ? entry->value : high_fanout.ValueOf(label);
  }

  // Ends the process, naming the label, unless each label's entry fits its
  // state. Cost: O(labels that are held or waited for).
  void CheckInvariants(const LabelContext& job) const;

  Shard shard;  // bound by Replication and DiskRecovery, dropped by Retention
  Watermarks
      watermarks;  // raised where labels are bound, dropped or handed over
  LabelPlacement places;         // set by ViewChange
  HighFanoutLabels high_fanout;  // kept by Retention
  Handover handover;  // awaited by ViewChange, settled as values arrive
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_LABEL_TABLE_H_
