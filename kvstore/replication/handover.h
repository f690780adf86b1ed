// Handover: what passes between a former home and a new one when the members
// change and both live. The former one gives values, and what readers that are
// still at it make, then says that it is through; until then, or for a bounded
// time, the new one has nothing made that may have been made there. So an agent
// that joins or leaves costs no work.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_REPLICATION_HANDOVER_H_
#define DOGGED_KVSTORE_REPLICATION_HANDOVER_H_

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "kvstore/placement/placement.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"

namespace dogged {

class Handover {
 public:
  // --- giving
  // `to` is to hear when all that it is given has arrived.
  void Owe(AgentId to) { giving_.try_emplace(to); }
  // A value is on its way to `to`, or a reader is at what `to` will get.
  // Counts only for one who is owed.
  void Give(AgentId to, const Label& label);
  void Give(AgentId to, const Reader& reader);
  // `label` has arrived, or is not needed there.
  void Settle(AgentId to, const Label& label);
  // It is done: what it made is given, or was bound here.
  void Settle(const Reader& reader);
  // Agents that have got all; they are owed no more.
  std::vector<AgentId> TakeComplete();
  // The dead are owed nothing, and nothing is awaited of them.
  void ForgetIf(absl::FunctionRef<bool(AgentId)> gone);

  // --- taking
  // `from` may hand over until `limit`; `former` placed the job before. Nothing
  // is awaited of an agent that has only just started.
  void Await(AgentId from, absl::Time limit, const Placement& former);
  // As Await(); it hands over though it is gone.
  void AwaitLeaver(AgentId from, absl::Time limit, const Placement& former);
  void EndAwait(AgentId from);
  // `peer` has just started, and is in no view yet.
  void NoteEarlyStart(AgentId peer) { early_starters_.insert(peer); }
  void Expire(absl::Time now);
  bool IsAwaiting() const { return !awaited_.empty(); }
  bool IsAwaiting(AgentId from) const { return awaited_.contains(from); }
  // A label with this key may have been made elsewhere.
  bool IsHeld(uint64_t key, AgentId self) const {
    return IsAwaiting() && former_->Home(key) != self;
  }
  // No key was this agent's own before: it has only just begun.
  bool IsHeldAltogether() const {
    return IsAwaiting() && former_->members().empty();
  }
  // When the first limit ends.
  absl::Time NextLimit() const;

 private:
  struct Given {
    absl::flat_hash_set<Label> labels;
    absl::flat_hash_set<Reader> readers;
  };
  std::map<AgentId, Given> giving_;
  struct Awaited {
    absl::Time limit;
    bool leaves = false;
  };
  std::map<AgentId, Awaited> awaited_;
  absl::flat_hash_set<AgentId> early_starters_;  // not awaited yet
  std::optional<Placement> former_;              // when the first was awaited
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_HANDOVER_H_
