#include "runtime/sim/faults.h"

#include <cmath>

#include "runtime/agent/agent.h"

namespace dogged {
namespace {

// Size up to which messages pass a link that loses large ones.
constexpr int64_t kSmallBytesMax = 600;
// Changes of an exchange are within so long; a founder goes after each of the
// others.
constexpr int64_t kExchangeMillis = 60;
constexpr absl::Duration kFounderInterval = absl::Milliseconds(50);

}  // namespace

void SimFaults::Schedule(int count, std::function<void()> fault) {
  const absl::Duration span =
      world_.options.fault_span > absl::ZeroDuration()
          ? world_.options.fault_span
          : world_.options.task_time *
                (static_cast<double>(world_.outcome.tasks_needed) /
                 (world_.options.agents * world_.options.workers));
  for (int i = 0; i < count; ++i) {
    world_.queue.After(span * world_.rng.Unit(), [this, fault] {
      if (world_.is_over) return;
      ++world_.outcome.faults_injected;
      fault();
    });
  }
}

void SimFaults::ScheduleAll() {
  const FaultPlan& plan = world_.options.faults;
  const auto victim = [this]() -> SimNode* {
    int64_t live = 0;
    for (const auto& node : nodes_.all()) {
      live += node->agent != nullptr && !node->leaving;
    }
    return live > 1 ? nodes_.Random() : nullptr;
  };
  Schedule(plan.crash, [this, victim] {
    if (SimNode* node = victim()) lives_.Crash(*node);
  });
  Schedule(plan.pair, [this, victim] {
    for (int i = 0; i < 2; ++i) {
      if (SimNode* node = victim()) lives_.Crash(*node);
    }
  });
  Schedule(plan.restart, [this, victim] {
    SimNode* node = victim();
    if (node == nullptr) return;
    lives_.Crash(*node);
    world_.queue.After(absl::Milliseconds(world_.rng.Below(500)),
                       [this, node] { lives_.Restart(*node); });
  });
  Schedule(plan.pause, [this] {
    SimNode* node = nodes_.Random();
    if (node == nullptr) return;
    Pause(*node, absl::Milliseconds(world_.rng.Below(6000)));
  });
  Schedule(plan.blackout, [this] { lives_.Blackout(); });
  Schedule(plan.outage, [this] { lives_.Outage(); });
  Schedule(plan.join, [this] { lives_.Add(); });
  Schedule(plan.sick, [this] { lives_.Add(nullptr, lives_.DrawSickness()); });
  Schedule(plan.leave, [this, victim] {
    if (SimNode* node = victim()) TellToLeave(*node);
  });
  Schedule(plan.leavers, [this, victim] {
    for (int i = 0; i < 2; ++i) {
      if (SimNode* node = victim()) TellToLeave(*node);
    }
  });
  Schedule(plan.regrow, [this, victim] {
    SimNode* node = victim();
    if (node == nullptr) return;
    TellToLeave(*node);
    RestartOnceGone(*node);
  });
  Schedule(plan.exchange, [this, victim] {
    // In any order, within the time that one of them takes.
    const auto soon = [this](std::function<void()> change) {
      world_.queue.After(absl::Milliseconds(world_.rng.Below(kExchangeMillis)),
                         std::move(change));
    };
    soon([this, victim] {
      if (SimNode* node = victim()) TellToLeave(*node);
    });
    soon([this, soon] {
      SimNode& joiner = lives_.Add();
      // Half of the time before it has met anybody, or soon after.
      if (!world_.rng.Chance(0.5)) return;
      soon([this, &joiner] {
        if (joiner.agent != nullptr) lives_.Crash(joiner);
        lives_.Add();
      });
    });
    soon([this, victim] {
      if (SimNode* node = victim()) lives_.Crash(*node);
    });
  });
  Schedule(plan.founders, [this] {
    // The first one first. Each newcomer is there before the next one goes.
    for (int i = 0; i < world_.options.agents; ++i) {
      world_.queue.After(i * kFounderInterval, [this] { lives_.Add(); });
      world_.queue.After((i + 1) * kFounderInterval, [this, i] {
        SimNode& founder = *nodes_.all()[i];
        if (founder.agent == nullptr || founder.leaving) return;
        if (world_.rng.Chance(0.5)) {
          TellToLeave(founder);
        } else {
          lives_.Crash(founder);
        }
      });
    }
  });
  Schedule(plan.partition, [this] {
    world_.network.Partition(RandomHalf());
    world_.queue.After(absl::Milliseconds(world_.rng.Below(2500)), [this] {
      world_.network.Heal();
      world_.NoteDisturbance();
    });
  });
  ScheduleLong();
}

// From 2.5 s to ten minutes; half of them below 40 s.
absl::Duration SimFaults::LongTime() {
  return absl::Seconds(2.5 * std::pow(240.0, world_.rng.Unit()));
}

void SimFaults::TellToLeave(SimNode& node) {
  node.leaving = true;
  node.told_to_leave = world_.queue.now();
  node.agent->Leave(world_.queue.now());
  nodes_.Wake(node);
}

void SimFaults::RestartOnceGone(SimNode& node) {
  world_.queue.After(absl::Milliseconds(5), [this, &node] {
    if (node.agent != nullptr) return RestartOnceGone(node);
    node.crashed = true;  // another process, which knows nothing
    lives_.Restart(node);
  });
}

void SimFaults::Pause(SimNode& node, absl::Duration time) {
  node.paused = true;
  world_.queue.After(time, [this, &node] { nodes_.Continue(node); });
}

std::set<int> SimFaults::RandomHalf() {
  std::set<int> side;
  for (const auto& node : nodes_.all()) {
    if (node->agent != nullptr && world_.rng.Chance(0.5))
      side.insert(node->place);
  }
  return side;
}

std::optional<std::pair<int, int>> SimFaults::RandomPlaces() {
  const SimNode* one = nodes_.Random();
  const SimNode* other = nodes_.Random();
  if (one == nullptr || one->place == other->place) return std::nullopt;
  return std::make_pair(one->place, other->place);
}

void SimFaults::Impair(int from, int to, SimNetwork::Link link, bool both) {
  world_.network.SetLink(from, to, link);
  if (both) world_.network.SetLink(to, from, link);
  world_.queue.After(LongTime(), [this, from, to, both] {
    world_.network.MendLink(from, to);
    if (both) world_.network.MendLink(to, from);
    world_.NoteDisturbance();
  });
}

void SimFaults::ScheduleLong() {
  const FaultPlan& plan = world_.options.faults;
  Schedule(plan.stop, [this] {
    if (SimNode* node = nodes_.Random()) Pause(*node, LongTime());
  });
  Schedule(plan.split, [this] {
    world_.network.Partition(RandomHalf());
    world_.queue.After(LongTime(), [this] {
      world_.network.Heal();
      world_.NoteDisturbance();
    });
  });
  const auto cut_off = [this](bool hears) {
    const SimNode* node = nodes_.Random();
    if (node == nullptr) return;
    std::set<int> others;
    for (const auto& other : nodes_.all()) others.insert(other->place);
    others.erase(node->place);
    for (const int other : others) {
      const auto [from, to] =
          hears ? std::pair(node->place, other) : std::pair(other, node->place);
      Impair(from, to, {.bytes_max = -1}, /*both=*/false);
    }
  };
  Schedule(plan.deaf, [cut_off] { cut_off(/*hears=*/false); });
  Schedule(plan.mute, [cut_off] { cut_off(/*hears=*/true); });
  Schedule(plan.link, [this] {
    const auto two = RandomPlaces();
    if (!two.has_value()) return;
    Impair(two->first, two->second, {.bytes_max = -1}, world_.rng.Chance(0.5));
  });
  Schedule(plan.large, [this] {
    const auto two = RandomPlaces();
    if (!two.has_value()) return;
    Impair(two->first, two->second, {.bytes_max = kSmallBytesMax}, true);
  });
  Schedule(plan.slow, [this] {
    const auto two = RandomPlaces();
    if (!two.has_value()) return;
    Impair(two->first, two->second,
           {.delay = absl::Milliseconds(world_.rng.Below(300))}, true);
  });
}

}  // namespace dogged
