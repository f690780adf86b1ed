#include "runtime/job/high_fanout.h"

#include <algorithm>
#include <utility>

#include "kvstore/dictionary/shard.h"

namespace dogged {

HighFanoutLabels::HighFanoutLabels(const Relations& relations)
    : relations_(relations) {
  for (size_t a = 0; a < relations.program().arrays.size(); ++a) {
    const auto& consumers = relations.ConsumersOf(static_cast<int32_t>(a));
    may_be_wide_.push_back(
        std::ssize(consumers) > ConsumersDone::kNarrowMax ||
        std::any_of(consumers.begin(), consumers.end(),
                    [](const auto& c) { return !c.inverse.IsInjective(); }));
  }
}

bool HighFanoutLabels::HasHighFanout(const Label& label) const {
  if (!may_be_wide_[static_cast<size_t>(label.array)]) return false;
  if (known_.contains(label)) return true;
  int64_t count = 0;
  return !relations_.ForEachConsumer(label, [&count](const Task&, int) {
    return ++count <= ConsumersDone::kNarrowMax;
  });
}

HighFanoutLabels::Known* HighFanoutLabels::Find(const Label& label) {
  const auto known = known_.find(label);
  if (known == known_.end()) return nullptr;
  known->second.idle_sweeps = 0;
  return &known->second;
}

void HighFanoutLabels::CountAnew(const Label& label) {
  if (Known* known = Find(label)) {
    *known = {.value = std::move(known->value),
              .askers = std::move(known->askers)};
  }
}

bool HighFanoutLabels::CountAnewInTurn(const Label& label) {
  constexpr int kDoubtedMax = 16;
  const auto known = known_.find(label);
  if (known == known_.end()) return true;
  const bool is_seen_to = known->second.left > 0 && (known->second.have_value ||
                                                     known->second.is_demanded);
  if (is_seen_to && ++doubted_count_ > kDoubtedMax) return false;
  CountAnew(label);
  return true;
}

Value HighFanoutLabels::ValueOf(const Label& label) {
  const Known* known = Find(label);
  return known == nullptr ? Value() : known->value;
}

HighFanoutLabels::Known& HighFanoutLabels::Put(const Label& label,
                                               const Known& known) {
  return known_[label] = known;
}

void HighFanoutLabels::NoteAsker(const Label& label, const Task& task) {
  Known& known = known_[label];
  known.idle_sweeps = 0;
  known.askers.insert(task);
}

bool HighFanoutLabels::MayDemand(const Label& label, bool certain) {
  Known& known = known_[label];
  if (certain ? known.is_demanded_for_certain : known.is_demanded) return false;
  known.is_demanded = true;
  known.is_demanded_for_certain |= certain;
  return true;
}

void HighFanoutLabels::Sweep() {
  constexpr int kIdleSweepsMax = 16;
  constexpr int kAwaitedSweepsMax = 256;
  doubted_count_ = 0;
  absl::erase_if(known_, [](auto& label_and_known) {
    Known& known = label_and_known.second;
    known.is_demanded = known.is_demanded_for_certain = false;
    const bool is_awaited = known.have_value && known.left > 0;
    return ++known.idle_sweeps >
           (is_awaited ? kAwaitedSweepsMax : kIdleSweepsMax);
  });
}

}  // namespace dogged
