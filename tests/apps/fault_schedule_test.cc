// Aim: a kill or a join that was asked for is due once, when its share of the
// tasks or its time has come, and what did not happen is said.
// Method: moments made by hand.
#include "apps/dogged/run/fault_schedule.h"

#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

When Share(double share) {
  return {.share = share, .text = std::to_string(share)};
}

TEST(FaultSchedule, AShareIsOfTheTasksThatAreNeeded) {
  RunOptions options;
  options.kill_at = {Share(0.4), Share(0.6)};
  FaultSchedule faults(options);
  EXPECT_FALSE(faults.IsKillDue({.tasks_done = 39, .tasks_needed = 100}));
  EXPECT_TRUE(faults.IsKillDue({.tasks_done = 40, .tasks_needed = 100}));
  // A kill is due until there is an agent to kill.
  EXPECT_TRUE(faults.IsKillDue({.tasks_done = 40, .tasks_needed = 100}));
  faults.NoteKill();
  EXPECT_FALSE(faults.IsKillDue({.tasks_done = 59, .tasks_needed = 100}));
  // A loop that goes on for one more round needs more tasks.
  EXPECT_FALSE(faults.IsKillDue({.tasks_done = 60, .tasks_needed = 200}));
  EXPECT_TRUE(faults.IsKillDue({.tasks_done = 120, .tasks_needed = 200}));
}

TEST(FaultSchedule, TimesAndPeriodsAreDueOnce) {
  RunOptions options;
  options.join_at = {{.seconds = 2, .text = "2s"}, Share(0.5)};
  options.kill_every_seconds = 5;
  FaultSchedule faults(options);
  RunMoment now{.tasks_needed = 10, .elapsed = absl::Seconds(1.9)};
  EXPECT_EQ(faults.TakeJoin(now), std::nullopt);
  EXPECT_FALSE(faults.TakePeriodicKill(now));
  now.elapsed = absl::Seconds(5);
  EXPECT_EQ(faults.TakeJoin(now), "2s");
  EXPECT_EQ(faults.TakeJoin(now), std::nullopt);
  EXPECT_TRUE(faults.TakePeriodicKill(now));
  EXPECT_FALSE(faults.TakePeriodicKill(now));
  now.elapsed = absl::Seconds(10);
  EXPECT_TRUE(faults.TakePeriodicKill(now));
}

TEST(FaultSchedule, WhatDidNotHappenIsSaid) {
  RunOptions options;
  options.kill_at = {{.share = 0.4, .text = "40%"}, {.text = "9s"}};
  options.join_at = {{.share = 0.5, .text = "50%"}};
  options.kill_every_seconds = 5;
  FaultSchedule faults(options);
  faults.NoteKill();
  EXPECT_THAT(
      faults.Omissions(/*nobody_to_kill=*/true),
      ElementsAre("--kill-at 9s did not happen: there was one agent left, "
                  "which is not killed.",
                  "--join-at 50% did not happen: the run was over before.",
                  "--kill-every did not happen: there was one agent left, "
                  "which is not killed."));
  faults.NoteKill();
  faults.NotePeriodicKill();
  EXPECT_TRUE(faults.TakeJoin({}).has_value());
  EXPECT_THAT(faults.Omissions(false), IsEmpty());
}

}  // namespace
}  // namespace dogged
