// The three maps of a program: producer, requires and consumers, each exact,
// from the formulae alone. O(size of the description) memory for any number
// of tasks. Immutable, thread-safe; the program must outlive it.
//
// Source: [REM] "Dependency Description", producer and requires; [DAGuE] for
// consumers as the inverse of requires.
#ifndef DOGGED_RUNTIME_GRAPH_RELATIONS_H_
#define DOGGED_RUNTIME_GRAPH_RELATIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/label.h"
#include "runtime/graph/entry_index.h"
#include "runtime/graph/inverse_map.h"
#include "runtime/graph/program.h"
#include "runtime/graph/use_inverse.h"

namespace dogged {

class Relations {
 public:
  // `program` has passed Validate().
  explicit Relations(const Program& program);

  const Program& program() const { return *program_; }
  const Array& ArrayOf(const Label& label) const {
    return program_->ArrayOf(label);
  }
  const TaskClass& ClassOf(const Task& task) const {
    return program_->ClassOf(task);
  }

  // The task that creates `label`; none if no task does. O(classes that
  // create the array and have no other number where the label has its own).
  std::optional<Task> ProducerOf(const Label& label) const;

  // Calls visit(position of the use, label) for each label that `task`
  // requires, in order of the uses. Uses whose guard fails are left out.
  void ForEachRequired(
      const Task& task,
      absl::FunctionRef<void(int use, const Label& label)> visit) const;
  // How many calls that would be.
  int RequiredCount(const Task& task) const;

  // Calls visit(position of the create, label) for each label it creates.
  void ForEachCreated(
      const Task& task,
      absl::FunctionRef<void(int create, const Label& label)> visit) const;
  // The label that decides where the task's home is: its first.
  Label FirstCreated(const Task& task) const;

  // A map from a label to tasks of one class that require it by one use.
  struct Consumer {
    int32_t task_class;
    int use;
    UseInverse inverse;  // the use's guard included
  };
  // All of them; ForEachConsumer() goes through them in this order.
  const std::vector<Consumer>& ConsumersOf(int32_t array) const {
    return consumers_[array];
  }
  // Position of the first of them from `at` on that may have a task which
  // requires `label`; their number if there is none.
  size_t NextConsumer(const Label& label, size_t at) const {
    return static_cast<size_t>(consumers_by_entry_[label.array].Next(
        label.index, static_cast<int64_t>(at)));
  }
  // Calls visit(task, use) for each task that requires `label`, once per use,
  // until it returns false; then returns false itself.
  bool ForEachConsumer(
      const Label& label,
      absl::FunctionRef<bool(const Task& task, int use)> visit) const;
  int64_t ConsumerCount(const Label& label) const;

  bool IsTask(const Task& task) const;
  bool IsResult(const Label& label) const;
  // Calls visit(result set, point) for each point that is `label`, until it
  // returns false; then returns false itself.
  bool ForEachResultPoint(
      const Label& label,
      absl::FunctionRef<bool(size_t set, const IndexVector& point)> visit)
      const;
  // Calls `visit` for every result label, set by set, until it returns false.
  bool ForEachResult(absl::FunctionRef<bool(const Label&)> visit) const;

 private:
  struct Creator {
    int32_t task_class;
    InverseMap inverse;
  };
  const Program* program_;
  std::vector<std::vector<Creator>> creators_;    // by array
  std::vector<std::vector<Consumer>> consumers_;  // by array
  std::vector<EntryIndex> creators_by_entry_;     // by array
  std::vector<EntryIndex> consumers_by_entry_;    // by array
  std::vector<InverseMap> results_;               // by result set
};

// ConsumerCursor: the consumers of one label, run by run, for callers that
// can't take them all at once. O(1) memory however many there are. Not
// thread-safe.
class ConsumerCursor {
 public:
  // `relations` must outlive the cursor.
  ConsumerCursor(const Relations& relations, const Label& label);
  // Begins behind the consumer `last`, by its use `use`.
  ConsumerCursor(const Relations& relations, const Label& label,
                 const Task& last, int use);
  // How many of up to `max` consumers come next: first(), and tasks with a
  // larger index along(), all by the same use. 0 at the end. The order is that
  // of Relations::ForEachConsumer().
  int64_t NextRun(int64_t max);
  const Task& first() const { return first_; }
  int along() const { return points_->along(); }
  int use() const { return use_; }

 private:
  const Relations& relations_;
  const Label label_;
  size_t at_ = 0;     // of the label's consumers
  int64_t part_ = 0;  // of its points
  std::optional<DomainCursor> points_;
  Task first_;
  int use_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_RELATIONS_H_
