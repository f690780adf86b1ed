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
#include "runtime/graph/program.h"

namespace dogged {

// All integer points of a domain that an affine map sends to one image.
// The equations are brought to a form in which each fixes the innermost index
// that it mentions, so that solving walks the indices outside in: an index is
// either fixed by an equation or runs over its bounds.
class InverseMap {
 public:
  InverseMap() = default;
  InverseMap(const AffineMap& map, const Domain& domain);

  // At most one point has a given image, whatever the domain.
  bool IsInjective() const { return free_count_ == 0; }
  // Calls `visit` for each point of the domain with map(point) == image, in
  // lexicographic order, until it returns false; then returns false itself.
  bool ForEach(const IndexVector& image,
               absl::FunctionRef<bool(const IndexVector&)> visit) const;

 private:
  // sum(row.coefficients * index) == sum(row.image * image) + constant, where
  // the last non-zero coefficient is that of the index that it fixes.
  struct Row {
    std::vector<int64_t> coefficients;
    std::vector<int64_t> image;
    int64_t constant = 0;
  };
  bool Solve(const IndexVector& image, IndexVector& index,
             absl::FunctionRef<bool(const IndexVector&)> visit) const;

  const Domain* domain_ = nullptr;
  int image_size_ = 0;
  int free_count_ = 0;
  std::vector<int> row_of_index_;  // -1: the index is free
  std::vector<Row> rows_;
  std::vector<Row> image_conditions_;  // no index left: must hold of the image
};

class Relations {
 public:
  // `program` has passed Validate().
  explicit Relations(const Program& program);

  const Program& program() const { return *program_; }

  // The task that creates `label`; none if no task does. O(classes that
  // create the array).
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

  // Calls visit(task, use) for each task that requires `label`, once per use,
  // until it returns false; then returns false itself.
  bool ForEachConsumer(
      const Label& label,
      absl::FunctionRef<bool(const Task& task, int use)> visit) const;
  int64_t ConsumerCount(const Label& label) const;

  bool IsTask(const Task& task) const;
  bool IsResult(const Label& label) const;
  // Calls `visit` for every result label, set by set, until it returns false.
  bool ForEachResult(absl::FunctionRef<bool(const Label&)> visit) const;

 private:
  struct Creator {
    int32_t task_class;
    InverseMap inverse;
  };
  struct Consumer {
    int32_t task_class;
    int use;
    InverseMap inverse;
  };
  const Program* program_;
  std::vector<std::vector<Creator>> creators_;    // by array
  std::vector<std::vector<Consumer>> consumers_;  // by array
  std::vector<InverseMap> results_;               // by result set
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_RELATIONS_H_
