// DiskOffers: while agents read their directories, after a restart, labels are
// offered that need not be made again; until then, or for some seconds, nothing
// is computed that may yet be offered. ADR-11.
#ifndef DOGGED_KVSTORE_STORAGE_DISK_OFFERS_H_
#define DOGGED_KVSTORE_STORAGE_DISK_OFFERS_H_

#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/label_table.h"
#include "routing/transport/outbox.h"

namespace dogged {

class DiskOffers {
 public:
  DiskOffers(LabelContext& job, LabelTable& labels)
      : job_(job), labels_(labels) {}

  // This agent reads its directory, and the others may read theirs.
  void BeginScan();
  bool IsScanning() const { return is_reading_; }
  void NoteScanned(absl::Time now);
  bool IsRecovering(absl::Time now) const;
  // `label` was announced, and asked for; it has come.
  void NoteComing(const Label& label) { coming_.insert(label); }
  void NoteArrived(absl::Time now, const Label& label);
  // `agent` has announced all that it has; members that have gone won't.
  void NoteHandoverComplete(absl::Time now, AgentId agent);
  void ForgetIf(absl::Time now, absl::FunctionRef<bool(AgentId)> gone);
  // A label of this home is out of a directory, or may be, and the labels made
  // before it are in none. They were bound, though: where a row of another
  // array ended in it, that row need not be made again.
  void NoteFound(const Label& label, Outbox& out);

 private:
  void NoteOffer(absl::Time now);

  LabelContext& job_;
  LabelTable& labels_;
  bool is_reading_ = false;            // this agent's directory
  std::set<AgentId> others_;           // that may have more to tell of theirs
  absl::flat_hash_set<Label> coming_;  // announced, and asked for
  absl::Time end_ = absl::InfinitePast();
  absl::Time limit_ = absl::InfinitePast();  // of the end
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_DISK_OFFERS_H_
