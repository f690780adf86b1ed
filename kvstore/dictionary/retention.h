// Retention: how long a label is kept. Its readers are told that it is bound,
// asked whether they are done, and crossed off; a label is dropped once all
// that its readers make is durable, unless it is a retained generation. Being
// wrong costs recomputation, never a wrong answer. high_fanout.h says how where
// readers are many.
#ifndef DOGGED_KVSTORE_DICTIONARY_RETENTION_H_
#define DOGGED_KVSTORE_DICTIONARY_RETENTION_H_

#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/label_readers.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/storage/stored_values.h"
#include "routing/transport/outbox.h"

namespace dogged {

class Retention {
 public:
  // All outlive this.
  Retention(LabelContext& job, LabelTable& labels, StoredValues& storage,
            LabelReaders& readers)
      : job_(job), labels_(labels), storage_(storage), readers_(readers) {}

  // Tells the readers that are here, and reports those that are done to the
  // label's home. If `value` is none it is demanded from `holder`, if need be.
  void TellLocalConsumers(const Label& label, const Value& value,
                          AgentId holder, Outbox& out);
  // `value` of `label` is here now: the readers that are here are told, and it
  // is reported, and dropped, as far as they are done.
  void NoteBound(const Label& label, const Value& value, Outbox& out) {
    TellLocalConsumers(label, value, job_.self, out);
    ReportIfDurable(label, out);
    RetireIfUnneeded(label, out);
  }
  // Homes, other than this agent, of consumers that are not known as done.
  std::set<AgentId> RemoteConsumerHomes(const Label& label,
                                        const LabelEntry& entry) const;
  // All consumers left have run here: copies of their outputs are enough.
  bool IsUsedUp(const Label& label, const LabelEntry& entry) const;
  // The same, whatever else it is kept for.
  bool IsUsedUpHere(const Label& label, const LabelEntry& entry) const;
  // Drops labels that `reader`, which is done here, has read and nobody else
  // needs, even if what it made is not durable: members of cuts and what other
  // homes read stay, and are enough to make that again. Not of less than
  // `bytes_min`, which go in no cuts.
  void ReleaseInputs(const Reader& reader, int64_t bytes_min);
  // Homes have changed: readers of released labels that are others' now count
  // as done, for their new homes don't know that this agent waits for a word.
  void ReviewReleased(Outbox& out);
  // Has enough copies, as far as this agent knows.
  bool IsDurable(const Label& label, const LabelEntry& entry) const;
  // Tells the producer's inputs once its outputs here are durable.
  void ReportIfDurable(const Label& label, Outbox& out);
  void RetireIfUnneeded(const Label& label, Outbox& out);
  // Drops labels that are kept only as retained generations.
  void DropAllRetained(Outbox& out);
  void HandleDone(AgentId from, const DoneBody& body, Outbox& out);
  void CrossOffReported(Outbox& out);

 private:
  // Done here, and what it made is durable: it needs its inputs no more.
  bool IsSettled(const Reader& reader) const;
  void TellHighFanout(const Label& label, const Value& value, AgentId holder,
                      Outbox& out);
  void ReportProducerIfDurable(const Label& label, Outbox& out);
  void ReportDone(const Reader& reader, Outbox& out);
  void CountDown(const Label& label, int64_t uses, Outbox& out);
  void ConsumerDone(const Label& label, const Reader& reader, Outbox& out);
  void Drop(const Label& label, Outbox& out);

  // That what a reader makes is durable, so that it needs this label no more.
  struct DoneReports {
    std::deque<std::pair<Label, Reader>> queue;
    bool is_busy = false;  // with the queue
  };

  LabelContext& job_;
  LabelTable& labels_;
  StoredValues& storage_;
  LabelReaders& readers_;
  DoneReports done_reports_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_RETENTION_H_
