// The tasks of a program that require nothing: where forward execution starts.
// Found from the guards, not by looking at every task.
#ifndef DOGGED_RUNTIME_EXEC_LEAVES_H_
#define DOGGED_RUNTIME_EXEC_LEAVES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/graph/program.h"
#include "runtime/graph/relations.h"

namespace dogged {

// Domains that do not overlap and together contain every task of `task_class`
// that requires nothing. They may contain others (where a guard is not affine,
// or too branched): the caller checks each point.
std::vector<Domain> LeafDomains(const TaskClass& task_class);

// Gives out the leaves of a program one by one, class by class. O(1) memory.
// Not thread-safe.
class LeafCursor {
 public:
  // `relations` must outlive the cursor. A program that repeats gives only
  // leaves with after < time <= until.
  explicit LeafCursor(const Relations& relations, int64_t after = INT64_MIN,
                      int64_t until = INT64_MAX);
  // The next leaf; none at the end.
  std::optional<Task> Next();
  // Number of tasks that come next, up to `max`: first() and tasks with a
  // larger index along(). 0 at the end. IsLeaf() tells which of these are
  // leaves.
  int64_t NextRun(int64_t max);
  const Task& first() const { return first_; }
  int along() const { return points_->along(); }
  // All were given out. May turn true only after one more call.
  bool IsAtEnd() const { return at_ == parts_.size(); }
  bool IsLeaf(const Task& task) const {
    return relations_.RequiredCount(task) == 0;
  }

 private:
  struct Part {
    int32_t task_class;
    Domain domain;
  };
  const Relations& relations_;
  std::vector<Part> parts_;
  size_t at_ = 0;
  std::optional<DomainCursor> points_;  // of the part at_
  Task first_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_LEAVES_H_
