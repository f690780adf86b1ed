#include "runtime/job/search/results.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dogged {

bool Results::GoOnSearching(absl::Time now) {
  if (now >= job_.times.after_failure_until()) job_.goal.searches_all = false;
  if (demands_.OpenMoved(now)) return true;
  if (!job_.goal.searches_all) return false;
  job_.goal.searches_all = OpenResults();
  return true;
}

void Results::SearchIfStalled(absl::Time now) {
  const bool is_after_loss = now < job_.times.after_failure_until();
  job_.goal.hears_search &= is_after_loss;
  if (!job_.forward || tasks_.HasInFlight()) return;
  if ((job_.goal.hears_search && now >= job_.rebuild_after) ||
      job_.stall.IsStalled(now, 2 * job_.times.DemandTimeout(now),
                           job_.limits.backoff_max)) {
    job_.goal.hears_search = false;
    job_.goal.searches_all = is_after_loss;
    if (is_after_loss) job_.goal.next_result = 0;
    OpenResults();
    job_.stall.BeginAnew(now);
  }
}

bool Results::OpenResults() {
  constexpr int kResultsAtOnce = 64;
  constexpr int kProbesMax = 1 << 16;
  if (!job_.goal.is_demanded ||
      tasks_.demanded().size() > job_.limits.demanded_tasks_max / 2) {
    return false;
  }
  int opened = 0;
  for (int probe = 0; probe < kProbesMax && opened < kResultsAtOnce; ++probe) {
    if (job_.goal.next_result >= job_.goal.results.size()) {
      job_.goal.next_result = 0;
      return false;
    }
    const Label& label = job_.goal.results[job_.goal.next_result++];
    if (labels_.shard.IsBound(label)) continue;
    const std::optional<Task> producer = job_.relations.ProducerOf(label);
    if (!producer.has_value() || tasks_.IsInFlight(*producer)) continue;
    const DemandedTask* known = tasks_.demanded().Find(*producer);
    if (known != nullptr && known->certain) continue;
    demands_.Open({.label = label, .depth = 1, .certain = true});
    ++opened;
  }
  return true;
}

void Results::Request(const Pass& pass, const Label& label, RequestKind kind) {
  const auto [it, is_new] = requests_.wanted.try_emplace(
      label, ResultRequests::Request{.interval = 2 * job_.limits.sweep_interval,
                                     .kind = kind});
  const bool is_more = kind < it->second.kind;  // than a watch
  if (is_more) it->second.kind = kind;
  if (is_new || is_more) AskForRequested(pass, label);
}

void Results::EndWatches() {
  std::erase_if(requests_.wanted, [this](const auto& one) {
    if (one.second.kind != RequestKind::kWatch) return false;
    requests_.asks.erase({one.second.next_ask, one.first});
    return true;
  });
}

std::vector<std::pair<Label, Value>> Results::TakeResults() {
  return std::exchange(requests_.found, {});
}

// A spilled result stays requested until it has been loaded.
void Results::HandOutIfRequested(const Label& label, const Value& value) {
  const auto it = requests_.wanted.find(label);
  if (it == requests_.wanted.end()) return;
  if (value.IsSpilled()) {
    storage_.Load(label, {});
    return;
  }
  requests_.found.emplace_back(label, value);
  requests_.asks.erase({it->second.next_ask, label});
  requests_.wanted.erase(it);
}

void Results::AskForRequested(const Pass& pass, const Label& label) {
  ResultRequests::Request& request = requests_.wanted.at(label);
  absl::Duration& interval = request.interval;
  const bool makes_none =
      request.kind == RequestKind::kWatch || job_.goal.is_demanded;
  requests_.asks.erase({request.next_ask, label});
  request.next_ask = pass.now + interval;
  requests_.asks.emplace(request.next_ask, label);
  interval = std::min(2 * interval, job_.limits.backoff_max);
  // The label may have been bound while its home was elsewhere.
  const LabelEntry* entry = labels_.shard.FindBound(label);
  if (entry != nullptr) {
    HandOutIfRequested(label, entry->value);
  } else if (!labels_.places.IsHome(label)) {
    job_.messenger.SendTo(
        labels_.places.HomeOf(label), LabelMessage::kDemand,
        EncodeDemand(
            {.label = label,
             .depth = 1,
             .kind = makes_none ? DemandKind::kFetch : DemandKind::kCertain}),
        pass.out);
  } else if (!makes_none) {
    // Once the job is done only this request has a result made again whose
    // copies have all died.
    demands_.Open({.label = label, .depth = 1, .certain = true});
  }
}

void Results::SweepRequests(const Pass& pass) {
  // After a change of view all are due: a million demands take their time.
  constexpr int kAskedAtOnce = 1 << 14;
  auto& asks = requests_.asks;
  for (int i = 0;
       i < kAskedAtOnce && !asks.empty() && asks.begin()->first <= pass.now;
       ++i) {
    AskForRequested(pass, Label(asks.begin()->second));
  }
}

void Results::CountDurableResults() {
  // The condition of a loop is no result.
  while (job_.goal.rounds.HasEnded() &&
         job_.stats.results_durable < std::ssize(job_.goal.results)) {
    const Label& label = job_.goal.results[job_.stats.results_durable];
    const LabelEntry* entry = labels_.shard.FindBound(label);
    if (entry == nullptr || !entry->is_home ||
        !retention_.IsDurable(label, *entry)) {
      return;
    }
    ++job_.stats.results_durable;
    job_.stats.results_durable_bytes += entry->value.bytes();
  }
}

bool Results::AreBoundHere() {
  const std::vector<Label>& results = job_.goal.results;
  size_t& bound = job_.goal.results_bound;
  while (bound < results.size() && labels_.shard.IsBound(results[bound])) {
    ++bound;
  }
  return job_.goal.rounds.HasEnded() && !results.empty() &&
         bound == results.size();
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
    std::swap(job_.goal.results[i - 1], job_.goal.results[job_.rng.Below(i)]);
  }
  job_.goal.next_result = 0;
  job_.goal.results_bound = 0;
  job_.stats.results_durable = 0;
  job_.stats.results_durable_bytes = 0;
}

void Results::AskAllAgain(absl::Time now) {
  requests_.asks.clear();
  for (auto& [label, request] : requests_.wanted) {
    request.interval = 2 * job_.limits.sweep_interval;
    request.next_ask = now;
    requests_.asks.emplace(now, label);
  }
}

}  // namespace dogged
