// Aim: producer, requires and consumers are exact and inverse to each other.
// Method: tiled Cholesky by hand, and random maps against enumeration.
#include "runtime/graph/relations.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/entry_index.h"
#include "runtime/graph/use_inverse.h"

namespace dogged {
namespace {

using testing::ElementsAre;

AffineExpr I(int d, int64_t offset = 0) { return AffineExpr::Index(d, offset); }

// gemm(k, i, j): A(i,j,k+1) from A(i,j,k), L(i,k), L(j,k), 0 <= k < j < i < n.
TEST(InverseMap, FindsTheConsumersOfACholeskyPanelTile) {
  const int64_t n = 6;
  Domain domain;
  domain.dimensions = {
      {"k", {{AffineExpr::Constant(0)}}, {{AffineExpr::Constant(n - 1)}}},
      {"i", {{I(0, 2)}}, {{AffineExpr::Constant(n - 1)}}},
      {"j", {{I(0, 1)}}, {{I(1, -1)}}}};
  const InverseMap row({I(1), I(0)}, domain);  // L(i, k)
  EXPECT_FALSE(row.IsInjective());
  std::vector<IndexVector> tasks;
  row.ForEach({4, 1}, [&](const IndexVector& index) {
    tasks.push_back(index);
    return true;
  });
  EXPECT_THAT(tasks, ElementsAre(IndexVector{1, 4, 2}, IndexVector{1, 4, 3}));
  tasks.clear();
  const InverseMap column({I(2), I(0)}, domain);  // L(j, k)
  column.ForEach({4, 1}, [&](const IndexVector& index) {
    tasks.push_back(index);
    return true;
  });
  EXPECT_THAT(tasks, ElementsAre(IndexVector{1, 5, 4}));
}

// An index is found without the map too: by bounds or a guard that leave one.
TEST(InverseMap, KnowsAnIndexThatHasOneValue) {
  const auto is_injective = [](AffineExpr lower, AffineExpr upper,
                               const Guard& guard) {
    Domain domain = Domain::Box({{"x", 0, 5}});
    domain.dimensions.push_back({"z", {{lower}}, {{upper}}});
    domain.guard = guard;
    const InverseMap inverse({I(0)}, domain);
    std::vector<IndexVector> found;
    inverse.ForEach({3}, [&](const IndexVector& index) {
      found.push_back(index);
      return true;
    });
    if (inverse.IsInjective()) {
      EXPECT_THAT(found, ElementsAre(IndexVector{3, 4}));
    }
    return inverse.IsInjective();
  };
  const AffineExpr zero = AffineExpr::Constant(0);
  const AffineExpr four = AffineExpr::Constant(4);
  EXPECT_FALSE(is_injective(zero, four, {}));
  EXPECT_TRUE(is_injective(four, four, {}));
  EXPECT_TRUE(is_injective(I(0, 1), I(0, 1), {}));
  const Constraint is_four{.expr = I(1, -4), .kind = Constraint::Kind::kZero};
  EXPECT_TRUE(is_injective(zero, four, {{{is_four}}}));
  EXPECT_FALSE(is_injective(zero, four, {{{is_four}, {is_four}}}));
}

// By a cursor, in runs of up to `run_max`.
std::vector<IndexVector> PointsIn(const Domain& domain, int64_t run_max) {
  std::vector<IndexVector> out;
  DomainCursor cursor(domain);
  while (const int64_t count = cursor.NextRun(run_max)) {
    for (int64_t i = 0; i < count; ++i) {
      out.push_back(cursor.first());
      if (i > 0) out.back()[cursor.along()] += i;
    }
  }
  return out;
}

// Tasks (k)(i)(j) with j <= i that read (j)(k): i is free, and j is a number.
TEST(InverseMap, GivesAColumnOfATriangleAsOneRun) {
  Domain triangle = Domain::Box({{"k", 0, 9}, {"i", 0, 99}, {"j", 0, 99}});
  triangle.dimensions[2].upper.push_back({.expr = I(1)});
  const InverseMap inverse({I(2), I(0)}, triangle);
  DomainCursor cursor(inverse.PointsOf({30, 4}));
  EXPECT_EQ(cursor.NextRun(1000), 70);
  EXPECT_EQ(cursor.first(), (IndexVector{4, 30, 30}));
  EXPECT_EQ(cursor.along(), 1);
  EXPECT_EQ(cursor.NextRun(1000), 0);
  DomainCursor rest(inverse.PointsOf({30, 4}), IndexVector{4, 90, 30});
  EXPECT_EQ(rest.NextRun(4), 4);
  EXPECT_EQ(rest.first(), (IndexVector{4, 91, 30}));
  EXPECT_EQ(rest.NextRun(1000), 5);
}

TEST(InverseMap, AgreesWithEnumeration) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::vector<Domain::Range> ranges;
    const auto size = static_cast<int>(1 + rng.Below(3));
    for (int d = 0; d < size; ++d) {
      const int64_t lower = rng.Below(3) - 1;
      ranges.push_back({"i", lower, lower + rng.Below(5)});
    }
    const Domain domain = Domain::Box(ranges);
    AffineMap map;
    const int64_t image_size = rng.Below(4);
    for (int64_t m = 0; m < image_size; ++m) {
      AffineExpr expr = AffineExpr::Constant(rng.Below(3) - 1);
      for (int d = 0; d < size; ++d) {
        expr.coefficients[d] = rng.Below(5) - 2;
      }
      map.push_back(expr);
    }
    Guard guard;
    for (int64_t any = rng.Below(3); any > 0; --any) {
      guard.any_of.emplace_back();
      for (int64_t all = rng.Below(3); all > 0; --all) {
        guard.any_of.back().push_back(
            {.expr = I(static_cast<int>(rng.Below(size)), rng.Below(3) - 1),
             .kind = static_cast<Constraint::Kind>(rng.Below(3)),
             .modulus = 1 + rng.Below(3)});
      }
    }
    std::map<IndexVector, std::vector<IndexVector>> by_image;
    domain.ForEach([&](const IndexVector& index) {
      if (guard.Holds(index)) by_image[Apply(map, index)].push_back(index);
      return true;
    });
    const InverseMap inverse(map, domain, &guard);
    for (const auto& [image, points] : by_image) {
      std::vector<IndexVector> found;
      inverse.ForEach(image, [&](const IndexVector& index) {
        found.push_back(index);
        return true;
      });
      EXPECT_EQ(found, points);
      EXPECT_EQ(inverse.Count(image), std::ssize(points));
      EXPECT_EQ(PointsIn(inverse.PointsOf(image), 1 + rng.Below(3)), points);
      EXPECT_LE(points.size(), inverse.IsInjective() ? 1u : 1000u);
    }
    for (int probe = 0; probe < 20; ++probe) {
      IndexVector image;
      for (int64_t m = 0; m < image_size; ++m) {
        image.push_back(rng.Below(15) - 7);
      }
      if (by_image.contains(image)) continue;
      inverse.ForEach(image, [&](const IndexVector& index) {
        ADD_FAILURE() << "point " << index.ToString() << " for "
                      << image.ToString();
        return true;
      });
      EXPECT_TRUE(PointsIn(inverse.PointsOf(image), 2).empty());
      EXPECT_EQ(inverse.Count(image), 0);
    }
  }
}

Program Heat1d(int64_t n, int64_t steps) {
  ProgramBuilder b("heat1d");
  const int32_t phi =
      b.AddArray({.name = "phi", .rank = 2, .version_index = 1});
  const int32_t kernel = b.AddKernel({"k", "test", ""});
  b.AddClass({.name = "initial",
              .domain = Domain::Box({{"x", 0, n - 1}}),
              .creates = {{phi, {I(0), AffineExpr::Constant(0)}}},
              .kernel = kernel});
  for (const int64_t x : {int64_t{0}, n - 1}) {
    b.AddClass({.name = "edge",
                .domain = Domain::Box({{"t", 1, steps}}),
                .creates = {{phi, {AffineExpr::Constant(x), I(0)}}},
                .kernel = kernel});
  }
  b.AddClass({.name = "finDiff",
              .domain = Domain::Box({{"x", 1, n - 2}, {"t", 1, steps}}),
              .creates = {{phi, {I(0), I(1)}}},
              .uses = {{phi, {I(0), I(1, -1)}, {}},
                       {phi, {I(0, -1), I(1, -1)}, {}},
                       {phi, {I(0, 1), I(1, -1)}, {}}},
              .kernel = kernel});
  Domain last = Domain::Box({{"x", 0, n - 1}, {"t", steps, steps}});
  b.AddResult(phi, last);
  auto program = std::move(b).Build();
  EXPECT_TRUE(program.ok()) << program.status();
  return *std::move(program);
}

TEST(Relations, ProducerRequiresAndConsumersAreInverse) {
  const Program program = Heat1d(7, 3);
  const Relations relations(program);
  std::map<Label, std::set<std::pair<Task, int>>> consumers;
  std::set<Label> created;
  for (int32_t c = 0; c < 4; ++c) {
    program.classes[c].domain.ForEach([&](const IndexVector& index) {
      const Task task{c, index};
      relations.ForEachCreated(task, [&](int, const Label& label) {
        EXPECT_TRUE(created.insert(label).second);
        EXPECT_EQ(relations.ProducerOf(label), task);
      });
      int count = 0;
      relations.ForEachRequired(task, [&](int use, const Label& label) {
        consumers[label].insert({task, use});
        ++count;
      });
      EXPECT_EQ(relations.RequiredCount(task), count);
      return true;
    });
  }
  EXPECT_EQ(std::ssize(created), program.TaskCount());
  for (const Label& label : created) {
    std::set<std::pair<Task, int>> found;
    relations.ForEachConsumer(label, [&](const Task& task, int use) {
      EXPECT_TRUE(found.insert({task, use}).second);
      return true;
    });
    EXPECT_EQ(found, consumers[label]) << program.LabelText(label);
    EXPECT_EQ(relations.IsResult(label), label.index[1] == 3);
  }
  EXPECT_FALSE(relations.ProducerOf({0, {7, 1}}).has_value());
  EXPECT_FALSE(relations.ProducerOf({0, {3, 4}}).has_value());
}

// A use with tables is the inverse of what it reads, in whole and in parts.
TEST(UseInverse, IsExactForRandomTables) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const int dims = 1 + static_cast<int>(rng.Below(3));
    const int rank = 1 + static_cast<int>(rng.Below(3));
    std::vector<Domain::Range> ranges;
    for (int d = 0; d < dims; ++d) {
      const int64_t lower = rng.Below(3) - 1;
      ranges.push_back({std::string(1, static_cast<char>('i' + d)), lower,
                        lower + rng.Below(5)});
    }
    Domain domain = Domain::Box(ranges);
    if (dims > 1 && rng.Below(2) == 0) domain.dimensions[1].upper = {{I(0, 2)}};
    Use use;
    if (rng.Below(2) == 0) use.guard = {{{{.expr = I(0)}}}};
    for (int r = 0; r < rank; ++r) {
      AffineExpr entry = AffineExpr::Constant(rng.Below(3));
      if (rng.Below(2) == 0) {
        entry = entry + I(static_cast<int>(rng.Below(dims)));
      }
      use.map.push_back(entry);
    }
    auto gather = std::make_shared<Gather>();
    for (int d = 0; d < dims; ++d) {
      if (rng.Below(2) == 0) continue;
      gather->dims.push_back(d);
      gather->lower.push_back(ranges[d].lower - 1);
      // A triangle may reach beyond its box.
      gather->extents.push_back(12);
    }
    for (int r = 0; r < rank; ++r) {
      if (r > 0 && rng.Below(2) == 0) continue;
      Gather::Table& table = gather->tables.emplace_back();
      table.position = r;
      for (int64_t p = 0; p < gather->PlaceCount(); ++p) {
        table.values.push_back(rng.Below(4));
      }
    }
    use.gather = gather;
    ASSERT_TRUE(UseInverse::Fits(use, domain));
    const UseInverse inverse(use, domain);
    std::map<IndexVector, std::set<IndexVector>> expected;
    domain.ForEach([&](const IndexVector& task) {
      if (use.guard.Holds(task)) expected[use.IndexOf(task)].insert(task);
      return true;
    });
    for (const auto& [label, tasks] : expected) {
      std::set<IndexVector> found;
      inverse.ForEach(label, [&](const IndexVector& task) {
        EXPECT_TRUE(found.insert(task).second);
        return true;
      });
      EXPECT_EQ(found, tasks) << label.ToString();
      EXPECT_EQ(inverse.Count(label), std::ssize(tasks));
      EXPECT_TRUE(!inverse.IsInjective() || tasks.size() == 1u);
      std::set<IndexVector> in_parts;
      for (int64_t part = 0; part < inverse.PartCount(label); ++part) {
        inverse.PartOf(label, part).ForEach([&](const IndexVector& task) {
          EXPECT_TRUE(in_parts.insert(task).second);
          EXPECT_EQ(inverse.PartWith(label, task), part);
          return true;
        });
      }
      EXPECT_EQ(in_parts, tasks) << label.ToString();
    }
    IndexVector beyond;
    for (int r = 0; r < rank; ++r) beyond.push_back(1000);
    EXPECT_EQ(inverse.Count(beyond), 0);
  }
}

// It leaves out no map that has the image, and goes by its numbers.
TEST(EntryIndex, FindsEveryMapThatCanHaveAnImage) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<EntryIndex::Entries> maps;
    const int64_t count = rng.Below(60);
    for (int64_t k = 0; k < count; ++k) {
      EntryIndex::Entries& map = maps.emplace_back();
      for (int e = 0; e < 2; ++e) {
        map.push_back(rng.Below(3) == 0 ? std::nullopt
                                        : std::optional(rng.Below(5)));
      }
    }
    const EntryIndex index(maps);
    for (int64_t image = 0; image < 36; ++image) {
      const int64_t a = image / 6;
      const int64_t b = image % 6;
      std::set<int64_t> found;
      for (int64_t k = index.Next({a, b}, 0); k < count;
           k = index.Next({a, b}, k + 1)) {
        found.insert(k);
      }
      for (int64_t k = 0; k < count; ++k) {
        const bool can =
            maps[k][0].value_or(a) == a && maps[k][1].value_or(b) == b;
        EXPECT_TRUE(!can || found.contains(k)) << a << " " << b << " " << k;
      }
    }
  }
  // With an entry that is another number in each there is one to look at.
  std::vector<EntryIndex::Entries> apart;
  for (int64_t k = 0; k < 100; ++k) apart.push_back({std::nullopt, k});
  const EntryIndex index(apart);
  EXPECT_EQ(index.Next({7, 42}, 0), 42);
  EXPECT_EQ(index.Next({7, 42}, 43), 100);
  EXPECT_EQ(index.Next({7, 200}, 0), 100);
}

}  // namespace
}  // namespace dogged
