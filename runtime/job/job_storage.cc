#include "runtime/job/job_storage.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Bytes on their way to disk, at most; a single value may be larger. Some are
// put while others are flushed.
constexpr int64_t kWritingBytesMin = 1 << 20;
constexpr int64_t kWritingBytesMax = 32 << 20;
constexpr absl::Duration kReliefInterval = absl::Milliseconds(2);
constexpr absl::Duration kRetryInterval = absl::Milliseconds(500);
// Tries to fetch inputs. Then these may be lost, and lost labels are made again
// only for certain demands. More tries make each version of a lost row wait
// that long.
constexpr int kTriesMax = 2;
// While a task runs, agents of this host may still hold values that another
// task read or made.
constexpr int64_t kTasksAtOnce = 2;
// Versions of a row are dropped once a later retained generation is there.
constexpr int64_t kPinsAtOnce = 2;
// To spill a smaller value frees next to nothing, for it keeps its header.
constexpr int64_t kHollowedMin = Value::kHeaderBytes;
// Bytes in memory of a value too small to be spilled, or the header of a
// spilled value.
constexpr int64_t kKeptBytes = Value::kHeaderBytes + kHollowedMin;
// A state without progress for so long is final.
constexpr absl::Duration kStuckTime = absl::Seconds(2);

}  // namespace

JobStorage::JobStorage(Options options, ValueStore* store,
                       const Relations& relations, const LabelRelations& labels,
                       Shard& shard)
    : relations_(relations),
      options_(std::move(options)),
      store_(store),
      shard_(shard),
      write_queue_(labels) {
  if (store_ == nullptr) options_.keeps_values = false;
  if (store_ != nullptr && (options_.keeps_values || options_.bytes_max > 0)) {
    shard_.StartTracking();
  }
}

// --- what is written

void JobStorage::ForgetErased() {
  for (const Label& label : shard_.TakeErased()) {
    writing_.erase(label);
    store_->Erase(options_.job, label);
  }
}

void JobStorage::QueueWrites(absl::Time now,
                             absl::FunctionRef<bool(const Label&)> is_result) {
  for (const Label& label : shard_.TakeBound()) {
    if (options_.bytes_max > 0) resident_.push_back(label);
    if (options_.keeps_values) write_queue_.Add(label, is_result(label));
  }
  if (options_.keeps_values) write_queue_.Pass(now, store_->BusyTime());
}

void JobStorage::StartWrites() {
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
    LabelEntry* entry = shard_.Find(*label);
    if (entry == nullptr || entry->value.IsNone() || entry->value.IsHollow() ||
        entry->on_disk != OnDisk::kNo) {
      continue;
    }
    entry->on_disk = OnDisk::kOnItsWay;
    writing_[*label] = store_->Write(options_.job, *label, entry->value);
  }
}

void JobStorage::Adopt(const Label& label, LabelEntry& entry,
                       const Value& value) {
  const bool fits =
      options_.bytes_max == 0 || !IsPressed() || value.bytes() < kHollowedMin;
  entry.value = fits ? value : value.Hollow();
  entry.on_disk = OnDisk::kYes;
  if (fits && options_.bytes_max > 0) resident_.push_back(label);
}

void JobStorage::Conclude() {
  options_.keeps_values = false;
  write_queue_.Clear();
  to_evict_.clear();
  if (store_ == nullptr) return;
  const std::vector<Label> hollow = shard_.Select(
      [](const Label&, const LabelEntry& e) { return e.value.IsHollow(); });
  if (!hollow.empty()) return;
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

bool JobStorage::GiveUpDisk(const absl::Status& cause) {
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

// --- making room

void JobStorage::Evict(int64_t target) {
  size_t left = resident_.size();
  std::vector<Label> unwritten;
  int64_t unwritten_bytes = 0;
  while (left-- > 0 && live_bytes() - unwritten_bytes > target) {
    const Label label = resident_.front();
    resident_.pop_front();
    LabelEntry* entry = shard_.Find(label);
    if (entry == nullptr || entry->value.IsNone() || entry->value.IsHollow() ||
        entry->value.bytes() < kHollowedMin) {
      continue;
    }
    if (entry->on_disk == OnDisk::kYes && entry->value.IsUnique()) {
      entry->value = entry->value.Hollow();
      continue;
    }
    if (entry->on_disk == OnDisk::kNo) unwritten.push_back(label);
    if (entry->value.IsUnique()) unwritten_bytes += entry->value.bytes();
    resident_.push_back(label);
  }
  // Unwritten labels are tried again as long as memory is short.
  to_evict_.assign(unwritten.begin(), unwritten.end());
}

void JobStorage::Relieve(absl::Time now,
                         absl::FunctionRef<void(Visit)> replace_inputs) {
  const int64_t room = options_.bytes_max - room_wanted_;
  const int64_t high = std::min(options_.bytes_max / 4 * 3, room);
  const int64_t target = std::min(options_.bytes_max / 8 * 5, room);
  if (live_bytes() <= high || now < next_relief_) return;
  next_relief_ = now + kReliefInterval;
  // Waiting tasks need to know only that their inputs are there. Inputs that
  // share a block with the shard are replaced first: nothing is lost by it.
  const auto hollow_shared = [](const Value& v) {
    return v.IsUnique() || v.bytes() < kHollowedMin ? v : v.Hollow();
  };
  replace_inputs(hollow_shared);
  ReplaceStagedInputs(hollow_shared);
  Evict(target);
  if (live_bytes() <= high) return;
  // Values that other agents hold have to be fetched again.
  const auto hollow_all = [](const Value& v) {
    return v.bytes() < kHollowedMin ? v : v.Hollow();
  };
  replace_inputs(hollow_all);
  ReplaceStagedInputs(hollow_all);
  if (disk_.ok()) return;
  stuck_ = Annotate(disk_, absl::StrCat(live_bytes(),
                                        " bytes of values are "
                                        "more than --memory ",
                                        options_.bytes_max, " has room for"));
}

void JobStorage::ReplaceStagedInputs(Visit visit) {
  for (auto& [key, record] : staged_) {
    for (Value& input : record->inputs) {
      if (!input.IsNone()) input = visit(input);
    }
  }
}

// --- tasks

bool JobStorage::MustStage(const Activation& record) const {
  for (const Value& input : record.inputs) {
    if (input.IsHollow()) return true;
  }
  return store_ != nullptr && options_.bytes_max > 0 &&
         relations_.RequiredCount(record.task) > 0 &&
         (staged_count() > 0 || IsPressed());
}

JobStorage::Key JobStorage::KeyOf(const Task& task) const {
  const TaskClass& c =
      relations_.program().classes[static_cast<size_t>(task.task_class)];
  return {-c.priority.Evaluate(task.index), task};
}

void JobStorage::Stage(std::unique_ptr<Activation> record) {
  staged_[KeyOf(record->task)] = std::move(record);
}

bool JobStorage::Drop(const Task& task) {
  if (staged_count() == 0) return false;
  const Key key = KeyOf(task);
  return staged_.erase(key) + active_.erase(key) > 0;
}

std::vector<Task> JobStorage::StagedTasks() const {
  std::vector<Task> out;
  for (const auto& [key, record] : staged_) out.push_back(key.second);
  for (const auto& [key, active] : active_) out.push_back(key.second);
  return out;
}

void JobStorage::SetKernels(std::shared_ptr<const KernelTable> kernels,
                            int workers) {
  if (store_ == nullptr || options_.bytes_max == 0) return;
  kernels_ = std::move(kernels);
  task_bytes_.emplace(relations_, *kernels_);
  int64_t scratch = 0;
  Task widest;
  task_bytes_->ForEachSample([&](const Task& task) {
    scratch = std::max(scratch, task_bytes_->ScratchOf(task));
    const int64_t bytes = task_bytes_->AllOf(task);
    if (bytes <= widest_bytes_) return;
    widest_bytes_ = bytes;
    widest = task;
  });
  // Results stay until a client has all of them.
  const double labels =
      task_bytes_->LabelsAtOnce(kPinsAtOnce * options_.generation_interval) +
      static_cast<double>(relations_.program().ResultCount());
  kept_bytes_ = workers * scratch +
                static_cast<int64_t>(std::min(labels * kKeptBytes, 1e15));
  stuck_ = Judge(widest, widest_bytes_);
}

absl::Status JobStorage::Judge(const Task& task, int64_t bytes) const {
  if (bytes <= options_.bytes_max) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "task ", relations_.program().TaskText(task), " needs ", bytes,
      " bytes for its inputs and output; --memory ", options_.bytes_max,
      " is too little, ", Enough(0, bytes), " would do"));
}

int64_t JobStorage::Enough(int64_t live, int64_t bytes) const {
  // An eighth above: the headers kept of values on disk grow until the job
  // ends, and a number that falls short by some bytes next time helps nobody.
  // If a task is larger than all samples, its readers may be larger still.
  const int64_t widest = bytes > widest_bytes_ ? 2 * bytes : widest_bytes_;
  const int64_t needed =
      std::max(live + bytes, kTasksAtOnce * widest + kept_bytes_);
  return needed + needed / 8;
}

void JobStorage::Fill(Active& active, const Label& label, const Value& value) {
  relations_.ForEachRequired(
      active.record->task, [&](int use, const Label& required) {
        Value& input = active.record->inputs[static_cast<size_t>(use)];
        if (required == label && input.IsHollow() &&
            input.digest() == value.digest()) {
          input = value;
          --active.missing;
          active.bytes -= value.bytes();  // they are live now
        }
      });
}

void JobStorage::Fetch(absl::Time now, Active& active) {
  ++active.tries;
  active.next_try = now + active.tries * kRetryInterval;
  std::vector<Label> hollow;
  relations_.ForEachRequired(
      active.record->task, [&](int use, const Label& label) {
        if (active.record->inputs[static_cast<size_t>(use)].IsHollow()) {
          hollow.push_back(label);
        }
      });
  for (const Label& label : hollow) {
    const LabelEntry* entry = shard_.Find(label);
    if (entry == nullptr || entry->value.IsNone()) {
      remote_.emplace_back(label, active.record->task);
    } else if (entry->value.IsHollow()) {
      Load(label, {});
    } else {
      Fill(active, label, entry->value);
    }
  }
}

void JobStorage::Retry(absl::Time now) {
  for (auto it = active_.begin(); it != active_.end();) {
    Active& active = it->second;
    if (active.missing > 0 && active.next_try <= now) {
      if (active.tries >= kTriesMax) {
        returned_.push_back(std::move(active.record));
        it = active_.erase(it);
        continue;
      }
      Fetch(now, active);
    }
    ++it;
  }
}

std::vector<std::unique_ptr<Activation>> JobStorage::Advance(
    absl::Time now, int64_t running, int workers,
    absl::FunctionRef<bool(const Label&)> is_result,
    absl::FunctionRef<void(Visit)> replace_inputs) {
  std::vector<std::unique_ptr<Activation>> ready;
  const bool bounded = options_.bytes_max > 0;
  if (store_ != nullptr) {
    ForgetErased();
    QueueWrites(now, is_result);
    if (bounded) Relieve(now, replace_inputs);
    StartWrites();
  }
  Retry(now);
  bool is_stuck = false;
  room_wanted_ = 0;
  while (!staged_.empty() &&
         running + static_cast<int64_t>(active_.size()) < 2 * workers + 2) {
    const auto first = staged_.begin();
    Active active{.record = std::move(first->second)};
    int64_t input_bytes = 0;
    for (const Value& input : active.record->inputs) {
      if (!input.IsHollow()) continue;
      ++active.missing;
      input_bytes += input.bytes();
    }
    active.bytes = input_bytes;
    if (task_bytes_)
      active.bytes += task_bytes_->OutputsOf(first->first.second);
    if (bounded) {
      int64_t reserved = 0;
      for (const auto& [key, other] : active_) reserved += other.bytes;
      const int64_t live = live_bytes();
      const bool is_idle = running == 0 && active_.empty();
      const bool fits =
          live + reserved + active.bytes <=
          (is_idle ? options_.bytes_max : options_.bytes_max / 8 * 7);
      if (!fits) {
        is_stuck =
            is_idle && (store_ == nullptr || store_->writing_bytes() == 0);
        room_wanted_ = reserved + active.bytes;
        if (is_stuck && now - stuck_since_ > kStuckTime) {
          stuck_ = absl::ResourceExhaustedError(absl::StrCat(
              "task ", relations_.program().TaskText(active.record->task),
              " needs ", active.bytes,
              " bytes more for its inputs and output, beside ", live,
              " bytes of values that can't go; --memory ", options_.bytes_max,
              " is too little, ", Enough(live, active.bytes), " would do"));
        }
        first->second = std::move(active.record);
        break;
      }
    }
    const Key key = first->first;
    staged_.erase(first);
    if (active.missing > 0) Fetch(now, active);
    active_[key] = std::move(active);
  }
  if (!is_stuck) stuck_since_ = absl::InfiniteFuture();
  if (is_stuck && stuck_since_ == absl::InfiniteFuture()) stuck_since_ = now;
  for (auto it = active_.begin(); it != active_.end();) {
    if (it->second.missing > 0) {
      ++it;
      continue;
    }
    ready.push_back(std::move(it->second.record));
    it = active_.erase(it);
  }
  return ready;
}

// --- what is loaded

void JobStorage::Load(const Label& label,
                      const absl::btree_set<AgentId>& targets) {
  auto [it, inserted] = loading_.try_emplace(label);
  it->second.label = label;
  it->second.targets.insert(targets.begin(), targets.end());
  if (inserted) store_->Load(options_.job, label);
}

void JobStorage::Offer(const Label& label, const Value& value) {
  for (auto& [key, active] : active_) {
    if (active.missing > 0) Fill(active, label, value);
  }
}

bool JobStorage::Note(const ValueStore::Event& event) {
  ForgetErased();  // labels bound again differ from the disk
  LabelEntry* entry = shard_.Find(event.label);
  const bool is_hollow = entry != nullptr && entry->value.IsHollow();
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
      is_lost = is_hollow && entry->value.digest() != event.value.digest();
      if (is_hollow && !is_lost) {
        entry->value = event.value;
        if (options_.bytes_max > 0) resident_.push_back(event.label);
      }
      Offer(event.label, event.value);
      break;
    case ValueStore::Event::Kind::kLost:
      is_lost = is_hollow;
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

}  // namespace dogged
