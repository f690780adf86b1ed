#include "runtime/job/storage/value_spill.h"

#include <algorithm>
#include <optional>

namespace dogged {
namespace {

// Bytes on their way to disk, at most; a single value may be larger. Some are
// put while others are flushed.
constexpr int64_t kWritingBytesMin = 1 << 20;
constexpr int64_t kWritingBytesMax = 32 << 20;

}  // namespace

ValueSpill::ValueSpill(StorageOptions options, ValueStore* store,
                       const LabelRelations& labels, Shard& shard)
    : options_(std::move(options)),
      store_(store),
      shard_(shard),
      write_queue_(labels) {
  if (store_ == nullptr) options_.keeps_values = false;
  if (store_ != nullptr && (options_.keeps_values || options_.bytes_max > 0)) {
    shard_.StartTracking();
  }
}

// --- memory to disk

void ValueSpill::ForgetErased() {
  for (const Label& label : shard_.TakeErased()) {
    writing_.erase(label);
    store_->Erase(options_.job, label);
  }
}

void ValueSpill::TakeNews(absl::Time now,
                          absl::FunctionRef<bool(const Label&)> is_result) {
  ForgetErased();
  for (const Label& label : shard_.TakeBound()) {
    if (options_.bytes_max > 0) resident_.push_back(label);
    if (options_.keeps_values) write_queue_.Add(label, is_result(label));
  }
  if (options_.keeps_values) write_queue_.BeginPass(now, store_->BusyTime());
}

void ValueSpill::StartWrites() {
  const int64_t window = options_.bytes_max > 0
                             ? std::clamp(options_.bytes_max / 4,
                                          kWritingBytesMin, kWritingBytesMax)
                             : kWritingBytesMax;
  while (disk_.ok() &&
         (store_->writing_bytes() == 0 || store_->writing_bytes() < window)) {
    std::optional<Label> label;
    if (to_evict_.empty()) {
      label = write_queue_.Take();
    } else {
      label = to_evict_.front();
      to_evict_.pop_front();
    }
    if (!label.has_value()) return;
    LabelEntry* entry = shard_.FindBound(*label);
    if (entry == nullptr || entry->value.IsSpilled() ||
        entry->on_disk != OnDisk::kNo) {
      continue;
    }
    entry->on_disk = OnDisk::kOnItsWay;
    writing_[*label] = store_->Write(options_.job, *label, entry->value);
  }
}

void ValueSpill::Evict(int64_t target) {
  size_t left = resident_.size();
  std::vector<Label> unwritten;
  int64_t unwritten_bytes = 0;
  while (left-- > 0 && live_bytes() - unwritten_bytes > target) {
    const Label label = resident_.front();
    resident_.pop_front();
    LabelEntry* entry = shard_.FindBound(label);
    if (entry == nullptr || entry->value.IsSpilled() ||
        entry->value.bytes() < kSpilledMin) {
      continue;
    }
    if (entry->on_disk == OnDisk::kYes && entry->value.IsUnique()) {
      entry->value = entry->value.Spilled();
      continue;
    }
    if (entry->on_disk == OnDisk::kNo) unwritten.push_back(label);
    if (entry->value.IsUnique()) unwritten_bytes += entry->value.bytes();
    resident_.push_back(label);
  }
  // Unwritten labels are tried again as long as memory is short.
  to_evict_.assign(unwritten.begin(), unwritten.end());
}

// --- disk to memory

void ValueSpill::Load(const Label& label, const std::set<AgentId>& targets) {
  auto [it, inserted] = loading_.try_emplace(label);
  it->second.label = label;
  it->second.targets.insert(targets.begin(), targets.end());
  if (inserted) store_->Load(options_.job, label);
}

bool ValueSpill::Note(const ValueStore::Event& event) {
  ForgetErased();  // labels bound again differ from the disk
  LabelEntry* entry = shard_.Find(event.label);
  const bool is_spilled = entry != nullptr && entry->value.IsSpilled();
  bool is_lost = false;
  switch (event.kind) {
    case ValueStore::Event::Kind::kWritten: {
      const auto it = writing_.find(event.label);
      if (it == writing_.end() || it->second != event.ticket) return false;
      writing_.erase(it);
      if (entry != nullptr) entry->on_disk = OnDisk::kYes;
      return false;
    }
    case ValueStore::Event::Kind::kLoaded:
      is_lost = is_spilled && entry->value.digest() != event.value.digest();
      if (is_spilled && !is_lost) {
        entry->value = event.value;
        if (options_.bytes_max > 0) resident_.push_back(event.label);
      }
      break;
    case ValueStore::Event::Kind::kLost:
      is_lost = is_spilled;
      break;
    case ValueStore::Event::Kind::kFound:
    case ValueStore::Event::Kind::kScanned:
    case ValueStore::Event::Kind::kFailed:
      return false;
  }
  if (is_lost) entry->value = Value();
  const auto it = loading_.find(event.label);
  if (it != loading_.end()) {
    if (!is_lost) loaded_.push_back(std::move(it->second));
    loading_.erase(it);
  }
  return is_lost;
}

void ValueSpill::Adopt(const Label& label, LabelEntry& entry,
                       const Value& value) {
  const bool fits =
      options_.bytes_max == 0 || !IsPressed() || value.bytes() < kSpilledMin;
  entry.value = fits ? value : value.Spilled();
  entry.on_disk = OnDisk::kYes;
  if (fits && options_.bytes_max > 0) resident_.push_back(label);
}

// --- the end

void ValueSpill::Conclude() {
  options_.keeps_values = false;
  write_queue_.Clear();
  to_evict_.clear();
  if (store_ == nullptr) return;
  const std::vector<Label> spilled = shard_.Select(
      [](const Label&, const LabelEntry& e) { return e.value.IsSpilled(); });
  if (!spilled.empty()) return;
  for (const Label& label :
       shard_.Select([](const Label&, const LabelEntry& e) {
         return e.on_disk != OnDisk::kNo;
       })) {
    shard_.Find(label)->on_disk = OnDisk::kNo;
  }
  writing_.clear();
  (void)shard_.TakeErased();
  store_->EraseJob(options_.job);
}

bool ValueSpill::GiveUpDisk(const absl::Status& cause) {
  if (!disk_.ok()) return false;
  disk_ = cause;
  options_.keeps_values = false;
  write_queue_.Clear();
  to_evict_.clear();
  writing_.clear();
  for (const Label& label :
       shard_.Select([](const Label&, const LabelEntry& e) {
         return e.on_disk == OnDisk::kOnItsWay;
       })) {
    shard_.Find(label)->on_disk = OnDisk::kNo;
  }
  return true;
}

}  // namespace dogged
