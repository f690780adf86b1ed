// HomeChange: what a change of members means for labels: which of them move,
// what is handed over, and what is said to a member that begins anew.
#ifndef DOGGED_KVSTORE_REPLICATION_HOME_CHANGE_H_
#define DOGGED_KVSTORE_REPLICATION_HOME_CHANGE_H_

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/conflict_check.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/dictionary/retention.h"
#include "kvstore/messages/label_messages.h"
#include "kvstore/placement/placement.h"
#include "kvstore/replication/replication.h"
#include "kvstore/replication/value_sender.h"
#include "kvstore/storage/disk_offers.h"
#include "routing/transport/outbox.h"

namespace dogged {

class HomeChange {
 public:
  struct Parts {
    ConflictCheck& conflicts;
    ValueSender& sender;
    Retention& retention;
    DiskOffers& offers;
    Replication& replication;
  };
  // All outlive this.
  HomeChange(LabelContext& job, LabelTable& labels, const Parts& parts);

  // Labels are placed anew, and were placed by `before`.
  void Review(const Pass& pass, const Placement& before);
  void ExpectHandover(absl::Time now, AgentId leaver);
  void TellStart(Outbox& out);
  void PeerStarted(const Pass& pass, AgentId peer);
  // False: it is malformed.
  bool HandleWatermarks(absl::Time now, AgentId from,
                        const WatermarksBody& body);
  void SendHandoverComplete(Outbox& out);

 private:
  void ReviewHandovers(const Pass& pass, const Placement& before);
  void ReviewEntry(const Pass& pass, const Label& label,
                   const Placement& before);
  void PublishToNew(const Pass& pass, const Label& label,
                    const LabelEntry& entry, const Placement& before);
  // Tells the homes of rows that have `moved` how far they are.
  void HandOverWatermarks(absl::FunctionRef<bool(const Label& row)> moved,
                          Outbox& out);

  LabelContext& job_;
  LabelTable& labels_;
  ConflictCheck& conflicts_;
  ValueSender& sender_;
  Retention& retention_;
  DiskOffers& offers_;
  Replication& replication_;
  bool has_told_start_ = false;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_HOME_CHANGE_H_
