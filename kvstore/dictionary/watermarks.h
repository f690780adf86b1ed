// Watermarks: what this agent believes of labels that it does not hold. A *row*
// is a label without its version index; its versions follow one another, so one
// number says how far a row was bound, and another how far it was dropped.
// Both are hints: a value may have been lost after it was marked.
//
// Exceptions to them are *recomputing* labels: dropped or lost, and needed for
// certain, so they are made again. *Pinned* labels, every c-th version of a
// row, are what they are made from.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_DICTIONARY_WATERMARKS_H_
#define DOGGED_KVSTORE_DICTIONARY_WATERMARKS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "kvstore/dictionary/label_relations.h"
#include "kvstore/dictionary/shard.h"
#include "runtime/base/label.h"

namespace dogged {

class Watermarks {
 public:
  // `relations` outlives the watermarks. Every `generation_interval`-th version
  // is pinned.
  Watermarks(const LabelRelations& relations, int64_t generation_interval);

  // --- bound once
  void NoteBound(const Label& label);
  bool WasBound(const Label& label) const;
  // A later version of the row was bound, and could not have been without it.
  bool WasOvertaken(const Label& label) const;
  // None if no version was seen.
  std::optional<int64_t> NewestBound(const Label& label) const;

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
  // `version`: what is not held of it may be lost, and need not have been
  // durable. It was, once this agent has dropped as much.
  void MarkUnverified(const Label& row, int64_t version);
  bool IsUnverified(const Label& label) const;
  bool HasUnverified() const { return !unverified_.empty(); }

  // --- made again
  // Neither bound nor dropped, from now until it is dropped again. It is kept
  // as long as the pin below it; to the end if that pin's time is over.
  void MarkRecomputing(const Label& label);
  bool IsRecomputing(const Label& label) const {
    return !recomputing_.empty() && recomputing_.contains(label);
  }

  // --- kept beyond their consumers
  int64_t generation_interval() const { return generation_interval_; }
  // A version that is kept for rebuilding: with one copy more than others.
  bool IsRetainedGeneration(const Label& label) const;
  // A pinned or recomputing label that is still to be kept: its row has not
  // been dropped far enough above it. Neighbouring rows differ by at most the
  // cone of generation_interval steps, so that two intervals above nobody
  // starts below.
  bool MustRetain(const Label& label) const;
  // Its consumers are done, and it is kept all the same.
  void Retain(const Label& label);
  bool IsRetained(const Label& label) const;
  // Takes out those of the row of `label` that need not be kept any more.
  std::vector<Label> TakeExpired(const Label& label);
  std::vector<Label> TakeAllRetained();
  // Forgets what is recomputing, doubted, kept or given up of rows that `moved`
  // says so of.
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
  absl::flat_hash_map<Label, int64_t> unverified_;  // rows
  absl::flat_hash_map<Label, bool> recomputing_;    // true: to the end
  absl::flat_hash_map<Label, absl::btree_set<int64_t>> retained_;  // by row
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_WATERMARKS_H_
