#include "runtime/job/inputs/held_chunks.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace dogged {
namespace {

// As long as so much is on its way to the disk, nothing more is asked for.
constexpr int64_t kWritingBytesHigh = 32 << 20;
// Chunks that no task uses take at most this part of bounded memory.
constexpr int64_t kShareOfMemory = 8;
// Chunks that are examined for eviction at a time.
constexpr int kLooksMax = 64;

}  // namespace

class ChunkTable : public ChunkSource {
 public:
  Value Find(const ChunkId& chunk) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = values_.find(chunk);
    return it == values_.end() ? Value() : it->second;
  }
  void Put(const ChunkId& chunk, Value value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_[chunk] = std::move(value);
  }
  void Erase(const ChunkId& chunk) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_.erase(chunk);
  }

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_map<ChunkId, Value> values_;
};

HeldChunks::HeldChunks(const Options& options, const ChunkLayout& layout)
    : options_(options),
      layout_(layout),
      chunks_(layout.size()),
      table_(std::make_shared<ChunkTable>()) {}

HeldChunks::~HeldChunks() = default;

std::shared_ptr<const ChunkSource> HeldChunks::source() const { return table_; }

Value HeldChunks::ValueOf(int64_t at) const {
  return table_->Find(layout_.IdOf(at));
}

void HeldChunks::Load(int64_t at) {
  if (std::exchange(Find(at).is_loading, true)) return;
  options_.store->Load(options_.job, layout_.LabelOf(at));
}

void HeldChunks::Hold(int64_t at, const Value& value) {
  Chunk& chunk = Find(at);
  if (std::exchange(chunk.is_held, true)) return;
  table_->Put(layout_.IdOf(at), value);
  ++count_;
  bytes_ += value.bytes();
  if (!chunk.is_kept) loose_bytes_ += value.bytes();
  resident_.push_back(at);
  if (chunk.is_kept) Keep(at, true);
  Evict();
}

void HeldChunks::Keep(int64_t at, bool is_kept) {
  Chunk& chunk = Find(at);
  const int64_t bytes = chunk.is_held ? layout_.BytesOf(at) : 0;
  if (chunk.is_kept != is_kept) loose_bytes_ += is_kept ? -bytes : bytes;
  chunk.is_kept = is_kept;
  if (!is_kept || !chunk.is_held || chunk.is_on_disk ||
      options_.store == nullptr ||
      (options_.memory_bytes_max == 0 && !options_.keeps_values)) {
    return;
  }
  chunk.is_on_disk = true;
  if (options_.keeps_values) writing_bytes_ += layout_.BytesOf(at);
  (void)options_.store->Write(options_.job, layout_.LabelOf(at), ValueOf(at));
}

void HeldChunks::KeepForClient(bool is_there) {
  for (int64_t at = 0; at < layout_.size(); ++at) {
    Keep(at, is_there || (IsKept(at) && IsHere(at)));
  }
}

void HeldChunks::Drop(int64_t at) {
  Chunk& chunk = Find(at);
  if (!std::exchange(chunk.is_held, false)) return;
  const int64_t bytes = layout_.BytesOf(at);
  table_->Erase(layout_.IdOf(at));
  --count_;
  bytes_ -= bytes;
  if (!chunk.is_kept) loose_bytes_ -= bytes;
}

void HeldChunks::Evict() {
  const int64_t bound = options_.memory_bytes_max / kShareOfMemory;
  const int64_t cache =
      bound > 0 ? std::min(bound, options_.cache_bytes) : options_.cache_bytes;
  for (int looks = 0; looks < kLooksMax && !resident_.empty(); ++looks) {
    if (loose_bytes_ <= cache && (bound == 0 || bytes_ <= bound)) return;
    const int64_t at = resident_.front();
    resident_.pop_front();
    const Chunk& chunk = Find(at);
    if (!chunk.is_held) continue;
    const bool is_used = chunk.pins > 0 || chunk.is_awaited;
    if (is_used || (chunk.is_kept && !chunk.is_written)) {
      resident_.push_back(at);
    } else {
      Drop(at);
    }
  }
}

bool HeldChunks::IsDiskBehind() const {
  return options_.store != nullptr &&
         options_.store->writing_bytes() >= kWritingBytesHigh;
}

HeldChunks::DiskNews HeldChunks::OnDisk(int64_t at,
                                        const ValueStore::Event& event) {
  Chunk& chunk = Find(at);
  switch (event.kind) {
    case ValueStore::Event::Kind::kWritten:
      chunk.is_written = chunk.is_on_disk;
      if (options_.keeps_values) writing_bytes_ -= layout_.BytesOf(at);
      Evict();
      return DiskNews::kNone;
    case ValueStore::Event::Kind::kLoaded:
      chunk.is_loading = false;
      if (event.value.digest() == layout_.DigestOf(at) &&
          event.value.bytes() == layout_.BytesOf(at)) {
        Hold(at, event.value);
        return DiskNews::kArrived;
      }
      [[fallthrough]];
    case ValueStore::Event::Kind::kLost:
      chunk.is_loading = chunk.is_on_disk = chunk.is_written = false;
      return DiskNews::kLost;
    case ValueStore::Event::Kind::kFound:
      if (event.value.digest() != layout_.DigestOf(at)) return DiskNews::kNone;
      chunk.is_on_disk = chunk.is_written = true;
      Keep(at, true);
      return DiskNews::kNone;
    case ValueStore::Event::Kind::kFailed:
      // The disk takes no more: nobody waits for it.
      writing_bytes_ -= std::min(writing_bytes_, layout_.BytesOf(at));
      return DiskNews::kNone;
    case ValueStore::Event::Kind::kScanned:
      return DiskNews::kNone;
  }
  return DiskNews::kNone;
}

void HeldChunks::CopyOrphans() {
  for (const int64_t at : resident_) {
    if (!IsHeld(at)) continue;
    const Value value = ValueOf(at);
    if (value.IsOrphan()) table_->Put(layout_.IdOf(at), value.Copy());
  }
}

void HeldChunks::Release(bool drops) {
  resident_.clear();
  for (int64_t at = 0; at < layout_.size(); ++at) {
    Keep(at, false);
    Find(at).is_awaited = false;
    if (drops && Find(at).pins == 0) Drop(at);
    if (IsHeld(at)) resident_.push_back(at);
  }
}

}  // namespace dogged
