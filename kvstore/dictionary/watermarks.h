// Watermarks: hints about labels that this agent does not hold. A *row* is a
// label without its version index; its versions follow one another, so one
// number tells how far a row was bound, and another how far it was dropped.
// Bound values may have been lost since.
//
// Exceptions are *recomputing* labels: dropped or lost, and needed for certain,
// so they are made again. They are made from *retained generations*, every c-th
// version of a row.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_DICTIONARY_WATERMARKS_H_
#define DOGGED_KVSTORE_DICTIONARY_WATERMARKS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "kvstore/dictionary/label_relations.h"
#include "kvstore/dictionary/shard.h"
#include "runtime/base/label.h"

namespace dogged {

class Watermarks {
 public:
  // `relations` outlives the watermarks. Every `generation_interval`-th version
  // is a retained generation.
  Watermarks(const LabelRelations& relations, int64_t generation_interval);

  // --- bound once
  void NoteBound(const Label& label);
  bool WasBound(const Label& label) const;
  // A later version of the row was bound, and could not have been without it.
  bool WasOvertaken(const Label& label) const;
  // None if no version was seen.
  std::optional<int64_t> NewestBound(const Label& label) const;
  // `label` comes out of a directory, and was not bound here before: the
  // versions of its row that were bound with it, which are in no directory any
  // more, and itself. At least 1.
  int64_t VersionsFoundBy(const Label& label) const;

  // --- dropped
  void NoteRetired(const Label& label);
  bool IsRetired(const Label& label) const;

  // The label was dropped although outputs of its consumers are not durable:
  // these are made again from what is, should they be lost. Its producer's
  // inputs hear that the producer is done once all `consumers` are.
  void NoteReleasedEarly(const Label& label, const ConsumersDone& consumers) {
    released_early_.insert_or_assign(label, consumers);
  }
  bool IsReleasedEarly(const Label& label) const {
    return released_early_.contains(label);
  }
  // Its consumers, to be marked; null if it was not released early.
  ConsumersDone* FindReleasedEarly(const Label& label) {
    const auto it = released_early_.find(label);
    return it == released_early_.end() ? nullptr : &it->second;
  }
  bool TakeReleasedEarly(const Label& label) {
    return released_early_.erase(label) > 0;
  }
  // In label order.
  std::vector<Label> ReleasedEarly() const;

  // `row` came here because its home died, or out of a directory, as far as
  // `version`: labels of it that are not held may be lost, and need not have
  // been durable, until this agent has dropped as much.
  void MarkUnverified(const Label& row, int64_t version);
  bool IsUnverified(const Label& label) const;
  bool HasUnverified() const { return !unverified_.empty(); }

  // --- made again
  // `label` counts as neither bound nor dropped, from now until it is dropped
  // again. It is retained as long as the generation below it; to the end if
  // that generation's time is over.
  void MarkRecomputing(const Label& label);
  bool IsRecomputing(const Label& label) const {
    return !recomputing_.empty() && recomputing_.contains(label);
  }

  // --- kept beyond their consumers
  int64_t generation_interval() const { return generation_interval_; }
  // A version retained for recomputing, with one copy more than the rest.
  bool IsRetainedGeneration(const Label& label) const;
  // A retained generation or recomputing label that must stay: its row has not
  // been dropped far enough above it. Neighbouring rows differ by at most the
  // cone of generation_interval steps, so that two intervals above nobody
  // starts below.
  bool MustRetain(const Label& label) const;
  // Retains `label`, though its consumers are done.
  void Retain(const Label& label);
  bool IsRetained(const Label& label) const;
  // Takes out retained labels of the row of `label` that need not stay any
  // more.
  std::vector<Label> TakeExpired(const Label& label);
  std::vector<Label> TakeAllRetained();
  // Forgets recomputing, unverified, retained and early released labels of rows
  // for which `moved` is true.
  void Forget(absl::FunctionRef<bool(const Label& row)> moved);

  // Whole rows, for handing over; labels with zero at their version index.
  std::vector<std::pair<Label, int64_t>> BoundRows(
      absl::FunctionRef<bool(const Label& row)> wanted) const {
    return bound_.Select(wanted);
  }
  std::vector<std::pair<Label, int64_t>> RetiredRows(
      absl::FunctionRef<bool(const Label& row)> wanted) const {
    return retired_.Select(wanted);
  }
  void NoteBoundRow(const Label& row, int64_t version) {
    bound_.Raise(row, version);
  }
  void NoteRetiredRow(const Label& row, int64_t version) {
    retired_.Raise(row, version);
  }

 private:
  const LabelRelations& relations_;
  const int64_t generation_interval_;
  RowWatermarks bound_;
  RowWatermarks retired_;
  absl::flat_hash_map<Label, ConsumersDone> released_early_;
  absl::flat_hash_map<Label, int64_t> unverified_;          // rows
  absl::flat_hash_map<Label, bool> recomputing_;            // true: to the end
  absl::flat_hash_map<Label, std::set<int64_t>> retained_;  // by row
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_WATERMARKS_H_
