// Aim: the demand timeout follows the slowest task, but for a while after a
// death.
#include "runtime/job/context/task_times.h"

#include "gtest/gtest.h"

namespace dogged {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

TEST(TaskTimes, PatienceFollowsTheSlowestTask) {
  TaskTimes times(1, JobLimits{});
  EXPECT_EQ(times.DemandTimeout(kStart), JobLimits{}.demand_timeout_min);
  times.NoteSubmitted(0);
  times.NoteEnded(0, absl::Seconds(3));
  times.NoteSubmitted(0);
  times.NoteEnded(0, absl::Seconds(1));
  EXPECT_EQ(times.DemandTimeout(kStart), absl::Seconds(24));
  EXPECT_EQ(times.UsualTimeout(), absl::Seconds(24));
}

TEST(TaskTimes, AfterADeathItIsShortForAWhile) {
  const JobLimits limits;
  TaskTimes times(1, limits);
  times.NoteSubmitted(0);
  times.NoteEnded(0, absl::Seconds(3));
  times.NoteLoss(kStart);
  EXPECT_EQ(times.DemandTimeout(kStart), limits.after_failure_timeout);
  EXPECT_EQ(times.UsualTimeout(), absl::Seconds(24));
  const absl::Time end = kStart + 8 * times.UsualTimeout();
  EXPECT_EQ(times.DemandTimeout(end - absl::Seconds(1)),
            limits.after_failure_timeout);
  EXPECT_EQ(times.DemandTimeout(end), absl::Seconds(24));
}

TEST(TaskTimes, ADeathMakesNobodySlower) {
  TaskTimes times(1, JobLimits{});
  times.NoteLoss(kStart);
  EXPECT_EQ(times.DemandTimeout(kStart), JobLimits{}.demand_timeout_min);
}

}  // namespace
}  // namespace dogged
