#include "kvstore/dictionary/high_fanout.h"

#include <utility>

#include "kvstore/dictionary/shard.h"

namespace dogged {

HighFanoutLabels::HighFanoutLabels(const LabelRelations& relations)
    : relations_(relations) {
  for (int32_t array = 0; array < relations.array_count(); ++array) {
    may_be_wide_.push_back(
        relations.MayHaveMoreReaders(array, ConsumersDone::kNarrowMax));
  }
}

bool HighFanoutLabels::HasHighFanout(const Label& label) const {
  if (!may_be_wide_[label.array]) return false;
  return known_.contains(label) ||
         relations_.HasMoreReaders(label, ConsumersDone::kNarrowMax);
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

void HighFanoutLabels::NoteAsker(const Label& label, const Reader& reader) {
  Known& known = known_[label];
  known.idle_sweeps = 0;
  known.askers.insert(reader);
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
