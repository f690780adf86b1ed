// ChunkReaders: the tasks of this agent that read chunks. A task has a pin on
// each chunk that it reads, from the time that it wants to run until it has
// run; it is ready once all of them are in memory.
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_CHUNK_READERS_H_
#define DOGGED_RUNTIME_JOB_INPUTS_CHUNK_READERS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/task.h"
#include "runtime/job/inputs/chunk_layout.h"
#include "runtime/job/inputs/chunk_words.h"
#include "runtime/job/inputs/held_chunks.h"

namespace dogged {

class ChunkReaders {
 public:
  ChunkReaders(const ChunkLayout& layout, HeldChunks& held)
      : layout_(layout), held_(held) {}
  ChunkReaders(const ChunkReaders&) = delete;
  ChunkReaders& operator=(const ChunkReaders&) = delete;

  // Pins what `task` reads, unless that is done; the chunks that are missing
  // are appended to `missing`. True if none is.
  bool Pin(const Task& task, const Kernel& kernel, ChunkPositions& missing);
  // Chunks that no task waits for any more, as `task` does not.
  ChunkPositions Unpin(const Task& task);
  // A chunk is in memory.
  void NoteArrived(int64_t at);
  // Tasks that have become ready since the last call.
  std::vector<Task> TakeReady() { return std::exchange(ready_, {}); }

  bool IsAwaited(int64_t at) const { return awaiting_.contains(at); }
  ChunkPositions Awaited() const;
  // Bytes of all chunks that tasks wait for, counted for each task.
  int64_t awaited_bytes() const { return awaited_bytes_; }
  // Bytes that all tasks that were pinned have read.
  int64_t read_bytes() const { return read_bytes_; }

 private:
  struct Waiting {
    int64_t missing = 0;  // chunks
    ChunkPositions chunks;
  };

  const ChunkLayout& layout_;
  HeldChunks& held_;
  absl::flat_hash_map<Task, Waiting> tasks_;  // pinned, or waiting
  absl::flat_hash_map<int64_t, std::vector<Task>> awaiting_;
  std::vector<Task> ready_;
  int64_t awaited_bytes_ = 0;
  int64_t read_bytes_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_CHUNK_READERS_H_
