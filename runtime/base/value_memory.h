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
  // What Take() gave; nobody holds that value any more.
  virtual void Give(void* data, int64_t bytes) = 0;
  // Whose memory it is has gone: it is kept by those who map it, as a whole,
  // until the last of them lets go. Better to copy what is to stay.
  virtual bool IsOrphaned() const { return false; }
};

// From now on values that are made come from `memory`, which outlives them;
// null: from the heap. For the whole process.
void SetValueMemory(ValueMemory* memory);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_VALUE_MEMORY_H_
