#include "runtime/job/input_chunks.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// As long as so much is on its way to the disk, nothing more is asked for.
constexpr int64_t kWritingBytesMax = 32 << 20;
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

InputChunks::InputChunks(Options options, const Job& job)
    : options_(std::move(options)),
      limits_(options_.limits),
      table_(std::make_shared<ChunkTable>()) {
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const JobInput& input = job.inputs[i];
    names_.push_back(input.array);
    grids_.push_back(input.grid);
    first_.push_back(std::ssize(chunks_));
    for (size_t c = 0; c < input.chunks.size(); ++c) {
      Chunk chunk;
      chunk.digest = input.chunks[c];
      chunk.id = {static_cast<int32_t>(i), static_cast<int64_t>(c)};
      chunks_.push_back(std::move(chunk));
    }
  }
  first_.push_back(std::ssize(chunks_));
}

InputChunks::~InputChunks() = default;

bool InputChunks::IsNeededFor(const Job& job) {
  return std::any_of(job.inputs.begin(), job.inputs.end(),
                     [](const JobInput& input) { return input.IsInChunks(); });
}

std::shared_ptr<const ChunkSource> InputChunks::source() const {
  return table_;
}

int64_t InputChunks::PositionOf(const ChunkId& id) const {
  if (id.input < 0 || id.input >= static_cast<int32_t>(grids_.size())) {
    return -1;
  }
  const auto i = static_cast<size_t>(id.input);
  const bool is_one = id.index >= 0 && id.index < first_[i + 1] - first_[i];
  return is_one ? first_[i] + id.index : -1;
}

int64_t InputChunks::BytesOf(const Chunk& chunk) const {
  return grids_[static_cast<size_t>(chunk.id.input)].BytesOf(chunk.id.index);
}

Label InputChunks::LabelOf(const ChunkId& id) {
  return {kArrayOnDisk, {id.input, id.index}};
}

Value InputChunks::ValueOf(const Chunk& chunk, absl::string_view bytes) const {
  if (static_cast<int64_t>(bytes.size()) != BytesOf(chunk)) return Value();
  const ChunkGrid& grid = grids_[static_cast<size_t>(chunk.id.input)];
  Value out = Value::Allocate(grid.element, grid.BoxOf(chunk.id.index).extents);
  std::memcpy(out.mutable_data(), bytes.data(), bytes.size());
  out.Seal();
  return out;
}

// --- tasks

bool InputChunks::Pin(const Task& task, const Kernel& kernel) {
  const auto [it, is_new] = tasks_.try_emplace(task);
  Waiting& waiting = it->second;
  if (!is_new) return waiting.missing == 0;
  kernel.ForEachInputRead(task, [&](int32_t position, const DenseBox& box) {
    const int64_t first = PositionOf({position, 0});
    if (first < 0) return;  // it travels in the job
    const ChunkGrid& grid = grids_[static_cast<size_t>(position)];
    counts_.read_bytes +=
        ElementCount(box.extents) * ElementBytes(grid.element);
    grid.ForEachIn(
        box, [&](int64_t index) { waiting.chunks.push_back(first + index); });
  });
  std::sort(waiting.chunks.begin(), waiting.chunks.end());
  waiting.chunks.erase(
      std::unique(waiting.chunks.begin(), waiting.chunks.end()),
      waiting.chunks.end());
  for (const int64_t at : waiting.chunks) {
    Chunk& chunk = chunks_[static_cast<size_t>(at)];
    ++chunk.pins;
    if (chunk.is_held) continue;
    ++waiting.missing;
    awaiting_[at].push_back(task);
    awaited_bytes_ += BytesOf(chunk);
    Want(at);
  }
  return waiting.missing == 0;
}

void InputChunks::Unpin(const Task& task) {
  const auto it = tasks_.find(task);
  if (it == tasks_.end()) return;
  for (const int64_t at : it->second.chunks) {
    Chunk& chunk = chunks_[static_cast<size_t>(at)];
    --chunk.pins;
    const auto others = awaiting_.find(at);
    if (others == awaiting_.end()) continue;
    std::vector<Task>& tasks = others->second;
    const auto self = std::find(tasks.begin(), tasks.end(), task);
    if (self == tasks.end()) continue;
    awaited_bytes_ -= BytesOf(chunk);
    tasks.erase(self);
    if (!tasks.empty()) continue;
    awaiting_.erase(others);
    if (!chunk.is_kept) searches_.erase(at);
  }
  tasks_.erase(it);
  Evict();
}

std::vector<Task> InputChunks::TakeReady() { return std::exchange(ready_, {}); }

// --- what is here

Value InputChunks::Held(const Chunk& chunk) const {
  return table_->Find(chunk.id);
}

void InputChunks::Want(int64_t at) {
  Chunk& chunk = chunks_[static_cast<size_t>(at)];
  if (chunk.is_held) return;
  if (chunk.is_written) return Load(chunk);
  if (has_supplier_) {
    supply_first_.push_back(at);
  } else {
    searches_.try_emplace(at);
  }
}

void InputChunks::Load(Chunk& chunk) {
  if (std::exchange(chunk.is_loading, true)) return;
  options_.store->Load(options_.hash, LabelOf(chunk.id));
}

void InputChunks::Hold(int64_t at, const Value& value) {
  Chunk& chunk = chunks_[static_cast<size_t>(at)];
  if (std::exchange(chunk.is_held, true)) return;
  table_->Put(chunk.id, value);
  ++held_count_;
  held_bytes_ += value.bytes();
  if (!chunk.is_kept) loose_bytes_ += value.bytes();
  resident_.push_back(at);
  if (chunk.is_kept) Keep(chunk, true);
  Evict();
}

void InputChunks::Keep(Chunk& chunk, bool is_kept) {
  const int64_t bytes = chunk.is_held ? BytesOf(chunk) : 0;
  if (chunk.is_kept != is_kept) loose_bytes_ += is_kept ? -bytes : bytes;
  chunk.is_kept = is_kept;
  if (!is_kept || !chunk.is_held || chunk.is_on_disk ||
      options_.store == nullptr || options_.memory_bytes_max == 0) {
    return;
  }
  chunk.is_on_disk = true;
  (void)options_.store->Write(options_.hash, LabelOf(chunk.id),
                              table_->Find(chunk.id));
}

void InputChunks::Drop(int64_t at) {
  Chunk& chunk = chunks_[static_cast<size_t>(at)];
  if (!std::exchange(chunk.is_held, false)) return;
  const int64_t bytes = BytesOf(chunk);
  table_->Erase(chunk.id);
  --held_count_;
  held_bytes_ -= bytes;
  if (!chunk.is_kept) loose_bytes_ -= bytes;
}

void InputChunks::Evict() {
  const int64_t bound = options_.memory_bytes_max / kShareOfMemory;
  const int64_t cache = bound > 0 ? std::min(bound, limits_.input_cache_bytes)
                                  : limits_.input_cache_bytes;
  for (int looks = 0; looks < kLooksMax && !resident_.empty(); ++looks) {
    if (loose_bytes_ <= cache && (bound == 0 || held_bytes_ <= bound)) return;
    const int64_t at = resident_.front();
    resident_.pop_front();
    const Chunk& chunk = chunks_[static_cast<size_t>(at)];
    if (!chunk.is_held) continue;
    const bool is_used = chunk.pins > 0 || waiters_.contains(at);
    if (is_used || (chunk.is_kept && !chunk.is_written)) {
      resident_.push_back(at);
    } else {
      Drop(at);
    }
  }
}

void InputChunks::Arrived(int64_t at) {
  searches_.erase(at);
  const auto it = awaiting_.find(at);
  if (it == awaiting_.end()) return;
  const int64_t bytes = BytesOf(chunks_[static_cast<size_t>(at)]);
  for (const Task& task : it->second) {
    awaited_bytes_ -= bytes;
    const auto waiting = tasks_.find(task);
    if (waiting != tasks_.end() && --waiting->second.missing == 0) {
      ready_.push_back(task);
    }
  }
  awaiting_.erase(it);
}

void InputChunks::OnDisk(const ValueStore::Event& event) {
  if (event.label.index.size() != 2) return;
  const int64_t input = event.label.index[0];
  if (input < 0 || input >= std::ssize(grids_)) return;
  const int64_t at =
      PositionOf({static_cast<int32_t>(input), event.label.index[1]});
  if (at < 0) return;
  Chunk& chunk = chunks_[static_cast<size_t>(at)];
  switch (event.kind) {
    case ValueStore::Event::Kind::kWritten:
      chunk.is_written = chunk.is_on_disk;
      return Evict();
    case ValueStore::Event::Kind::kLoaded:
      chunk.is_loading = false;
      if (event.value.digest() == chunk.digest &&
          event.value.bytes() == BytesOf(chunk)) {
        Hold(at, event.value);
        return Arrived(at);
      }
      [[fallthrough]];
    case ValueStore::Event::Kind::kLost:
      chunk.is_loading = chunk.is_on_disk = chunk.is_written = false;
      chunk.is_partner_sure = are_all_partnered_ = false;
      return Want(at);
    case ValueStore::Event::Kind::kFound:
      if (event.value.digest() != chunk.digest) return;
      chunk.is_on_disk = chunk.is_written = true;
      return Keep(chunk, true);
    case ValueStore::Event::Kind::kScanned:
    case ValueStore::Event::Kind::kFailed:
      return;
  }
}

void InputChunks::CopyOrphans() {
  for (const int64_t at : resident_) {
    const Chunk& chunk = chunks_[static_cast<size_t>(at)];
    if (!chunk.is_held) continue;
    const Value value = table_->Find(chunk.id);
    if (value.IsOrphan()) table_->Put(chunk.id, value.Copy());
  }
}

void InputChunks::Release() {
  for (size_t i = 0; i < chunks_.size(); ++i) {
    Keep(chunks_[i], false);
    if (chunks_[i].pins == 0) Drop(static_cast<int64_t>(i));
  }
  resident_.clear();
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i].is_held) resident_.push_back(static_cast<int64_t>(i));
  }
  searches_.clear();
  waiters_.clear();
  holders_wanted_.clear();
  has_supplier_ = is_keeper_ = false;
}

// --- the client

void InputChunks::SetSupplier(bool is_there) {
  being_supplied_.clear();
  supply_first_.clear();
  supply_bytes_ = 0;
  next_to_supply_ = 0;
  has_supplier_ = is_there;
  are_all_partnered_ = false;
  if (is_there) {
    is_keeper_ = true;
    lost_ = absl::OkStatus();
    searches_.clear();
  }
  for (size_t i = 0; i < chunks_.size(); ++i) {
    // Without the client it keeps its chunks.
    Keep(chunks_[i], is_there || (chunks_[i].is_kept && IsHere(chunks_[i])));
  }
  for (const auto& [at, tasks] : awaiting_) Want(at);
}

std::vector<ChunkId> InputChunks::TakeWishes() {
  std::vector<ChunkId> out;
  const auto next = [this]() -> int64_t {
    while (!supply_first_.empty()) {
      const int64_t at = supply_first_.front();
      supply_first_.pop_front();
      if (!IsHere(chunks_[static_cast<size_t>(at)]) &&
          !being_supplied_.contains(at)) {
        return at;
      }
    }
    while (next_to_supply_ < std::ssize(chunks_)) {
      const int64_t at = next_to_supply_++;
      if (!IsHere(chunks_[static_cast<size_t>(at)]) &&
          !being_supplied_.contains(at)) {
        return at;
      }
    }
    return -1;
  };
  while (has_supplier_ && supply_bytes_ < limits_.input_supply_bytes &&
         (options_.store == nullptr ||
          options_.store->writing_bytes() < kWritingBytesMax)) {
    const int64_t at = next();
    if (at < 0) break;
    const Chunk& chunk = chunks_[static_cast<size_t>(at)];
    being_supplied_.insert(at);
    supply_bytes_ += BytesOf(chunk);
    out.push_back(chunk.id);
  }
  return out;
}

absl::Status InputChunks::Supply(const ChunkId& id, absl::string_view bytes) {
  const int64_t at = PositionOf(id);
  if (at < 0) return absl::InvalidArgumentError("a chunk of no input");
  Chunk& chunk = chunks_[static_cast<size_t>(at)];
  const Value value = ValueOf(chunk, bytes);
  if (value.IsNone() || value.digest() != chunk.digest) {
    return absl::FailedPreconditionError(
        absl::StrCat("input ", names_[static_cast<size_t>(id.input)],
                     ": its file is not what it was when the job was "
                     "submitted; run again once it is written"));
  }
  if (being_supplied_.erase(at) > 0) supply_bytes_ -= value.bytes();
  counts_.supplied_bytes += value.bytes();
  Hold(at, value);
  Arrived(at);
  return absl::OkStatus();
}

}  // namespace dogged
