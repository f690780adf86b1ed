// Aim: a single agent at a time runs a task as long as its claim is repeated,
// and no claim outlives its holder for good. Method: a literal clock.
#include "runtime/job/tasks/claims.h"

#include "gmock/gmock.h"

namespace dogged {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(1);
const AgentId kAnna{1};
const AgentId kBert{2};
const Task kTask{.task_class = 0, .index = {3, 4}};

absl::Time At(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

TEST(Claims, OnlyTheHolderMayRunATask) {
  Claims claims(10);
  EXPECT_FALSE(claims.IsClaimed(At(0), kTask));
  EXPECT_TRUE(claims.Take(At(0), kTask, kAnna, kPatience));
  EXPECT_TRUE(claims.IsClaimed(At(0.5), kTask));
  EXPECT_FALSE(claims.Take(At(0.5), kTask, kBert, kPatience));
  EXPECT_TRUE(claims.Take(At(0.5), kTask, kAnna, kPatience));
}

TEST(Claims, LiveAsLongAsTheyAreRepeated) {
  Claims claims(10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(claims.Take(At(0.9 * i), kTask, kAnna, kPatience));
  }
  EXPECT_FALSE(claims.Take(At(9), kTask, kBert, kPatience));
  EXPECT_TRUE(claims.Take(At(9.2), kTask, kBert, kPatience));
}

TEST(Claims, EachOverrideDoublesThePatience) {
  Claims claims(10);
  EXPECT_TRUE(claims.Take(At(0), kTask, kAnna, kPatience));
  EXPECT_TRUE(claims.Take(At(1.1), kTask, kBert, kPatience));
  EXPECT_FALSE(claims.Take(At(3), kTask, kAnna, kPatience));
  EXPECT_TRUE(claims.Take(At(3.2), kTask, kAnna, kPatience));
  EXPECT_FALSE(claims.Take(At(7), kTask, kBert, kPatience));
  EXPECT_TRUE(claims.Take(At(7.3), kTask, kBert, kPatience));
}

TEST(Claims, DieWithTheirHolder) {
  Claims claims(10);
  EXPECT_TRUE(claims.Take(At(0), kTask, kAnna, kPatience));
  claims.Forget([](const Task&, AgentId holder) { return holder == kAnna; });
  EXPECT_FALSE(claims.IsClaimed(At(0), kTask));
  EXPECT_TRUE(claims.Take(At(0), kTask, kBert, kPatience));
}

TEST(Claims, BeyondTheBoundNobodyIsRefused) {
  Claims claims(1);
  const Task other{.task_class = 1, .index = {}};
  EXPECT_TRUE(claims.Take(At(0), kTask, kAnna, kPatience));
  EXPECT_TRUE(claims.Take(At(0), other, kAnna, kPatience));
  EXPECT_TRUE(claims.Take(At(0), other, kBert, kPatience));
  EXPECT_EQ(claims.size(), 1);
}

}  // namespace
}  // namespace dogged
