// Order of the backward search: certain demands first, then the deepest; and
// the demands that it forgets when there are too many.
#include "runtime/job/tasks/demanded_tasks.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;

Label At(int64_t i) { return {.array = 0, .index = {i}}; }

Task TaskAt(int64_t i) { return {.task_class = 0, .index = {i}}; }

std::vector<int64_t> TakeAll(OpenDemands& open) {
  std::vector<int64_t> taken;
  while (!open.empty()) taken.push_back(open.TakeFirst().label.index[0]);
  return taken;
}

TEST(OpenDemands, TheCertainComesBeforeTheDeep) {
  OpenDemands open(100);
  open.Add({.label = At(0), .depth = 9});
  open.Add({.label = At(1), .depth = 1, .certain = true});
  open.Add({.label = At(2), .depth = 2, .certain = true});
  open.Add({.label = At(3), .depth = 10});
  open.Add({.label = At(4), .depth = 10});
  EXPECT_THAT(TakeAll(open), ElementsAre(2, 1, 4, 3, 0));
}

TEST(OpenDemands, ALabelHasOnePlaceTheMoreUrgentOne) {
  OpenDemands open(100);
  open.Add({.label = At(0), .depth = 5, .passed_on = true});
  open.Add({.label = At(1), .depth = 7});
  open.Add({.label = At(0), .depth = 2, .certain = true});
  open.Add({.label = At(0), .depth = 9});
  EXPECT_EQ(open.size(), 2);
  const OpenDemand first = open.TakeFirst();
  EXPECT_EQ(first.label, At(0));
  EXPECT_TRUE(first.certain);
  EXPECT_TRUE(first.passed_on);
  EXPECT_EQ(first.depth, 5);
  EXPECT_THAT(TakeAll(open), ElementsAre(1));
}

TEST(OpenDemands, ForgetsTheLeastUrgent) {
  OpenDemands open(3);
  open.Add({.label = At(0), .depth = 1, .certain = true});
  for (int i = 1; i < 10; ++i) open.Add({.label = At(i), .depth = i});
  EXPECT_THAT(TakeAll(open), ElementsAre(0, 9, 8));
}

// A label made while its demand waited is not made again for it.
TEST(OpenDemands, ForgetsWhatWasMade) {
  OpenDemands open(100);
  open.Add({.label = At(0), .depth = 1});
  open.Add({.label = At(1), .depth = 2, .certain = true});
  open.Erase(At(1));
  open.Erase(At(2));
  EXPECT_EQ(open.size(), 1);
  EXPECT_THAT(TakeAll(open), ElementsAre(0));
}

TEST(DemandedTasks, TheLeastUrgentIsTheShallowestGuess) {
  DemandedTasks demanded;
  demanded.Put(TaskAt(0), {.depth = 1, .certain = true});
  demanded.Put(TaskAt(1), {.depth = 7});
  demanded.Put(TaskAt(2), {.depth = 3});
  EXPECT_EQ(demanded.LeastUrgent(), TaskAt(2));
  demanded.Put(TaskAt(2), {.depth = 3, .certain = true});
  EXPECT_EQ(demanded.LeastUrgent(), TaskAt(1));
  demanded.Erase(TaskAt(1));
  EXPECT_EQ(demanded.LeastUrgent(), TaskAt(0));
  EXPECT_EQ(demanded.size(), 2);
}

// A row has one place, for its latest version, until it has moved; each row has
// its turn, however many there are.
TEST(FarDemands, GoOnWhereTheirRowsHaveMoved) {
  FarDemands far(1000);
  const auto demand = [](int64_t row, int64_t version) {
    return OpenDemand{.label = {.array = 0, .index = {row, version}}};
  };
  const auto row_of = [](int64_t row) {
    return Label{.array = 0, .index = {row, 0}};
  };
  for (int64_t row = 0; row < 600; ++row) {
    far.Add(row_of(row), 1, demand(row, 99));
  }
  far.Add(row_of(500), 2, demand(500, 80));
  far.Add(row_of(501), 2, demand(501, 120));
  std::vector<OpenDemand> taken;
  const auto take = [&] {
    for (const OpenDemand& one : far.TakeSome(
             [](const OpenDemand&, int64_t newest) { return newest == 2; })) {
      taken.push_back(one);
    }
  };
  for (int i = 0; i < 3; ++i) take();
  ASSERT_THAT(taken, testing::SizeIs(2));
  EXPECT_EQ(taken[0].label, demand(500, 99).label);
  EXPECT_EQ(taken[1].label, demand(501, 120).label);
  far.Add(row_of(3), 2, demand(3, 99));
  for (int i = 0; i < 3; ++i) take();
  EXPECT_THAT(taken, testing::SizeIs(3));
}

}  // namespace
}  // namespace dogged
