#include "runtime/job/inputs/chunk_readers.h"

#include <algorithm>

namespace dogged {

bool ChunkReaders::Pin(const Task& task, const Kernel& kernel,
                       ChunkPositions& missing) {
  const auto [it, is_new] = tasks_.try_emplace(task);
  Waiting& waiting = it->second;
  if (!is_new) return waiting.missing == 0;
  kernel.ForEachInputRead(task, [&](int32_t position, const DenseBox& box) {
    const int64_t first = layout_.PositionOf(ChunkId{position, 0});
    if (first < 0) return;  // it travels in the job
    const ChunkGrid& grid = layout_.GridOf(position);
    read_bytes_ += ElementCount(box.extents) * ElementBytes(grid.element);
    grid.ForEachIn(
        box, [&](int64_t index) { waiting.chunks.push_back(first + index); });
  });
  std::sort(waiting.chunks.begin(), waiting.chunks.end());
  waiting.chunks.erase(
      std::unique(waiting.chunks.begin(), waiting.chunks.end()),
      waiting.chunks.end());
  for (const int64_t at : waiting.chunks) {
    held_.Pin(at);
    if (held_.IsHeld(at)) continue;
    ++waiting.missing;
    awaiting_[at].push_back(task);
    awaited_bytes_ += layout_.BytesOf(at);
    missing.push_back(at);
  }
  return waiting.missing == 0;
}

ChunkPositions ChunkReaders::Unpin(const Task& task) {
  ChunkPositions out;
  const auto it = tasks_.find(task);
  if (it == tasks_.end()) return out;
  for (const int64_t at : it->second.chunks) {
    held_.Unpin(at);
    const auto others = awaiting_.find(at);
    if (others == awaiting_.end()) continue;
    std::vector<Task>& tasks = others->second;
    const auto self = std::find(tasks.begin(), tasks.end(), task);
    if (self == tasks.end()) continue;
    awaited_bytes_ -= layout_.BytesOf(at);
    tasks.erase(self);
    if (!tasks.empty()) continue;
    awaiting_.erase(others);
    out.push_back(at);
  }
  tasks_.erase(it);
  held_.Evict();
  return out;
}

void ChunkReaders::NoteArrived(int64_t at) {
  const auto it = awaiting_.find(at);
  if (it == awaiting_.end()) return;
  const int64_t bytes = layout_.BytesOf(at);
  for (const Task& task : it->second) {
    awaited_bytes_ -= bytes;
    const auto waiting = tasks_.find(task);
    if (waiting != tasks_.end() && --waiting->second.missing == 0) {
      ready_.push_back(task);
    }
  }
  awaiting_.erase(it);
}

ChunkPositions ChunkReaders::Awaited() const {
  ChunkPositions out;
  for (const auto& [at, tasks] : awaiting_) out.push_back(at);
  return out;
}

}  // namespace dogged
