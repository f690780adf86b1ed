// ConflictCheck: a label has one value. Every digest that this agent binds,
// sends or hears of is compared with the value that it holds and with the log
// of former ones; another digest fails the job, in words that name the label,
// its producer and both agents. ADR-10.
#ifndef DOGGED_KVSTORE_DICTIONARY_CONFLICT_CHECK_H_
#define DOGGED_KVSTORE_DICTIONARY_CONFLICT_CHECK_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kvstore/dictionary/digest_log.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/label_table.h"
#include "routing/transport/outbox.h"

namespace dogged {

class ConflictCheck {
 public:
  // Both outlive this.
  ConflictCheck(LabelContext& job, LabelTable& labels);

  // Binds and logs the value; true if the label was not bound here. None: with
  // another digest it was bound or logged, and the job has failed.
  std::optional<bool> BindHere(const Label& label, const Value& value,
                               AgentId from);
  // With the value that is held, then with the log, which it enters; false if
  // it is another one, and the job has failed.
  bool CompareDigest(const Label& label, const Digest& digest, AgentId from);
  bool LogDigest(const Label& label, const Digest& digest, AgentId from);
  bool LogDigests(const std::vector<RowDigests>& rows, AgentId from);
  // A value without a digest gets one if one is logged.
  bool LogDigestOf(const Label& label, const Value& value, AgentId from);
  // That this agent holds, or has heard of; none if it knows of none.
  std::optional<Digest> KnownDigest(const Label& label) const;
  std::vector<RowDigests> AllDigests() const;

  // A sender that is not the label's home takes itself for it: the home is to
  // hear of the digest, too.
  void NoteDigestFrom(absl::Time now, AgentId from, const Label& label);
  // The label was made away from its home, which may have it made, too, and be
  // done with the label before it hears of this one.
  void NoteMadeAway(absl::Time now, const Label& label);
  void NoteStoredAtHome(const Label& label);
  // Homes of rows that have `moved` are to hear which digests are logged.
  void MarkDigestsUntold(absl::Time now,
                         absl::FunctionRef<bool(const Label& row)> moved);
  void TellDigests(const Pass& pass);

 private:
  // `mine`, which this agent holds or has held, and another digest.
  void FailOfConflict(const Label& label, const Digest& mine,
                      const Digest& other, AgentId from);

  LabelContext& job_;
  LabelTable& labels_;
  DigestLog log_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_CONFLICT_CHECK_H_
