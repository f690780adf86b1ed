// LabelProducers: the port through which replication tells what makes labels,
// and what waits for them beside readers, what has become of labels; and learns
// how busy this agent is.
#ifndef DOGGED_KVSTORE_REPLICATION_LABEL_PRODUCERS_H_
#define DOGGED_KVSTORE_REPLICATION_LABEL_PRODUCERS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

class LabelProducers {
 public:
  virtual ~LabelProducers() = default;

  // --- what has become of a label
  // Its value is here or passes through, wherever its home is.
  virtual void NoteValue(const Label& label, const Value& value) = 0;
  // Its home is here, and its value has come, maybe once more: nobody need make
  // it any longer.
  virtual void NoteMade(const Label& label) = 0;
  // It became bound at this home. `new_versions`: as many of its row, itself
  // included, were not known to be bound before; 0: it was.
  virtual void NoteBound(const Label& label, const Value& value,
                         int64_t new_versions) = 0;
  // Its home is here, and `from` has it: maybe too late, for it was made
  // elsewhere meanwhile.
  virtual void NoteHolder(const Label& label, AgentId from) = 0;
  // Something of the job has moved on.
  virtual void NoteProgress(absl::Time now) = 0;

  // --- what waits for it beside readers
  // A client of this agent waits for it; and gets it.
  virtual bool IsRequested(const Label& label) const = 0;
  virtual void HandOut(const Label& label, const Value& value) = 0;
  // All agents wait for it.
  virtual bool IsAwaitedByAll(const Label& label) const = 0;
  // Some reader here lacks it.
  virtual bool IsLacked(const Label& label) const = 0;

  // --- how busy this agent is
  // Labels are being made, or something has moved on since a moment before
  // `time`.
  virtual bool IsBusy(absl::Time time) const = 0;
  // All results of the job with their home here are made, and no label is being
  // made.
  virtual bool IsThrough() const = 0;
  // It leaves: there is no time for pauses that grow.
  virtual bool IsLeaving() const = 0;
  // So long a reader waits before it demands what it misses.
  virtual absl::Duration DemandTimeout(absl::Time now) const = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_LABEL_PRODUCERS_H_
