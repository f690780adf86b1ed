// Aim: a search begins when nothing moves for longer than is usual, and in any
// case after some time. Method: a literal clock.
#include "runtime/job/context/stall_detector.h"

#include "gtest/gtest.h"

namespace dogged {
namespace {

constexpr absl::Duration kMin = absl::Milliseconds(500);
constexpr absl::Duration kMax = absl::Seconds(5);

absl::Time At(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

TEST(StallDetector, IsLongAfterTheLeastTime) {
  StallDetector still;
  still.BeginAnew(At(0));
  EXPECT_FALSE(still.IsStalled(At(0.5), kMin, kMax));
  EXPECT_TRUE(still.IsStalled(At(0.6), kMin, kMax));
  still.BeginAnew(At(0.6));
  EXPECT_FALSE(still.IsStalled(At(1), kMin, kMax));
  EXPECT_TRUE(still.IsStalled(At(1.2), kMin, kMax));
}

TEST(StallDetector, IsLongerWhereOneWaitsForOthers) {
  StallDetector still;
  still.BeginAnew(At(0));
  still.NoteProgress(At(1));  // it took one second, whatever began meanwhile
  EXPECT_FALSE(still.IsStalled(At(2.9), kMin, kMax));
  EXPECT_TRUE(still.IsStalled(At(3.1), kMin, kMax));
  for (int i = 0; i < 45; ++i) still.Fade();
  EXPECT_TRUE(still.IsStalled(At(2.1), kMin, kMax));
  EXPECT_FALSE(still.IsStalled(At(1.9), kMin, kMax));
}

TEST(StallDetector, HasAnEnd) {
  StallDetector still;
  still.BeginAnew(At(0));
  still.NoteProgress(At(100));
  EXPECT_FALSE(still.IsStalled(At(104.9), kMin, kMax));
  EXPECT_TRUE(still.IsStalled(At(105.1), kMin, kMax));
  EXPECT_EQ(still.last_progress(), At(100));
}

}  // namespace
}  // namespace dogged
