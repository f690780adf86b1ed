// Aim: a timer is due at its last time and once, whatever was set, moved or
// dropped before. Method: hand-made timers; random ones against a plain list.
#include "kvstore/dictionary/timer_wheel.h"

#include <map>
#include <memory>

#include "gmock/gmock.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr absl::Duration kTick = absl::Milliseconds(32);

Label At(int64_t x) { return {.array = 0, .index = {x}}; }
absl::Time Time(int64_t milliseconds) {
  return absl::FromUnixMillis(1'000'000 + milliseconds);
}

struct Owner {
  explicit Owner(int64_t x) : label(At(x)) { timer.SetLabel(label); }
  Label label;
  TimerWheel::Timer timer;
};

TEST(TimerWheel, IsDueOnceAndNotBefore) {
  TimerWheel wheel;
  Owner owner(1);
  wheel.Set(owner.timer, Time(500));
  EXPECT_THAT(wheel.TakeDue(Time(499)), IsEmpty());
  EXPECT_THAT(wheel.TakeDue(Time(500) + kTick), ElementsAre(At(1)));
  EXPECT_THAT(wheel.TakeDue(Time(9000)), IsEmpty());
}

TEST(TimerWheel, TheLastTimeCounts) {
  TimerWheel wheel;
  Owner later(1);
  Owner sooner(2);
  Owner never(3);
  wheel.Set(later.timer, Time(100));
  wheel.Set(later.timer, Time(90'000));  // more than a turn away
  wheel.Set(sooner.timer, Time(90'000));
  wheel.Set(sooner.timer, Time(100));
  wheel.Set(never.timer, Time(100));
  wheel.Set(never.timer, absl::InfiniteFuture());
  EXPECT_THAT(wheel.TakeDue(Time(200)), ElementsAre(At(2)));
  EXPECT_THAT(wheel.TakeDue(Time(89'999)), IsEmpty());
  EXPECT_THAT(wheel.TakeDue(Time(90'040)), ElementsAre(At(1)));
}

TEST(TimerWheel, WhatIsPastIsDueNext) {
  TimerWheel wheel;
  Owner owner(1);
  EXPECT_THAT(wheel.TakeDue(Time(1000)), IsEmpty());
  wheel.Set(owner.timer, Time(10));
  EXPECT_THAT(wheel.TakeDue(Time(1000) + kTick), ElementsAre(At(1)));
}

TEST(TimerWheel, AgreesWithAPlainList) {
  Rng rng(7);
  TimerWheel wheel;
  std::vector<std::unique_ptr<Owner>> owners(200);
  std::map<Label, absl::Time> expected;
  int64_t now = 0;
  for (int step = 0; step < 20'000; ++step) {
    const int64_t at = rng.Below(std::ssize(owners));
    auto& owner = owners[at];
    switch (rng.Below(4)) {
      case 0:
        owner.reset();  // with its timer
        expected.erase(At(at));
        break;
      case 1: {
        now += rng.Chance(0.01) ? rng.Below(30'000) : rng.Below(60);
        for (const Label& label : wheel.TakeDue(Time(now))) {
          ASSERT_TRUE(expected.contains(label)) << step;
          EXPECT_LE(expected[label], Time(now)) << step;
          expected.erase(label);
        }
        for (const auto& [label, time] : expected) {
          EXPECT_GT(time + 2 * kTick, Time(now)) << step;
        }
        break;
      }
      default:
        if (owner == nullptr) owner = std::make_unique<Owner>(at);
        expected[At(at)] = Time(now + rng.Below(20'000) - 100);
        wheel.Set(owner->timer, expected[At(at)]);
        expected[At(at)] = std::max(expected[At(at)], Time(now));
    }
  }
}

}  // namespace
}  // namespace dogged
