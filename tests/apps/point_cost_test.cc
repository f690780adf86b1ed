// Aim: the time of a run by points is told before it starts, from the tasks and
// the labels that they read. Method: programs by hand.
#include "apps/dogged/report/point_cost.h"

#include "dsl/ir/point_bodies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

Program Points(int64_t count, size_t use_count, bool has_elements) {
  dsl::CodeBody body{.has_elements = has_elements};
  Program out;
  out.kernels.push_back({"step", "code", body.Encode()});
  out.classes.push_back({.name = "step",
                         .domain = Domain::Box({{"i", 1, count}}),
                         .uses = std::vector<Use>(use_count)});
  return out;
}

TEST(PointCost, GrowsWithTasksAndUsesAndFallsWithWorkers) {
  const auto cost = PointCostOf(Points(1'000'000, 1, false), 1);
  ASSERT_TRUE(cost.has_value());
  EXPECT_GT(cost->on_agents, 10 * cost->in_one_process);
  EXPECT_EQ(PointCostOf(Points(1'000'000, 0, false), 1)->in_one_process,
            cost->in_one_process);
  EXPECT_EQ(PointCostOf(Points(3'000'000, 1, false), 3)->in_one_process,
            cost->in_one_process);
  EXPECT_GT(PointCostOf(Points(1'000'000, 3, false), 1)->in_one_process,
            3 * cost->in_one_process);
  EXPECT_EQ(PointCostText(*cost),
            "about 0.14 s in one process, about 4.5 s on agents");
}

TEST(PointCost, ACheckTakesMicrosecondsATask) {
  EXPECT_EQ(SerialTimeOf(0), absl::ZeroDuration());
  EXPECT_GT(SerialTimeOf(1'000'000),
            5 * PointCostOf(Points(1'000'000, 1, false), 1)->in_one_process);
  EXPECT_LT(SerialTimeOf(1'000'000), absl::Seconds(10));
}

// In one process readers of one label look it up, as others do; agents send it
// about.
TEST(PointCost, ReadersOfOneLabelTakeLongerOnAgents) {
  Program apart = Points(1'000'000, 2, false);
  for (Use& use : apart.classes[0].uses) use.map = {AffineExpr::Index(0)};
  Program shared = apart;
  shared.classes[0].uses[1].map = {AffineExpr::Constant(7)};
  EXPECT_EQ(PointCostOf(shared, 4)->in_one_process,
            PointCostOf(apart, 4)->in_one_process);
  EXPECT_GT(PointCostOf(shared, 4)->on_agents,
            1.5 * PointCostOf(apart, 4)->on_agents);
}

TEST(PointCost, IsNotKnownOfBlocksAndKernels) {
  EXPECT_FALSE(PointCostOf(Points(10, 1, true), 1).has_value());
  Program native = Points(10, 1, false);
  native.kernels[0].kind = "native";
  EXPECT_FALSE(PointCostOf(native, 1).has_value());
}

}  // namespace
}  // namespace dogged
