// InputTable: bound values that tasks of one process are yet to read, and tasks
// that wait for one of them. Thread-safe.
//
// A task begins when the label of its *first* use is bound, and then looks the
// others up. If one is unbound it waits for that label, and looks on when that
// is bound. So a task has a record from the value that begins it on, and only
// one value at a time wakes it, however many it reads; a value that very many
// tasks read is a row of this table until the last of them has looked it up.
// The first use is one that few tasks share, if there is any: along the chain
// of updates of an element, say, not the pivot that all of them read.
//
// The alternative, a mark in the record of each task for each of its inputs
// (ActivationTable), makes a record for every reader of a label once that is
// bound: in a factorisation that is most of the program.
#ifndef DOGGED_RUNTIME_EXEC_INPUT_TABLE_H_
#define DOGGED_RUNTIME_EXEC_INPUT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/exec/activation_table.h"
#include "runtime/exec/needed.h"
#include "runtime/exec/spin_lock.h"
#include "runtime/graph/relations.h"

namespace dogged {

class InputTable {
 public:
  // Both must outlive the table, which so many threads use at once.
  InputTable(const Relations& relations, const NeededTasks& needed,
             int workers);
  ~InputTable();
  InputTable(const InputTable&) = delete;
  InputTable& operator=(const InputTable&) = delete;

  // Keeps `value` for the needed tasks that look it up, if there are any. Calls
  // `on_ready` with each task that waited for it and now has all its inputs. A
  // label is bound once. Tasks that the label begins are for the caller to
  // begin: after this, since they may read it by another use, too.
  void Bind(
      const Label& label, const Value& value,
      absl::FunctionRef<void(std::unique_ptr<Activation> record)> on_ready);
  // Calls visit(task, use) for each needed task whose first use is one of
  // `label`, until it returns false; then returns false itself.
  bool ForEachBegun(
      const Label& label,
      absl::FunctionRef<bool(const Task& task, int use)> visit) const;
  // Begins `task`, whose input `use` is `value`. Hands out the record if all
  // inputs are at hand; null if the task waits, or if `use`, whose guard holds,
  // is not its first. `pool` belongs to the calling thread.
  std::unique_ptr<Activation> Begin(const Task& task, int use,
                                    const Value& value, ActivationPool& pool);

  // Values that are kept, and tasks that wait, at the moment.
  int64_t kept_count() const;
  int64_t waiting_count() const;

 private:
  // Labels that follow one another in their last index lie side by side: tasks
  // that do so look them up in turn.
  struct LabelHash {
    size_t operator()(const Label& label) const {
      return Of(label, GroupOf(label));
    }
    static uint64_t GroupOf(const Label& label);
    static size_t Of(const Label& label, uint64_t group);
  };
  // Entry: a label that is bound and has reads left, or that tasks wait for.
  struct Entry {
    Value value;  // none: unbound
    int64_t reads_left = 0;
    Activation* waiting = nullptr;  // owned, with those behind it
  };
  struct alignas(64) Stripe {
    mutable SpinLock mutex;
    absl::flat_hash_map<Label, Entry, LabelHash> entries;
  };
  // Whether a use is the first of the tasks that have it.
  enum class Rank : uint8_t { kFirst, kPerhapsFirst, kNotFirst };
  // Uses of a class, in the order in which a task looks them up.
  struct RankedUses {
    std::vector<int> uses;
    std::vector<Rank> ranks;  // by position of the use
  };
  static RankedUses RankUses(const TaskClass& task_class);
  Stripe& StripeOf(uint64_t group) {
    return stripes_[group >> (64 - stripe_bits_)];
  }
  bool IsFirst(const Task& task, int use) const;
  // Reads of `label` by needed tasks that another label begins.
  int64_t ReadsOf(const Label& label) const;
  // Looks up all inputs that `record` misses. Hands it out; null if it waits.
  std::unique_ptr<Activation> Complete(std::unique_ptr<Activation> record);
  // Looks up `label` for the input `use` of `record`; false, and `record` is
  // taken, if it is unbound.
  bool LookUp(const Label& label, int use, std::unique_ptr<Activation>& record);

  const Relations& relations_;
  const NeededTasks& needed_;
  std::vector<RankedUses> orders_;  // by class
  const int stripe_bits_;
  std::vector<Stripe> stripes_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_INPUT_TABLE_H_
