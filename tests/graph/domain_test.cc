// Aim: domains count, contain and enumerate the same points.
// Method: random nested bounds and guards against a brute-force box scan.
#include "runtime/graph/domain.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/graph/index_range.h"

namespace dogged {
namespace {

Domain RandomDomain(Rng& rng) {
  Domain out;
  const auto size = static_cast<int>(rng.Below(4));
  for (int d = 0; d < size; ++d) {
    Dimension dimension{.name = std::string(1, static_cast<char>('i' + d))};
    AffineBound lower{.expr = AffineExpr::Constant(rng.Below(4) - 2)};
    AffineBound upper{.expr = AffineExpr::Constant(rng.Below(6) - 1)};
    for (int e = 0; e < d; ++e) {
      lower.expr.coefficients[e] = rng.Below(3) - 1;
      upper.expr.coefficients[e] = rng.Below(3) - 1;
    }
    lower.divisor = 1 + rng.Below(3);
    upper.divisor = 1 + rng.Below(3);
    dimension.lower = {lower};
    dimension.upper = {upper};
    // Outer indices are bounded, so that Scan() sees all points.
    if (d + 1 < size || rng.Chance(0.5)) {
      dimension.lower.push_back({.expr = AffineExpr::Constant(-3)});
      dimension.upper.push_back({.expr = AffineExpr::Constant(5)});
    }
    out.dimensions.push_back(dimension);
  }
  const int64_t alternatives = rng.Below(3);
  for (int64_t a = 0; a < alternatives; ++a) {
    std::vector<Constraint>& all_of = out.guard.any_of.emplace_back();
    const int64_t constraints = 1 + rng.Below(3);
    for (int64_t i = 0; i < constraints; ++i) {
      Constraint c{.expr = AffineExpr::Constant(rng.Below(5) - 2)};
      for (int d = 0; d < size; ++d) {
        c.expr.coefficients[d] = rng.Below(5) - 2;
      }
      c.kind = static_cast<Constraint::Kind>(rng.Below(3));
      c.modulus = 1 + rng.Below(4);
      all_of.push_back(c);
    }
  }
  return out;
}

std::vector<IndexVector> Scan(const Domain& domain) {
  std::vector<IndexVector> out;
  Domain box;
  for (int d = 0; d < domain.size(); ++d) {
    box.dimensions.push_back({.lower = {{.expr = AffineExpr::Constant(-15)}},
                              .upper = {{.expr = AffineExpr::Constant(15)}}});
  }
  box.ForEach([&](const IndexVector& index) {
    if (domain.Contains(index)) out.push_back(index);
    return true;
  });
  return out;
}

TEST(Domain, CountsAndEnumeratesWhatItContains) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const Domain domain = RandomDomain(rng);
    const std::vector<IndexVector> points = Scan(domain);
    EXPECT_EQ(domain.Count(), std::ssize(points));
    std::vector<IndexVector> visited;
    domain.ForEach([&](const IndexVector& index) {
      visited.push_back(index);
      return true;
    });
    EXPECT_EQ(visited, points);
    std::vector<IndexVector> stepped;
    for (auto p = domain.Next(std::nullopt); p.has_value();
         p = domain.Next(p)) {
      stepped.push_back(*p);
      ASSERT_LE(stepped.size(), points.size());
    }
    EXPECT_EQ(stepped, points);
    Encoder out;
    domain.Encode(out);
    const std::string bytes = out.Take();
    Decoder in(bytes);
    EXPECT_EQ(Domain::Decode(in), domain);
    EXPECT_TRUE(in.Finish("domain").ok());
  }
}

TEST(Domain, CountsAHugeBoxWithoutVisitingIt) {
  const Domain box =
      Domain::Box({{"x", 1, 1'000'000'000}, {"t", 1, 1'000'000'000}});
  EXPECT_EQ(box.Count(), 1'000'000'000'000'000'000);
  const Domain larger =
      Domain::Box({{"x", 1, 4'000'000'000}, {"t", 1, 4'000'000'000}});
  EXPECT_EQ(larger.Count(), std::numeric_limits<int64_t>::max());
}

// The values of an index lie in its range; where all bounds are numbers and the
// constraints of a guard are on single indices, they fill it.
TEST(Domain, KnowsTheRangesOfItsIndices) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Domain domain = RandomDomain(rng);
    const bool is_plain = rng.Chance(0.5);
    if (is_plain) {
      domain.guard.any_of.assign(1, {});
      for (int d = 0; d < domain.size(); ++d) {
        Dimension& dimension = domain.dimensions[d];
        dimension.lower = {{.expr = AffineExpr::Constant(rng.Below(5) - 9)}};
        dimension.upper = {{.expr = AffineExpr::Constant(rng.Below(17) - 6)}};
        for (int64_t i = rng.Below(3); i > 0; --i) {
          domain.guard.any_of[0].push_back(
              {.expr = AffineExpr::Index(d, rng.Below(9) - 4) *
                       (rng.Chance(0.5) ? 1 : 5),
               .kind = Constraint::Kind::kDivisible,
               .modulus = 1 + rng.Below(4)});
        }
      }
    }
    AffineMap map;
    for (int d = 0; d < domain.size(); ++d) {
      map.push_back(AffineExpr::Index(d, rng.Below(5)) *
                    (rng.Chance(0.5) ? 1 : rng.Below(5) - 2));
    }
    const std::vector<IndexVector> points = Scan(domain);
    const std::vector<IndexRange> ranges = RangesOf(domain, map);
    ASSERT_EQ(ranges.size(), map.size());
    for (size_t i = 0; i < map.size(); ++i) {
      const IndexRange& range = ranges[i];
      std::set<int64_t> found;
      for (const IndexVector& point : points) {
        const int64_t value = map[i].Evaluate(point);
        found.insert(value);
        EXPECT_TRUE(value >= range.lower && value <= range.upper &&
                    (value - range.lower) % range.step == 0)
            << value << " in " << range.lower << ":" << range.upper << ":"
            << range.step;
      }
      if (!is_plain || points.empty()) continue;
      EXPECT_EQ(range.Count(), std::ssize(found));
    }
  }
}

// Red-black and every 50th step, the surface of a box: to visit all points
// would take years.
TEST(Domain, CountsWhatAGuardLeavesOfAHugeBox) {
  constexpr int64_t kMost = 1'000'000;
  const auto box = [] {
    return Domain::Box({{"t", 1, kMost}, {"x", 1, kMost}, {"y", 1, kMost}});
  };
  const AffineExpr t = AffineExpr::Index(0);
  const AffineExpr x = AffineExpr::Index(1);
  const AffineExpr y = AffineExpr::Index(2);
  const auto every = [](const AffineExpr& expr, int64_t modulus) {
    return Constraint{
        .expr = expr, .kind = Constraint::Kind::kDivisible, .modulus = modulus};
  };
  Domain red = box();
  red.guard.any_of = {{every(t + x + y, 2)}};
  EXPECT_EQ(red.Count(), kMost * kMost * kMost / 2);
  red.guard.any_of = {{every(t + x + y, 2), every(t, 50)}};
  EXPECT_EQ(red.Count(), kMost * kMost * kMost / 100);
  Domain triangle = Domain::Box({{"t", 1, kMost}, {"x", 1, kMost}});
  triangle.dimensions[1].upper[0].expr = t;
  EXPECT_EQ(triangle.Count(), kMost * (kMost + 1) / 2);
  triangle.guard.any_of = {{{.expr = t}}};  // always
  EXPECT_EQ(triangle.Count(), kMost * (kMost + 1) / 2);
  Domain rim = box();
  const AffineExpr end = AffineExpr::Constant(kMost);
  for (const AffineExpr& expr : {x + AffineExpr::Constant(-1), end - x,
                                 y + AffineExpr::Constant(-1), end - y}) {
    rim.guard.any_of.push_back(
        {{.expr = expr, .kind = Constraint::Kind::kZero}});
  }
  EXPECT_EQ(rim.Count(), kMost * 4 * (kMost - 1));
  Domain interior = box();
  interior.guard.any_of = {{{.expr = x + AffineExpr::Constant(-2)},
                            {.expr = end - x + AffineExpr::Constant(-1)}}};
  EXPECT_EQ(interior.Count(), kMost * kMost * (kMost - 2));
}

}  // namespace
}  // namespace dogged
