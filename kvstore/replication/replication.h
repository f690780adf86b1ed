// Replication: binding labels, telling agents that need them, and copies. A
// label is bound at its home, which tells the homes of its readers and sends
// copies to its replicas; holders repeat what they hold until they are
// answered.
#ifndef DOGGED_KVSTORE_REPLICATION_REPLICATION_H_
#define DOGGED_KVSTORE_REPLICATION_REPLICATION_H_

#include <cstdint>
#include <set>

#include "absl/strings/string_view.h"
#include "kvstore/dictionary/conflict_check.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/label_readers.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/dictionary/retention.h"
#include "kvstore/replication/copy_queue.h"
#include "kvstore/replication/cut_queue.h"
#include "kvstore/replication/cut_schedule.h"
#include "kvstore/replication/expected_values.h"
#include "kvstore/replication/label_producers.h"
#include "kvstore/replication/value_sender.h"
#include "kvstore/storage/disk_offers.h"
#include "kvstore/storage/stored_values.h"
#include "routing/transport/outbox.h"

namespace dogged {

class Replication {
 public:
  // Values that another agent has taken over.
  struct HandedOver {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  // The components that it tells of bound labels; all outlive this.
  struct Parts {
    ConflictCheck& conflicts;
    StoredValues& storage;
    ValueSender& sender;
    Retention& retention;
    DiskOffers& offers;
    LabelReaders& readers;
    LabelProducers& producers;
  };
  Replication(LabelContext& job, LabelTable& labels, const Parts& parts);

  // Homes have changed; `lost` of the former members are gone.
  void NoteMembers(absl::Time now, int64_t lost);
  // It was made here.
  void BindOutput(const Pass& pass, const Label& label, const Value& value);
  // This agent, which holds `label`, is its home from here on: no consumer is
  // known to be done. `is_found`: it is out of a directory, or may be, see
  // DiskOffers.
  void BecomeHome(const Label& label, LabelEntry& entry, bool is_found,
                  Outbox& out);
  void HandlePublish(const Pass& pass, AgentId from, const PublishBody& body);
  void HandleAnnounce(const Pass& pass, AgentId from, const AnnounceBody& body);
  void HandleStored(const Pass& pass, AgentId from, const AnnounceBody& body);
  bool Lacks(absl::string_view announce) const;  // needs the bytes of that
  // Values of which this agent was the home, or a holder, and that their new
  // home has; since the last call.
  std::map<AgentId, HandedOver> TakeHandedOver() {
    return std::exchange(handed_over_, {});
  }

  void AddMissingReplicas(const Label& label, const LabelEntry& entry,
                          std::set<AgentId>& targets) const;
  // Sent a little later, or with the next cut, if it is not used up by then.
  void QueueCopies(absl::Time now, const Label& label);
  void SendCopies(const Pass& pass);
  // Copies go in cuts, so labels may be released early
  // (Retention::ReleaseInputs). Not where values go to disks, which have a rule
  // of their own for what they write.
  bool MakesCuts() const { return makes_cuts_; }
  // Values of so many bytes go in cuts; all where copies are loans.
  int64_t CutBytesMin() const {
    return cuts_.are_loans() ? 0 : job_.limits.cut_bytes_min;
  }
  void ScheduleAnnounce(absl::Time now, LabelEntry& entry);
  void Announce(const Pass& pass, const Label& label);

 private:
  void BindAtHome(const Pass& pass, const Label& label, const Value& value,
                  AgentId from);
  void LookAtLinks(absl::Time now);
  bool HasRoom() const;  // for another copy
  // Has no copy, and is announced from here on if nobody answers.
  void StopAwaiting(absl::Time now, LabelEntry& entry);
  bool JoinsCut(absl::Time now, const Label& label, int64_t& bytes);
  void SendCopyOf(const Pass& pass, const Label& label);
  void SendCut(const Pass& pass);
  bool IsCutDue();

  LabelContext& job_;
  LabelTable& labels_;
  ConflictCheck& conflicts_;
  StoredValues& storage_;
  ValueSender& sender_;
  Retention& retention_;
  DiskOffers& offers_;
  LabelReaders& readers_;
  LabelProducers& producers_;
  CopyQueue copy_queue_;  // without cuts; what is short; results
  bool makes_cuts_ = false;
  CutQueue cut_queue_;
  CutSchedule cuts_;
  absl::Time next_look_ = absl::InfinitePast();  // at links and at memory
  absl::Time next_count_ = absl::InfinitePast();
  int64_t held_bytes_ = 0;  // as of the last count, and since
  // That a cut would have copied when one was last thought of.
  int64_t in_use_bytes_ = 0;
  std::map<AgentId, HandedOver> handed_over_;  // for TakeHandedOver()
  ExpectedValues expected_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_REPLICATION_H_
