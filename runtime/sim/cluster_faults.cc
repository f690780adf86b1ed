// Faults of a simulated cluster: their times, agents and durations.
#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/sim/cluster.h"
#include "runtime/sim/cluster_node.h"

namespace dogged {
namespace {

// Size up to which messages pass a link that loses large ones.
constexpr int64_t kSmallBytesMax = 600;

}  // namespace

void Cluster::ScheduleFault(int count, std::function<void()> fault) {
  const absl::Duration span =
      options_.fault_span > absl::ZeroDuration()
          ? options_.fault_span
          : options_.task_time * (static_cast<double>(outcome_.tasks_needed) /
                                  (options_.agents * options_.workers));
  for (int i = 0; i < count; ++i) {
    queue_.After(span * rng_.Unit(), [this, fault] {
      if (finished_) return;
      ++outcome_.faults_injected;
      fault();
    });
  }
}

void Cluster::ScheduleFaults() {
  const FaultPlan& plan = options_.faults;
  const auto victim = [this]() -> Node* {
    int64_t live = 0;
    for (const auto& node : nodes_) {
      live += node->agent != nullptr && !node->leaving;
    }
    return live > 1 ? RandomNode() : nullptr;
  };
  ScheduleFault(plan.crash, [this, victim] {
    if (Node* node = victim()) Crash(*node);
  });
  ScheduleFault(plan.pair, [this, victim] {
    for (int i = 0; i < 2; ++i) {
      if (Node* node = victim()) Crash(*node);
    }
  });
  ScheduleFault(plan.restart, [this, victim] {
    Node* node = victim();
    if (node == nullptr) return;
    Crash(*node);
    queue_.After(absl::Milliseconds(rng_.Below(500)),
                 [this, node] { Restart(*node); });
  });
  ScheduleFault(plan.pause, [this] {
    Node* node = RandomNode();
    if (node == nullptr) return;
    Pause(*node, absl::Milliseconds(rng_.Below(6000)));
  });
  ScheduleFault(plan.blackout, [this] { Blackout(); });
  ScheduleFault(plan.join, [this] { AddNode(); });
  ScheduleFault(plan.sick, [this] { AddNode(nullptr, DrawSickness()); });
  ScheduleFault(plan.leave, [this, victim] {
    Node* node = victim();
    if (node == nullptr) return;
    node->leaving = true;
    node->told_to_leave = queue_.now();
    node->agent->Leave(queue_.now());
    Wake(*node);
  });
  ScheduleFault(plan.partition, [this] {
    network_.Partition(RandomHalf());
    queue_.After(absl::Milliseconds(rng_.Below(2500)), [this] {
      network_.Heal();
      disturbed_ = queue_.now();
    });
  });
  ScheduleLongFaults();
}

// From 2.5 s to ten minutes; half of them below 40 s.
absl::Duration Cluster::LongTime() {
  return absl::Seconds(2.5 * std::pow(240.0, rng_.Unit()));
}

void Cluster::Pause(Node& node, absl::Duration time) {
  node.paused = true;
  queue_.After(time, [this, &node] {
    node.paused = false;
    node.woken = false;
    Wake(node);
  });
}

absl::btree_set<int> Cluster::RandomHalf() {
  absl::btree_set<int> side;
  for (const auto& node : nodes_) {
    if (node->agent != nullptr && rng_.Chance(0.5)) side.insert(node->place);
  }
  return side;
}

std::optional<std::pair<int, int>> Cluster::RandomPlaces() {
  const Node* one = RandomNode();
  const Node* other = RandomNode();
  if (one == nullptr || one->place == other->place) return std::nullopt;
  return std::make_pair(one->place, other->place);
}

void Cluster::Impair(int from, int to, SimNetwork::Link link, bool both) {
  network_.SetLink(from, to, link);
  if (both) network_.SetLink(to, from, link);
  queue_.After(LongTime(), [this, from, to, both] {
    network_.MendLink(from, to);
    if (both) network_.MendLink(to, from);
    disturbed_ = queue_.now();
  });
}

void Cluster::ScheduleLongFaults() {
  const FaultPlan& plan = options_.faults;
  ScheduleFault(plan.stop, [this] {
    if (Node* node = RandomNode()) Pause(*node, LongTime());
  });
  ScheduleFault(plan.split, [this] {
    network_.Partition(RandomHalf());
    queue_.After(LongTime(), [this] {
      network_.Heal();
      disturbed_ = queue_.now();
    });
  });
  const auto cut_off = [this](bool hears) {
    const Node* node = RandomNode();
    if (node == nullptr) return;
    absl::btree_set<int> others;
    for (const auto& other : nodes_) others.insert(other->place);
    others.erase(node->place);
    for (const int other : others) {
      const auto [from, to] =
          hears ? std::pair(node->place, other) : std::pair(other, node->place);
      Impair(from, to, {.bytes_max = -1}, /*both=*/false);
    }
  };
  ScheduleFault(plan.deaf, [cut_off] { cut_off(/*hears=*/false); });
  ScheduleFault(plan.mute, [cut_off] { cut_off(/*hears=*/true); });
  ScheduleFault(plan.link, [this] {
    const auto two = RandomPlaces();
    if (!two.has_value()) return;
    Impair(two->first, two->second, {.bytes_max = -1}, rng_.Chance(0.5));
  });
  ScheduleFault(plan.large, [this] {
    const auto two = RandomPlaces();
    if (!two.has_value()) return;
    Impair(two->first, two->second, {.bytes_max = kSmallBytesMax}, true);
  });
  ScheduleFault(plan.slow, [this] {
    const auto two = RandomPlaces();
    if (!two.has_value()) return;
    Impair(two->first, two->second,
           {.delay = absl::Milliseconds(rng_.Below(300))}, true);
  });
}

}  // namespace dogged
