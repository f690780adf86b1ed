// Affinity: which labels have one key, and so one home; and how much of the
// work each key has.
#ifndef DOGGED_RUNTIME_GRAPH_KEYS_AFFINITY_H_
#define DOGGED_RUNTIME_GRAPH_KEYS_AFFINITY_H_

#include <cstdint>
#include <vector>

#include "runtime/base/label.h"
#include "runtime/graph/program.h"

namespace dogged {

// See Array::affinity_block.
uint64_t AffinityKey(const Array& array, const IndexVector& index);
// All versions of a row have one key: its home knows how far they are. False
// where the program's `place` names the version's index.
bool HasRowsTogether(const Array& array);

struct KeyTasks {
  uint64_t key = 0;
  int64_t tasks = 0;  // at least 1
  friend bool operator==(const KeyTasks&, const KeyTasks&) = default;
};

// The keys that tasks have their home at, by their first creates, and how many
// tasks: exact, but where counting takes long; there it may be more. In order
// of the indices, as far as one class has them: slabs after their neighbours.
// None if there are more than `keys_max`, or some times so many ranges of
// indices to be looked at.
//
// Cost: some milliseconds at most, whatever the program.
std::vector<KeyTasks> TasksByKey(const Program& program, int64_t keys_max);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_KEYS_AFFINITY_H_
