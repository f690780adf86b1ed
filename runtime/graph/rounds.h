// Rounds: how far a program's loop is known to go. A program with a Repeat is
// described for its last round; the tasks of a round beyond the known ones are
// not to be run yet, and which labels are results depends on where it ends.
// Without a Repeat there is one round, and it has ended.
//
// Source: [REM] on hierarchical tasks: "top-level graph and sub-graphs are all
// finite". ADR-26.
//
// A data structure; not thread-safe.
#ifndef DOGGED_RUNTIME_GRAPH_ROUNDS_H_
#define DOGGED_RUNTIME_GRAPH_ROUNDS_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/program.h"
#include "runtime/graph/relations.h"

namespace dogged {

// `program`, which has a Repeat, as one whose loop has ended at `time`: with
// the tasks and results until then, and without a Repeat.
Program ProgramAt(const Program& program, int64_t time);
// As if a loop, if there is one, went on to its last round.
Program WholeProgram(const Program& program);

class Rounds {
 public:
  // `relations` and its program outlive this.
  explicit Rounds(const Relations& relations);

  bool IsLoop() const { return repeat_ != nullptr; }
  // The newest round that is known to exist, from 0.
  int64_t round() const { return round_; }
  // That round is the last one.
  bool HasEnded() const { return has_ended_; }
  // The loop's parameter in that round.
  int64_t time() const { return time_; }
  // The loop's parameter in the last round that there may be.
  int64_t time_max() const { return IsLoop() ? repeat_->last : 0; }

  // The round of `task` is not known to exist.
  bool IsAhead(const Task& task) const {
    return IsLoop() &&
           repeat_->class_time[task.task_class].Evaluate(task.index) > time_;
  }
  // The label that says whether the newest known round is the last one; none
  // once that is known.
  std::optional<Label> Condition() const;
  bool IsCondition(const Label& label) const {
    return IsLoop() && label.array == repeat_->array;
  }
  // Learns from the value of a condition. True if that was news.
  bool Note(const Label& condition, const Value& value);
  // Learns that this round exists, and perhaps that it is the last. True if
  // that was news.
  bool Raise(int64_t round, bool is_last);

  // A result, or one if the loop ends soon: it is to be kept. The condition
  // counts while it is not known, and that of the last round that there may be.
  bool IsResult(const Label& label) const;
  // As many times as it is a result; 0 for those that only may become one.
  int64_t ResultsAt(const Label& label) const;
  // Visits the labels to demand: the condition, then the results, with the
  // condition if that round is the last that there may be.
  bool ForEachDemanded(absl::FunctionRef<bool(const Label&)> visit) const;
  // The number of results; none while that is not known.
  std::optional<int64_t> ResultCount() const;
  // Tasks of the known rounds.
  int64_t TaskCount() const;

 private:
  bool IsLastCondition(const Label& label) const;
  bool IsResultPoint(size_t set, const IndexVector& point) const;

  const Relations& relations_;
  const Repeat* repeat_;
  int64_t round_ = 0;
  int64_t time_ = 0;
  bool has_ended_ = true;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_ROUNDS_H_
