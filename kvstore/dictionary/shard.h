// Shard: the bindings that this agent holds, and the agents that wait for
// further ones. Binding twice is fine; binding differently is an error. A data
// structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_DICTIONARY_SHARD_H_
#define DOGGED_KVSTORE_DICTIONARY_SHARD_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/timer_wheel.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

// Where the bytes of a value are beside memory.
enum class OnDisk : uint8_t { kNo, kOnItsWay, kYes };

// Which consumers of a label are done, each by its place in the order in which
// LabelRelations enumerates them. No heap for up to 128 of them.
class ConsumersDone {
 public:
  // `count` consumers, none of them done.
  void Reset(int64_t count) {
    words_.assign((count + 63) / 64, 0);
    left_ = count;
  }
  // False also for one that there is none of.
  bool Has(size_t ordinal) const {
    return ordinal / 64 < words_.size() &&
           (words_[ordinal / 64] >> (ordinal % 64) & 1) != 0;
  }
  void Mark(size_t ordinal) {
    if (Has(ordinal)) return;
    words_[ordinal / 64] |= uint64_t{1} << (ordinal % 64);
    --left_;
  }
  int64_t left() const { return left_; }

  // A label with more consumers has high fan-out: looking for one of them takes
  // long.
  static constexpr int64_t kNarrowMax = 128;

 private:
  static constexpr size_t kInlineWords = kNarrowMax / 64;
  absl::InlinedVector<uint64_t, kInlineWords> words_;
  int64_t left_ = 0;
};

// LabelEntry: the state of a label at this agent. There is an entry while the
// value is held here or agents wait for it; so there are many: keep it small.
struct LabelEntry {
  bool IsBound() const { return !value.IsNone(); }

  // None: unbound here. Without bytes: bound, but spilled to disk.
  Value value;
  // Agents that get the value as soon as it is bound.
  absl::InlinedVector<AgentId, 2> waiters;
  // Other agents that have acknowledged a copy.
  absl::InlinedVector<AgentId, 2> copies;
  // At the home: consumers whose outputs are durable. Reset when the entry
  // becomes bound at its home.
  ConsumersDone consumers;
  // The time at which the holder announces the label again if it has heard
  // nothing, and the interval after that.
  TimerWheel::Timer announce;
  int32_t announce_interval_ms = 0;
  // At the home: how often readers ran here, a hint that all may have.
  int32_t read_here = 0;
  OnDisk on_disk = OnDisk::kNo;
  // It was made here.
  bool made_here = false;
  // True at the home, where `consumers` counts.
  bool is_home = false;
  // The producer's inputs were told that it is done.
  bool producer_reported = false;
  // The bytes, or a loan of them, have left this agent.
  bool is_exposed = false;
  // Copies are yet to be sent: their holders are not reminded.
  bool awaits_copies = false;
  // It belongs to a cut: what was made after it is made again from its copies.
  bool is_cut_member = false;
};

class Shard {
 public:
  // Null if there is none. Pointers are good until the next change.
  LabelEntry* Find(const Label& label);
  const LabelEntry* Find(const Label& label) const;
  // Null also if `label` is unbound here, and only waited for.
  LabelEntry* FindBound(const Label& label) {
    LabelEntry* const entry = Find(label);
    return entry != nullptr && entry->IsBound() ? entry : nullptr;
  }
  const LabelEntry* FindBound(const Label& label) const {
    const LabelEntry* const entry = Find(label);
    return entry != nullptr && entry->IsBound() ? entry : nullptr;
  }
  bool IsBound(const Label& label) const { return FindBound(label) != nullptr; }
  // Makes an unbound entry if there is none.
  LabelEntry& Get(const Label& label);
  // `entry`, which is of this shard, is due at `time`.
  void AnnounceAt(LabelEntry& entry, absl::Time time) {
    wheel_.Set(entry.announce, time);
  }
  // Labels whose time has come, in label order. They are due no more.
  std::vector<Label> TakeDue(absl::Time now) { return wheel_.TakeDue(now); }

  // Binds `label` at `entry`. An equal second bind changes nothing and
  // returns false; the first returns true.
  //
  // Errors: kDataLoss with both digests if another value is bound.
  absl::StatusOr<bool> Bind(const Label& label, Value value);

  void Erase(const Label& label);
  // Keeps lists of bound and of erased labels, for the component that writes
  // values to disk.
  void StartTracking() { is_tracking_ = true; }
  // Labels that were bound since the last call, in that order.
  std::vector<Label> TakeBound() { return std::exchange(bound_, {}); }
  // Labels that were erased and are on disk, or on their way there.
  std::vector<Label> TakeErased() { return std::exchange(erased_, {}); }

  int64_t size() const { return std::ssize(entries_); }
  int64_t BytesInMemory() const;  // of values
  // Labels whose entry satisfies `keep`, in label order: the same in every run,
  // so that messages about them are sent in one order.
  std::vector<Label> Select(
      absl::FunctionRef<bool(const Label&, const LabelEntry&)> keep) const;

 private:
  TimerWheel wheel_;  // outlives the entries
  absl::node_hash_map<Label, LabelEntry> entries_;
  bool is_tracking_ = false;
  std::vector<Label> bound_;
  std::vector<Label> erased_;
};

// RowWatermarks: labels that were bound (or retired) once, by the newest
// version of each row: a row is a label without its version index, and its
// versions follow one another. A hint that saves computing history again; it
// never refuses a demand.
class RowWatermarks {
 public:
  // `row` carries zero at the version index.
  void Raise(const Label& row, int64_t version);
  bool Has(const Label& row, int64_t version) const;
  // None if no version was seen.
  std::optional<int64_t> Newest(const Label& row) const;
  // Rows that satisfy `keep`, with their newest versions, in label order.
  std::vector<std::pair<Label, int64_t>> Select(
      absl::FunctionRef<bool(const Label& row)> keep) const;

 private:
  absl::flat_hash_map<Label, int64_t> newest_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_SHARD_H_
