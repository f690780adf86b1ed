// Aim: leaves and needed tasks are exactly what their definitions say.
// Method: random guards, and stencils, against a scan of all tasks.
#include "runtime/exec/leaves.h"

#include <set>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/exec/needed.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

Guard RandomGuard(Rng& rng) {
  Guard out;
  const int64_t alternatives = rng.Below(3);
  for (int64_t a = 0; a < alternatives; ++a) {
    std::vector<Constraint> all_of;
    for (int64_t c = rng.Below(3); c >= 0; --c) {
      Constraint constraint{.expr = AffineExpr::Constant(rng.Below(9) - 4)};
      for (size_t d = 0; d < 2; ++d) {
        constraint.expr.coefficients[d] = rng.Below(5) - 2;
      }
      constraint.kind = static_cast<Constraint::Kind>(rng.Below(3));
      constraint.modulus = 1 + rng.Below(3);
      all_of.push_back(constraint);
    }
    out.any_of.push_back(all_of);
  }
  return out;
}

TEST(Leaves, AreTheTasksThatRequireNothing) {
  int64_t found = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    ProgramBuilder b("random");
    const int32_t a = b.AddArray({.name = "a", .rank = 2});
    const int32_t in = b.AddArray({.name = "in", .rank = 0});
    TaskClass c{.name = "c",
                .domain = Domain::Box({{"i", -3, 4}, {"j", -2, 5}}),
                .creates = {{a, {AffineExpr::Index(0), AffineExpr::Index(1)}}},
                .kernel = b.AddKernel({"k", "test", ""})};
    c.domain.guard = RandomGuard(rng);
    for (int64_t u = rng.Below(3); u > 0; --u) {
      c.uses.push_back({in, {}, RandomGuard(rng)});
    }
    b.AddClass(c);
    const Program program = std::move(b).Build().value();
    const Relations relations(program);
    std::set<Task> wanted;
    c.domain.ForEach([&](const IndexVector& index) {
      const Task task{.task_class = 0, .index = index};
      if (relations.RequiredCount(task) == 0) wanted.insert(task);
      return true;
    });
    std::set<Task> given;
    LeafCursor cursor(relations);
    while (const std::optional<Task> task = cursor.Next()) {
      EXPECT_TRUE(given.insert(*task).second) << program.TaskText(*task);
    }
    EXPECT_TRUE(cursor.IsAtEnd());
    EXPECT_EQ(given, wanted);
    found += std::ssize(wanted);
  }
  EXPECT_GT(found, 1000);
}

TEST(Leaves, OfAHugeWavefrontAreFoundAtOnce) {
  const Program program = Wavefront(1'000'000'000);
  const Relations relations(program);
  LeafCursor cursor(relations);
  EXPECT_EQ(cursor.Next(), (Task{.task_class = 0, .index = {0, 0}}));
  EXPECT_EQ(cursor.Next(), std::nullopt);
}

TEST(NeededTasks, AreTheConeUnderTheResults) {
  constexpr int64_t kPoints = 30;
  for (const int64_t last : {0, 4, 29}) {
    for (const int64_t step : {0, 3, 20}) {
      const Program program = Stencil(kPoints, 20, step, last);
      const Relations relations(program);
      const NeededTasks needed(relations);
      int64_t count = 0;
      for (int64_t x = 0; x < kPoints; ++x) {
        for (int64_t t = 0; t <= 20; ++t) {
          const bool is_needed = t <= step && x <= last + step - t;
          EXPECT_EQ(needed.Contains({.task_class = 0, .index = {x, t}}),
                    is_needed);
          count += is_needed ? 1 : 0;
        }
      }
      EXPECT_EQ(needed.count(), count);
    }
  }
}

TEST(NeededTasks, FitTheirBoxesOnSlantedDomains) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    ProgramBuilder b("slanted");
    const int32_t a = b.AddArray({.name = "a", .rank = 2});
    const AffineExpr i = AffineExpr::Index(0);
    const AffineExpr j = AffineExpr::Index(1);
    const auto slanted = [&](int64_t least) {
      return AffineBound{.expr = i * (rng.Below(7) - 3) +
                                 AffineExpr::Constant(least + rng.Below(5)),
                         .divisor = 1 + rng.Below(2)};
    };
    Domain domain = Domain::Box({{"i", -4, 5}, {"j", 0, 0}});
    domain.dimensions[1].lower = {slanted(-5)};
    domain.dimensions[1].upper = {slanted(3)};
    b.AddClass({.name = "c",
                .domain = domain,
                .creates = {{a, {i, j}}},
                .kernel = b.AddKernel({"k", "test", ""})});
    Domain wanted = domain;
    wanted.guard = {{{{.expr = i + j,
                       .kind = Constraint::Kind::kDivisible,
                       .modulus = 2}}}};
    b.AddResult(a, wanted);
    const Program program = std::move(b).Build().value();
    const Relations relations(program);
    const NeededTasks needed(relations);
    EXPECT_EQ(needed.count(), wanted.Count());
    domain.ForEach([&](const IndexVector& index) {
      EXPECT_EQ(needed.Contains({.task_class = 0, .index = index}),
                wanted.Contains(index));
      return true;
    });
  }
}

TEST(NeededTasks, AreAllWhereMarkingWouldCostTooMuch) {
  const Program program = Stencil(1'000'000, 1'000'000, 5, 5);
  const Relations relations(program);
  const NeededTasks needed(relations);
  EXPECT_TRUE(needed.Contains({.task_class = 0, .index = {7, 999'999}}));
}

}  // namespace
}  // namespace dogged
