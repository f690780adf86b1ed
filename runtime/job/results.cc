#include "runtime/job/results.h"

#include <algorithm>
#include <utility>

namespace dogged {

bool Results::OpenNextResult() {
  constexpr int kProbesMax = 1 << 16;
  if (!job_.goal.is_demanded || job_.goal.results.empty() ||
      tasks_.pursuits().size() > job_.limits.pursuits_max / 2) {
    return false;
  }
  for (int probe = 0; probe < kProbesMax; ++probe) {
    if (job_.goal.next_result == job_.goal.results.size()) {
      job_.goal.next_result = 0;
      return false;
    }
    const Label& label = job_.goal.results[job_.goal.next_result++];
    const Entry* entry = labels_.shard.Find(label);
    if (entry != nullptr && !entry->value.IsNone()) continue;
    const std::optional<Task> producer = job_.relations.ProducerOf(label);
    if (!producer.has_value() || tasks_.IsInFlight(*producer)) continue;
    const Pursuit* known = tasks_.pursuits().Find(*producer);
    if (known != nullptr && known->certain) continue;
    demands_.Open({.label = label, .depth = 1, .certain = true});
    return true;
  }
  return false;
}

void Results::Want(absl::Time now, const Label& label, Outbox& out) {
  if (wishes_.wanted.emplace(label, 2 * job_.limits.sweep_interval).second) {
    AskForWanted(now, label, out);
  }
}

std::vector<std::pair<Label, Value>> Results::TakeWanted() {
  return std::exchange(wishes_.found, {});
}

// What is only on disk is wanted until it has been loaded.
void Results::HandOutIfWanted(const Label& label, const Value& value) {
  const auto it = wishes_.wanted.find(label);
  if (it == wishes_.wanted.end()) return;
  if (value.IsHollow()) {
    storage_.Load(label, {});
    return;
  }
  wishes_.found.emplace_back(label, value);
  wishes_.wanted.erase(it);
}

void Results::AskForWanted(absl::Time now, const Label& label, Outbox& out) {
  absl::Duration& interval = wishes_.wanted.at(label);
  wishes_.asks.emplace(now + interval, label);
  interval = std::min(2 * interval, job_.limits.backoff_max);
  // It may have been bound while its home was elsewhere.
  const Entry* entry = labels_.shard.Find(label);
  if (entry != nullptr && !entry->value.IsNone()) {
    HandOutIfWanted(label, entry->value);
  } else if (!labels_.places.IsHome(label)) {
    job_.mail.SendTo(labels_.places.HomeOf(label), JobMessage::kDemand,
                     EncodeDemand({.label = label,
                                   .depth = 1,
                                   .certain = !job_.goal.is_demanded,
                                   .lazy = job_.goal.is_demanded}),
                     out);
  } else if (!job_.goal.is_demanded) {
    // Once the job is done nothing but this wish makes a result again whose
    // copies have all died.
    demands_.Open({.label = label, .depth = 1, .certain = true});
  }
}

void Results::SweepWanted(absl::Time now, Outbox& out) {
  // After a change of view all are due: a million demands take their time.
  constexpr int kAskedAtOnce = 1 << 14;
  auto& asks = wishes_.asks;
  for (int i = 0;
       i < kAskedAtOnce && !asks.empty() && asks.begin()->first <= now; ++i) {
    const Label label = asks.extract(asks.begin()).value().second;
    if (wishes_.wanted.contains(label)) AskForWanted(now, label, out);
  }
}

void Results::CountDurableResults() {
  // The condition of a loop is no result.
  while (job_.goal.rounds.HasEnded() &&
         job_.stats.results_durable <
             static_cast<int64_t>(job_.goal.results.size())) {
    const Label& label =
        job_.goal.results[static_cast<size_t>(job_.stats.results_durable)];
    const Entry* entry = labels_.shard.Find(label);
    if (entry == nullptr || entry->value.IsNone() || !entry->is_home ||
        !retention_.IsDurable(label, *entry)) {
      return;
    }
    ++job_.stats.results_durable;
    job_.stats.results_durable_bytes += entry->value.bytes();
  }
}

void Results::ListResults() {
  job_.goal.results.clear();
  job_.goal.other_results.clear();
  job_.goal.rounds.ForEachDemanded([&](const Label& label) {
    if (labels_.places.IsHome(label)) {
      job_.goal.results.push_back(label);
    } else if (!job_.forward) {
      job_.goal.other_results.push_back(label);
    }
    return true;
  });
  for (size_t i = job_.goal.results.size(); i > 1; --i) {
    std::swap(job_.goal.results[i - 1],
              job_.goal.results[static_cast<size_t>(
                  job_.rng.Below(static_cast<int64_t>(i)))]);
  }
  job_.goal.next_result = 0;
  job_.stats.results_durable = 0;
  job_.stats.results_durable_bytes = 0;
}

void Results::AskAllAgain(absl::Time now) {
  wishes_.asks.clear();
  for (auto& [label, interval] : wishes_.wanted) {
    interval = 2 * job_.limits.sweep_interval;
    wishes_.asks.emplace(now, label);
  }
}

}  // namespace dogged
