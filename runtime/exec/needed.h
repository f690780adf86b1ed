// NeededTasks: which tasks some result needs. Where the maker of the program
// has proved that all are, this holds nothing; elsewhere it marks backwards
// from the results, one bit for each point of the box around a task class.
// Immutable once made; thread-safe.
#ifndef DOGGED_RUNTIME_EXEC_NEEDED_H_
#define DOGGED_RUNTIME_EXEC_NEEDED_H_

#include <cstdint>
#include <vector>

#include "runtime/graph/relations.h"

namespace dogged {

class NeededTasks {
 public:
  // Bits that marking may take; beyond, every task is taken to be needed,
  // which is never wrong, only slower.
  static constexpr int64_t kBitsMax = int64_t{1} << 31;

  // `relations` must outlive this. O(needed tasks) unless all are.
  explicit NeededTasks(const Relations& relations);

  bool Contains(const Task& task) const {
    return all_ || Bit(task.task_class, OffsetOf(task));
  }
  // Known without looking at tasks.
  bool IsAll() const { return all_; }
  int64_t count() const { return count_; }

 private:
  // The box around a domain, and where its bits begin.
  struct Box {
    IndexVector lower;
    IndexVector extent;
    int64_t begin = 0;
  };
  bool MakeBoxes();
  void MarkFromResults();
  bool Bit(int32_t task_class, int64_t offset) const;
  // Row by row within the box of the task's class.
  int64_t OffsetOf(const Task& task) const;

  const Relations& relations_;
  bool all_ = false;
  int64_t count_ = 0;
  std::vector<Box> boxes_;  // by class
  std::vector<uint64_t> words_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_NEEDED_H_
