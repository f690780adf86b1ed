// Aim: domains count, contain and enumerate the same points.
// Method: random nested bounds and guards against a brute-force box scan.
#include "runtime/graph/domain.h"

#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/random.h"

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
      lower.expr.coefficients[static_cast<size_t>(e)] = rng.Below(3) - 1;
      upper.expr.coefficients[static_cast<size_t>(e)] = rng.Below(3) - 1;
    }
    lower.divisor = 1 + rng.Below(3);
    upper.divisor = 1 + rng.Below(3);
    dimension.lower = {lower, {.expr = AffineExpr::Constant(-3)}};
    dimension.upper = {upper, {.expr = AffineExpr::Constant(5)}};
    out.dimensions.push_back(dimension);
  }
  const int64_t alternatives = rng.Below(3);
  for (int64_t a = 0; a < alternatives; ++a) {
    Constraint c{.expr = AffineExpr::Constant(rng.Below(5) - 2)};
    for (int d = 0; d < size; ++d) {
      c.expr.coefficients[static_cast<size_t>(d)] = rng.Below(3) - 1;
    }
    c.kind = static_cast<Constraint::Kind>(rng.Below(3));
    c.modulus = 1 + rng.Below(3);
    out.guard.any_of.push_back({c});
  }
  return out;
}

std::vector<IndexVector> Scan(const Domain& domain) {
  std::vector<IndexVector> out;
  Domain box;
  for (int d = 0; d < domain.size(); ++d) {
    box.dimensions.push_back({.lower = {{.expr = AffineExpr::Constant(-8)}},
                              .upper = {{.expr = AffineExpr::Constant(8)}}});
  }
  box.ForEach([&](const IndexVector& index) {
    if (domain.Contains(index)) out.push_back(index);
    return true;
  });
  return out;
}

TEST(Domain, CountsAndEnumeratesWhatItContains) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const Domain domain = RandomDomain(rng);
    const std::vector<IndexVector> points = Scan(domain);
    EXPECT_EQ(domain.Count(), static_cast<int64_t>(points.size()));
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

}  // namespace
}  // namespace dogged
