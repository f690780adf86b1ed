// ValueSender: the one door by which values leave this agent: lent to agents of
// the host, pushed to those that have credit, announced to the rest; values
// demanded without credit are deferred, and sent once there is some.
#ifndef DOGGED_KVSTORE_REPLICATION_VALUE_SENDER_H_
#define DOGGED_KVSTORE_REPLICATION_VALUE_SENDER_H_

#include <set>

#include "kvstore/dictionary/conflict_check.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/replication/credit.h"
#include "kvstore/replication/deferred_sends.h"
#include "kvstore/storage/stored_values.h"
#include "routing/transport/outbox.h"

namespace dogged {

class ValueSender {
 public:
  ValueSender(LabelContext& job, LabelTable& labels, ConflictCheck& conflicts,
              StoredValues& storage, Credit credit)
      : job_(job),
        labels_(labels),
        conflicts_(conflicts),
        storage_(storage),
        credit_(std::move(credit)) {}

  // Sends the value of a bound label, once loaded, to targets that have credit;
  // announces it to the rest.
  void SendValue(std::set<AgentId> targets, const Label& label, Outbox& out,
                 Sending why = Sending::kPublication);
  void BeginPass(absl::Time now) { credit_.BeginPass(now); }
  void SendDeferred(const Pass& pass);  // as far as there is credit
  // Until `agent` would have so many bytes, behind all that waits for it.
  absl::Duration TimeToSend(AgentId agent, int64_t bytes) const;
  // No bytes wait for `agent`.
  bool IsIdle(AgentId agent) const { return credit_.HasAll(agent); }
  bool IsOnItsWay(AgentId to, const Label& label) const {
    return credit_.IsUnderWay(to, label) || deferred_.Has(to, label);
  }
  // `agent` has begun anew.
  void Forget(AgentId agent) {
    credit_.Forget(agent);
    deferred_.Forget(agent);
  }
  // Copies about so many bytes of values whose owner has gone.
  void CopyOrphans(int64_t bytes_max);

 private:
  // Takes targets that it was lent to out of `targets`.
  void LendTo(std::set<AgentId>& targets, const Label& label, LabelEntry& entry,
              Sending why, Outbox& out);
  void AnnounceTo(std::set<AgentId> targets, const Label& label,
                  const LabelEntry& entry, Outbox& out);
  // `value` is borrowed, so that only a copy can be lent, and one of `targets`
  // could read that where it lies.
  bool MayLendCopy(const std::set<AgentId>& targets, const Value& value) const;

  LabelContext& job_;
  LabelTable& labels_;
  ConflictCheck& conflicts_;
  StoredValues& storage_;
  Credit credit_;
  DeferredSends deferred_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_VALUE_SENDER_H_
