#include "runtime/exec/input_table.h"

#include <mutex>
#include <utility>

#include "runtime/graph/use_order.h"

namespace dogged {
namespace {

// Bits of the number of labels that lie side by side.
constexpr int kSideBySideBits = 4;

// Empty stripes take memory: as many as keep workers out of each other's way.
int StripeBitsFor(int workers) {
  int bits = 3;
  while (bits < 8 && (1 << bits) < 8 * workers) ++bits;
  return bits;
}

}  // namespace

uint64_t InputTable::LabelHash::GroupOf(const Label& label) {
  Label group = label;
  const int rank = label.index.size();
  if (rank > 0) group.index[rank - 1] >>= kSideBySideBits;
  return group.Hash();
}

// The table takes the bits above the lowest seven for the place, and these to
// tell apart what lies there.
size_t InputTable::LabelHash::Of(const Label& label, uint64_t group) {
  constexpr uint64_t kMask = (1 << kSideBySideBits) - 1;
  constexpr int kTagBits = 7;
  const int rank = label.index.size();
  const uint64_t at =
      rank > 0 ? static_cast<uint64_t>(label.index[rank - 1]) & kMask : 0;
  const uint64_t place = (group & ~kMask) | at;
  const uint64_t tag = (group >> 48) + at * 37;
  return (place << kTagBits) | (tag & ((1 << kTagBits) - 1));
}

InputTable::InputTable(const Relations& relations, const NeededTasks& needed,
                       int workers)
    : relations_(relations),
      needed_(needed),
      stripe_bits_(StripeBitsFor(workers)),
      stripes_(size_t{1} << stripe_bits_) {
  for (const TaskClass& c : relations.program().classes) {
    orders_.push_back(RankUses(c));
  }
}

InputTable::~InputTable() {
  for (Stripe& stripe : stripes_) {
    for (auto& [label, entry] : stripe.entries) {
      while (entry.waiting != nullptr) {
        const std::unique_ptr<Activation> record(entry.waiting);
        entry.waiting = record->next_waiting;
      }
    }
  }
}

InputTable::RankedUses InputTable::RankUses(const TaskClass& task_class) {
  UseOrder order = OrderOfUses(task_class.domain, task_class.uses);
  RankedUses out;
  out.ranks.resize(task_class.uses.size(), Rank::kNotFirst);
  for (int i = 0; i < order.first_count; ++i) {
    out.ranks[order.uses[i]] = i == 0 ? Rank::kFirst : Rank::kPerhapsFirst;
  }
  out.uses = std::move(order.uses);
  return out;
}

bool InputTable::IsFirst(const Task& task, int use) const {
  const RankedUses& order = orders_[task.task_class];
  if (order.ranks[use] != Rank::kPerhapsFirst) {
    return order.ranks[use] == Rank::kFirst;
  }
  const TaskClass& c = relations_.ClassOf(task);
  for (const int other : order.uses) {
    if (other == use) return true;
    if (c.uses[other].guard.Holds(task.index)) return false;
  }
  return false;
}

int64_t InputTable::ReadsOf(const Label& label) const {
  int64_t count = 0;
  const auto& consumers = relations_.ConsumersOf(label.array);
  for (size_t k = relations_.NextConsumer(label, 0); k < consumers.size();
       k = relations_.NextConsumer(label, k + 1)) {
    const Relations::Consumer& consumer = consumers[k];
    const Rank rank = orders_[consumer.task_class].ranks[consumer.use];
    if (rank == Rank::kFirst) continue;
    if (rank == Rank::kNotFirst && needed_.IsAll()) {
      count += consumer.inverse.Count(label.index);
      continue;
    }
    Task task{.task_class = consumer.task_class, .index = {}};
    consumer.inverse.ForEach(label.index, [&](const IndexVector& index) {
      task.index = index;
      if (needed_.Contains(task) && !IsFirst(task, consumer.use)) ++count;
      return true;
    });
  }
  return count;
}

void InputTable::Bind(
    const Label& label, const Value& value,
    absl::FunctionRef<void(std::unique_ptr<Activation> record)> on_ready) {
  const int64_t reads = ReadsOf(label);
  if (reads == 0) return;
  Activation* woken = nullptr;
  {
    Stripe& stripe = StripeOf(LabelHash::GroupOf(label));
    const std::lock_guard lock(stripe.mutex);
    Entry& entry = stripe.entries[label];
    woken = std::exchange(entry.waiting, nullptr);
    // A task that waits does so by one use; if it has another of the same
    // label, it looks that up.
    entry.reads_left = reads;
    for (const Activation* each = woken; each != nullptr;
         each = each->next_waiting) {
      --entry.reads_left;
    }
    if (entry.reads_left > 0) {
      entry.value = value;
    } else {
      stripe.entries.erase(label);
    }
  }
  while (woken != nullptr) {
    std::unique_ptr<Activation> record(woken);
    woken = std::exchange(record->next_waiting, nullptr);
    // Its next missing input is this one: Complete() asks in the same order.
    const TaskClass& c = relations_.ClassOf(record->task);
    for (const int use : orders_[record->task.task_class].uses) {
      if (!record->inputs[use].IsNone()) continue;
      if (!c.uses[use].guard.Holds(record->task.index)) continue;
      record->inputs[use] = value;
      break;
    }
    record = Complete(std::move(record));
    if (record != nullptr) on_ready(std::move(record));
  }
}

bool InputTable::ForEachBegun(
    const Label& label,
    absl::FunctionRef<bool(const Task& task, int use)> visit) const {
  const auto& consumers = relations_.ConsumersOf(label.array);
  for (size_t k = relations_.NextConsumer(label, 0); k < consumers.size();
       k = relations_.NextConsumer(label, k + 1)) {
    const Relations::Consumer& consumer = consumers[k];
    const Rank rank = orders_[consumer.task_class].ranks[consumer.use];
    if (rank == Rank::kNotFirst) continue;
    Task task{.task_class = consumer.task_class, .index = {}};
    const bool go_on =
        consumer.inverse.ForEach(label.index, [&](const IndexVector& index) {
          task.index = index;
          if (!needed_.Contains(task)) return true;
          if (rank != Rank::kFirst && !IsFirst(task, consumer.use)) return true;
          return visit(task, consumer.use);
        });
    if (!go_on) return false;
  }
  return true;
}

std::unique_ptr<Activation> InputTable::Begin(const Task& task, int use,
                                              const Value& value,
                                              ActivationPool& pool) {
  if (!IsFirst(task, use)) return nullptr;
  const size_t use_count = orders_[task.task_class].uses.size();
  auto record = pool.Get(task, static_cast<int>(use_count));
  record->inputs[use] = value;
  if (use_count == 1) return record;
  return Complete(std::move(record));
}

std::unique_ptr<Activation> InputTable::Complete(
    std::unique_ptr<Activation> record) {
  const TaskClass& c = relations_.ClassOf(record->task);
  for (const int use : orders_[record->task.task_class].uses) {
    if (!record->inputs[use].IsNone()) continue;
    const Use& each = c.uses[use];
    if (!each.guard.Holds(record->task.index)) continue;
    const Label label{.array = each.array,
                      .index = each.IndexOf(record->task.index)};
    if (!LookUp(label, use, record)) return nullptr;
  }
  return record;
}

bool InputTable::LookUp(const Label& label, int use,
                        std::unique_ptr<Activation>& record) {
  const uint64_t group = LabelHash::GroupOf(label);
  Stripe& stripe = StripeOf(group);
  const std::lock_guard lock(stripe.mutex);
  auto it = stripe.entries.find(label, LabelHash::Of(label, group));
  if (it == stripe.entries.end()) {
    it = stripe.entries.try_emplace(label).first;
  }
  Entry& entry = it->second;
  if (entry.value.IsNone()) {
    record->next_waiting = entry.waiting;
    entry.waiting = record.release();
    return false;
  }
  if (--entry.reads_left > 0) {
    record->inputs[use] = entry.value;
  } else {
    record->inputs[use] = std::move(entry.value);
    stripe.entries.erase(it);
  }
  return true;
}

int64_t InputTable::kept_count() const {
  int64_t count = 0;
  for (const Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (const auto& [label, entry] : stripe.entries) {
      count += entry.value.IsNone() ? 0 : 1;
    }
  }
  return count;
}

int64_t InputTable::waiting_count() const {
  int64_t count = 0;
  for (const Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (const auto& [label, entry] : stripe.entries) {
      for (const Activation* each = entry.waiting; each != nullptr;
           each = each->next_waiting) {
        ++count;
      }
    }
  }
  return count;
}

}  // namespace dogged
