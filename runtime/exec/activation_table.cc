#include "runtime/exec/activation_table.h"

#include <utility>

#include "runtime/base/check.h"

namespace dogged {
namespace {

// Smaller ones would grow and shrink all the time, as tasks come and go.
constexpr size_t kSlotsMin = 64;
// Bits of the number of tasks that lie side by side, consecutive in their last
// index: a worker that goes along them touches few cache lines, and workers
// elsewhere other ones.
constexpr int kNeighborBits = 4;

uint64_t HashOf(const Task& task) {
  if (task.index.size() == 0) return task.Hash();
  constexpr uint64_t kMask = (1 << kNeighborBits) - 1;
  Task group = task;
  int64_t& last = group.index[task.index.size() - 1];
  const auto at = static_cast<uint64_t>(last) & kMask;
  last >>= kNeighborBits;
  return (group.Hash() & ~kMask) | at;
}

}  // namespace

std::unique_ptr<Activation> ActivationPool::Get(const Task& task,
                                                int use_count) {
  std::unique_ptr<Activation> record;
  if (free_.empty()) {
    record = std::make_unique<Activation>();
  } else {
    record = std::move(free_.back());
    free_.pop_back();
  }
  record->task = task;
  record->inputs.resize(use_count);
  record->missing_count = 0;
  record->born = 0;
  record->priority = 0;
  return record;
}

void ActivationPool::Put(std::unique_ptr<Activation> record) {
  record->inputs.clear();
  if (free_.size() < kRecordsMax) free_.push_back(std::move(record));
}

size_t ActivationTable::Stripe::Locate(uint64_t hash, const Task& task) const {
  const size_t mask = slots.size() - 1;
  size_t at = static_cast<size_t>(hash) & mask;
  while (slots[at].record != nullptr &&
         (slots[at].hash != hash || slots[at].record->task != task)) {
    at = (at + 1) & mask;
  }
  return at;
}

void ActivationTable::Stripe::Insert(uint64_t hash,
                                     std::unique_ptr<Activation> record) {
  if (slots.empty()) Resize(kSlotsMin);
  if (count + 1 > slots.size() / 2) Resize(slots.size() * 2);
  Slot& slot = slots[Locate(hash, record->task)];
  slot.hash = hash;
  slot.record = std::move(record);
  ++count;
}

std::unique_ptr<Activation> ActivationTable::Stripe::RemoveAt(size_t slot) {
  const size_t mask = slots.size() - 1;
  std::unique_ptr<Activation> out = std::move(slots[slot].record);
  --count;
  // Followers that probed past the hole move into it.
  size_t hole = slot;
  for (size_t at = (hole + 1) & mask; slots[at].record != nullptr;
       at = (at + 1) & mask) {
    const size_t wish = static_cast<size_t>(slots[at].hash) & mask;
    if (((at - wish) & mask) < ((at - hole) & mask)) continue;
    slots[hole] = std::move(slots[at]);
    hole = at;
  }
  if (slots.size() > kSlotsMin && count < slots.size() / 16) {
    Resize(slots.size() / 4);
  }
  return out;
}

void ActivationTable::Stripe::Resize(size_t slot_count) {
  std::vector<Slot> old = std::exchange(slots, std::vector<Slot>(slot_count));
  for (Slot& slot : old) {
    if (slot.record == nullptr) continue;
    Slot& to = slots[Locate(slot.hash, slot.record->task)];
    to = std::move(slot);
  }
}

ActivationTable::ActivationTable(const Relations& relations)
    : relations_(relations) {
  for (const TaskClass& c : relations.program().classes) {
    use_counts_.push_back(static_cast<int>(c.uses.size()));
  }
}

std::unique_ptr<Activation> ActivationTable::Mark(const Task& task, int use,
                                                  Value value,
                                                  ActivationPool& pool) {
  const int use_count = use_counts_[task.task_class];
  DOGGED_CHECK(use >= 0 && use < use_count)
      << "use " << use << " of " << relations_.program().TaskText(task);
  const auto place = static_cast<size_t>(use);
  if (use_count == 1) {  // needs no record
    std::unique_ptr<Activation> record = pool.Get(task, use_count);
    record->inputs[place] = std::move(value);
    return record;
  }
  const uint64_t hash = HashOf(task);
  Stripe& stripe = StripeOf(hash);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.count > 0) {
    const size_t slot = stripe.Locate(hash, task);
    if (Activation* record = stripe.slots[slot].record.get()) {
      if (!record->inputs[place].IsNone()) return nullptr;
      record->inputs[place] = std::move(value);
      if (--record->missing_count > 0) return nullptr;
      return stripe.RemoveAt(slot);
    }
  }
  std::unique_ptr<Activation> record = pool.Get(task, use_count);
  record->inputs[place] = std::move(value);
  record->missing_count = relations_.RequiredCount(task) - 1;
  record->born = age_.load(std::memory_order_relaxed);
  if (record->missing_count <= 0) return record;
  stripe.Insert(hash, std::move(record));
  return nullptr;
}

bool ActivationTable::Contains(const Task& task) const {
  const uint64_t hash = HashOf(task);
  const Stripe& stripe = StripeOf(hash);
  const std::lock_guard lock(stripe.mutex);
  return stripe.count > 0 &&
         stripe.slots[stripe.Locate(hash, task)].record != nullptr;
}

std::optional<Activation> ActivationTable::Find(const Task& task) const {
  const uint64_t hash = HashOf(task);
  const Stripe& stripe = StripeOf(hash);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.count == 0) return std::nullopt;
  const Slot& slot = stripe.slots[stripe.Locate(hash, task)];
  if (slot.record == nullptr) return std::nullopt;
  return *slot.record;
}

std::unique_ptr<Activation> ActivationTable::Remove(const Task& task) {
  const uint64_t hash = HashOf(task);
  Stripe& stripe = StripeOf(hash);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.count == 0) return nullptr;
  const size_t slot = stripe.Locate(hash, task);
  if (stripe.slots[slot].record == nullptr) return nullptr;
  return stripe.RemoveAt(slot);
}

bool ActivationTable::IsMarked(const Task& task, int use) const {
  const uint64_t hash = HashOf(task);
  const Stripe& stripe = StripeOf(hash);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.count == 0) return false;
  const Slot& slot = stripe.slots[stripe.Locate(hash, task)];
  return slot.record != nullptr && !slot.record->inputs[use].IsNone();
}

bool ActivationTable::ForEach(
    absl::FunctionRef<bool(const Activation&)> visit) const {
  for (const Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (const Slot& slot : stripe.slots) {
      if (slot.record != nullptr && !visit(*slot.record)) return false;
    }
  }
  return true;
}

void ActivationTable::Age(
    int64_t count_min,
    absl::FunctionRef<void(const Activation&, int32_t age)> visit) {
  const int32_t now = age_.fetch_add(1, std::memory_order_relaxed) + 1;
  int64_t count = 0;
  for (size_t i = 0; i < stripes_.size() && count < count_min; ++i) {
    const Stripe& stripe = stripes_[next_visited_];
    next_visited_ = (next_visited_ + 1) % stripes_.size();
    const std::lock_guard lock(stripe.mutex);
    for (const Slot& slot : stripe.slots) {
      if (slot.record == nullptr) continue;
      visit(*slot.record, now - slot.record->born);
      ++count;
    }
  }
}

void ActivationTable::Renew(const Task& task) {
  const uint64_t hash = HashOf(task);
  Stripe& stripe = StripeOf(hash);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.count == 0) return;
  const Slot& slot = stripe.slots[stripe.Locate(hash, task)];
  if (slot.record == nullptr) return;
  slot.record->born = age_.load(std::memory_order_relaxed);
}

void ActivationTable::ReplaceInputs(
    absl::FunctionRef<Value(const Value&)> visit) {
  for (Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (Slot& slot : stripe.slots) {
      if (slot.record == nullptr) continue;
      for (Value& input : slot.record->inputs) {
        if (!input.IsNone()) input = visit(input);
      }
    }
  }
}

int64_t ActivationTable::size() const {
  int64_t count = 0;
  for (const Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    count += static_cast<int64_t>(stripe.count);
  }
  return count;
}

}  // namespace dogged
