// Aim: keys and their tasks are counted as if all tasks were gone through.
// Method: programs whose tasks are enumerated, of random domains too.
#include "runtime/graph/keys/affinity.h"

#include <map>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/relations.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using TasksOfKeys = std::map<uint64_t, int64_t>;

TasksOfKeys Counted(const Program& program, int64_t keys_max) {
  TasksOfKeys out;
  for (const KeyTasks& key : TasksByKey(program, keys_max)) {
    EXPECT_TRUE(out.emplace(key.key, key.tasks).second) << "twice";
  }
  return out;
}

TasksOfKeys Enumerated(const Program& program) {
  const Relations relations(program);
  TasksOfKeys tasks;
  for (size_t c = 0; c < program.classes.size(); ++c) {
    program.classes[c].domain.ForEach([&](const IndexVector& index) {
      const Label first = relations.FirstCreated(
          {.task_class = static_cast<int32_t>(c), .index = index});
      ++tasks[AffinityKey(program.arrays[first.array], first.index)];
      return true;
    });
  }
  return tasks;
}

TEST(Affinity, BlocksShareAKeyAndVersionsDoNotCount) {
  const Array array{
      .name = "u", .rank = 2, .affinity_block = {8, 0}, .affinity_group = 3};
  EXPECT_EQ(AffinityKey(array, {7, 0}), AffinityKey(array, {0, 100}));
  EXPECT_NE(AffinityKey(array, {7, 0}), AffinityKey(array, {8, 0}));
  EXPECT_NE(AffinityKey(array, {-1, 0}), AffinityKey(array, {0, 0}));
  Array other = array;
  other.affinity_group = 4;
  EXPECT_NE(AffinityKey(array, {0, 0}), AffinityKey(other, {0, 0}));
}

TEST(Affinity, TasksAreCountedByTheirFirstCreates) {
  for (const Job& job :
       {Heat1dJob(101, 20, 8), CholeskyJob(9), QrJob(7), WavefrontJob(12)}) {
    EXPECT_EQ(Counted(job.program, 1000), Enumerated(job.program))
        << job.program.name;
  }
}

TEST(Affinity, SlabsComeAfterTheirNeighbours) {
  const Program program = Heat1dJob(101, 20, 8).program;
  const std::vector<KeyTasks> keys = TasksByKey(program, 1000);
  ASSERT_EQ(keys.size(), 13u);
  for (int64_t i = 0; i < 13; ++i) {
    EXPECT_EQ(keys[i].key, AffinityKey(program.arrays[0], {8 * i, 3}));
  }
}

TEST(Affinity, RandomDomainsAreCounted) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int rank = 1 + static_cast<int>(rng.Below(3));
    ProgramBuilder b("random");
    Array array{.name = "u", .rank = rank};
    for (int i = 0; i < rank; ++i) {
      array.affinity_block.push_back(rng.Below(4));
    }
    const int32_t u = b.AddArray(array);
    const int32_t kernel = b.AddKernel({"mix", "test", ""});
    Domain domain;
    AffineMap map;
    for (int d = 0; d < rank; ++d) {
      AffineExpr lower = AffineExpr::Constant(rng.Below(7) - 3);
      AffineExpr upper = AffineExpr::Constant(rng.Below(9));
      if (d > 0 && rng.Chance(0.5)) {
        const int outer = static_cast<int>(rng.Below(d));
        (rng.Chance(0.5) ? lower : upper) =
            AffineExpr::Index(outer, rng.Below(5) - 2);
      }
      domain.dimensions.push_back({"i", {{.expr = lower}}, {{.expr = upper}}});
      map.push_back(AffineExpr::Index(d) * (rng.Chance(0.3) ? -1 : 1) +
                    AffineExpr::Constant(rng.Below(5)));
    }
    b.AddClass({.name = "c",
                .domain = domain,
                .creates = {{u, map}},
                .kernel = kernel});
    const Program program = *std::move(b).Build();
    EXPECT_EQ(Counted(program, 10000), Enumerated(program));
  }
}

// A domain that would take long to count is taken for a box.
TEST(Affinity, LongLoopsAreEstimated) {
  const AffineExpr t = AffineExpr::Index(0);
  const AffineExpr x = AffineExpr::Index(1);
  ProgramBuilder b("long");
  const int32_t u = b.AddArray({.name = "u",
                                .rank = 2,
                                .affinity_block = {0, 1 << 20},
                                .version_index = 0});
  const int32_t kernel = b.AddKernel({"mix", "test", ""});
  const int64_t steps = int64_t{1} << 40;
  b.AddClass(
      {.name = "c",
       .domain = {.dimensions =
                      {{"t", {{}}, {{.expr = AffineExpr::Constant(steps - 1)}}},
                       {"x",
                        {{}},
                        {{.expr = AffineExpr::Constant(9)}, {.expr = t}}}}},
       .creates = {{u, {t, x}}},
       .kernel = kernel});
  const Program program = *std::move(b).Build();
  EXPECT_THAT(TasksByKey(program, 10),
              ElementsAre(testing::Field(&KeyTasks::tasks, 10 * steps)));
}

TEST(Affinity, TooManyKeysAreNone) {
  const Program program = Heat1dJob(1000, 2, 1).program;
  EXPECT_THAT(TasksByKey(program, 999), IsEmpty());
  EXPECT_EQ(TasksByKey(program, 1000).size(), 1000u);
  EXPECT_THAT(TasksByKey(Heat1dJob(int64_t{1} << 40, 2, 1).program, 4096),
              IsEmpty());
}

}  // namespace
}  // namespace dogged
