// ValueMemory: the port through which the bytes of values come from elsewhere
// than the heap: an arena that other processes map, or another's arena.
#ifndef DOGGED_RUNTIME_BASE_VALUE_MEMORY_H_
#define DOGGED_RUNTIME_BASE_VALUE_MEMORY_H_

#include <cstdint>

namespace dogged {

// Thread-safe.
class ValueMemory {
 public:
  virtual ~ValueMemory() = default;
  // `bytes` of memory, aligned to 64; null: take it from the heap.
  virtual void* Take(int64_t bytes) = 0;
  // Returns memory of Take(), which no value uses any more.
  virtual void Give(void* data, int64_t bytes) = 0;
  // The owner of the memory is gone: the processes that map it keep it, as a
  // whole, until the last of them ends its mapping. A value that is to stay is
  // better copied.
  virtual bool IsOrphaned() const { return false; }
};

// New values of the process come from `memory` from now on, which outlives
// them; null: from the heap.
void SetValueMemory(ValueMemory* memory);
// The last one set.
ValueMemory* CurrentValueMemory();

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_VALUE_MEMORY_H_
