// The activation table: which required inputs of which task are at hand. A
// record stands only between a task's first mark and its last, so the table is
// as large as the frontier, not as the graph.
//
// Thread-safe: any worker may mark; locks are striped by groups of tasks that
// follow one another. Driven by one thread it is deterministic, the order of
// visits included.
// Knows nothing of which tasks ran: a mark that comes after a task's record
// was handed out starts a new record, and it is for the caller to drop it.
//
// Source: [DAGuE] activation of tasks by their inputs; [REM] "Dependency
// Description" for requirements.
#ifndef DOGGED_RUNTIME_EXEC_ACTIVATION_TABLE_H_
#define DOGGED_RUNTIME_EXEC_ACTIVATION_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/spin_lock.h"
#include "runtime/graph/relations.h"

namespace dogged {

// A task on its way to a worker. Two workers often share one: as few lines of
// cache as can be.
struct alignas(64) Activation {
  Task task;
  ValueList inputs;  // by position of the use; none if missing or not required
  int32_t missing_count = 0;
  int32_t born = 0;  // calls of ActivationTable::Age() before the first mark
  int64_t priority = 0;
  // Another one that waits for the same label: see InputTable.
  Activation* next_waiting = nullptr;
};

// Records that are not in use, for one thread at a time.
class ActivationPool {
 public:
  // A record for `task` without marks, with a place for each of `use_count`.
  std::unique_ptr<Activation> Get(const Task& task, int use_count);
  // Takes back a record that is done with; its inputs are released.
  void Put(std::unique_ptr<Activation> record);

 private:
  static constexpr size_t kRecordsMax = 1024;
  std::vector<std::unique_ptr<Activation>> free_;
};

class ActivationTable {
 public:
  // `relations` must outlive the table.
  explicit ActivationTable(const Relations& relations);

  // Marks input `use` of `task` as bound to `value`. Hands out the record,
  // with all inputs, if this was the last that the task requires; null before
  // that. A second mark of the same use changes nothing. `use` is one whose
  // guard holds. `pool` belongs to the calling thread.
  std::unique_ptr<Activation> Mark(const Task& task, int use, Value value,
                                   ActivationPool& pool);

  bool Contains(const Task& task) const;
  // A copy of the record of `task`; none if it has no marks.
  std::optional<Activation> Find(const Task& task) const;
  // Takes the record of `task` out; null if it has none.
  std::unique_ptr<Activation> Remove(const Task& task);
  // `task` has a mark for `use`.
  bool IsMarked(const Task& task, int use) const;
  // Calls `visit` for every record until it returns false; then returns false
  // itself. The callback must not call the table: collect, then act.
  bool ForEach(absl::FunctionRef<bool(const Activation&)> visit) const;
  // Makes every record one older. Then calls `visit` with those that it was not
  // called with for longest, and with their ages: with `count_min` of them, if
  // there are as many, and hardly more or with a 64th. So the cost does not
  // grow with a table in which many tasks wait. As ForEach() otherwise; by one
  // thread at a time.
  void Age(int64_t count_min,
           absl::FunctionRef<void(const Activation&, int32_t age)> visit);
  // The record of `task`, if there is one, is as young as a new one.
  void Renew(const Task& task);
  // Replaces every marked input by the result of `visit`, which is not none.
  // The callback must not call the table.
  void ReplaceInputs(absl::FunctionRef<Value(const Value&)> visit);
  // Records at the moment.
  int64_t size() const;

 private:
  struct Slot {
    uint64_t hash = 0;
    std::unique_ptr<Activation> record;  // null: the slot is free
  };
  // Open addressing with linear probing; a removal shifts the followers back.
  struct alignas(64) Stripe {
    mutable SpinLock mutex;
    std::vector<Slot> slots;  // size a power of two, or empty
    size_t count = 0;

    // The slot of `task`, or the free one where it would go. There are slots.
    size_t Locate(uint64_t hash, const Task& task) const;
    void Insert(uint64_t hash, std::unique_ptr<Activation> record);
    std::unique_ptr<Activation> RemoveAt(size_t slot);
    void Resize(size_t slot_count);
  };
  static constexpr int kStripeBits = 6;

  Stripe& StripeOf(uint64_t hash) {
    return stripes_[hash >> (64 - kStripeBits)];
  }
  const Stripe& StripeOf(uint64_t hash) const {
    return stripes_[hash >> (64 - kStripeBits)];
  }

  const Relations& relations_;
  std::vector<int> use_counts_;  // by class
  std::array<Stripe, 1 << kStripeBits> stripes_;
  std::atomic<int32_t> age_ = 0;  // calls of Age()
  size_t next_visited_ = 0;       // stripe
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_ACTIVATION_TABLE_H_
