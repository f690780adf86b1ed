#include "runtime/graph/index_range.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"

namespace dogged {
namespace {

// first + k*step for all k; step 0: `first` alone.
struct Lattice {
  int64_t first = 0;
  int64_t step = 1;
};

int64_t Modulo(absl::int128 a, int64_t m) {
  const auto rest = static_cast<int64_t>(a % m);
  return rest < 0 ? rest + m : rest;
}

// The inverse of a modulo m; they have no common divisor.
int64_t Inverse(int64_t a, int64_t m) {
  int64_t x = 1;
  int64_t y = 0;
  int64_t b = m;
  a = Modulo(a, m);
  while (a > 1) {
    const int64_t quotient = a / b;
    a = std::exchange(b, a % b);
    x = std::exchange(y, x - quotient * y);
  }
  return Modulo(x, m);
}

// The points x of `lattice` for which m divides a*x + b; none if there are
// none, or too far apart for an index.
std::optional<Lattice> Divided(const Lattice& lattice, int64_t a, int64_t b,
                               int64_t m) {
  const int64_t factor = Modulo(absl::int128(a) * lattice.step, m);
  const int64_t rest = Modulo(absl::int128(a) * lattice.first + b, m);
  const int64_t common = std::gcd(factor, m);
  if (rest % common != 0) return std::nullopt;
  const int64_t period = m / common;
  const int64_t k = period == 1 ? 0
                                : Modulo(absl::int128(-(rest / common)) *
                                             Inverse(factor / common, period),
                                         period);
  const absl::int128 step = absl::int128(lattice.step) * period;
  if (step > kStepMax) return std::nullopt;
  return Lattice{.first = lattice.first + k * lattice.step,
                 .step = static_cast<int64_t>(step)};
}

// Values of index d that an alternative of a guard leaves.
Lattice LatticeOf(const std::vector<Constraint>& all_of, int d) {
  Lattice out;
  for (const Constraint& c : all_of) {
    if (c.kind != Constraint::Kind::kDivisible) continue;
    AffineExpr rest = c.expr;
    const int64_t factor = std::exchange(rest.coefficients[d], 0);
    if (factor == 0 || !rest.IsConstant()) continue;
    out = Divided(out, factor, rest.constant, c.modulus).value_or(out);
  }
  return out;
}

// Values of index d that all alternatives together leave.
Lattice LatticeOf(const Guard& guard, int d) {
  if (guard.IsAlways()) return {};
  Lattice out = LatticeOf(guard.any_of.front(), d);
  for (const auto& all_of : guard.any_of) {
    const Lattice other = LatticeOf(all_of, d);
    out.step =
        std::gcd(std::gcd(out.step, other.step), other.first - out.first);
  }
  return out;
}

// `range` without values off the lattice.
IndexRange Within(const IndexRange& range, const Lattice& lattice) {
  if (range.upper < range.lower || lattice.step == 1) return range;
  const auto off = [&lattice](int64_t x) {
    return Modulo(absl::int128(x) - lattice.first, lattice.step);
  };
  const int64_t below = off(range.lower);
  IndexRange out{
      .lower = below == 0 ? range.lower : range.lower + lattice.step - below,
      .upper = range.upper - off(range.upper),
      .step = lattice.step};
  if (out.upper <= out.lower) out.step = 1;
  return out;
}

// The values of `expr` where index d is in ranges[d].
IndexRange RangeOf(const AffineExpr& expr,
                   const std::vector<IndexRange>& ranges) {
  IndexRange out{expr.constant, expr.constant, 0};
  for (size_t d = 0; d < ranges.size(); ++d) {
    const int64_t factor = expr.coefficients[d];
    const IndexRange& range = ranges[d];
    if (factor == 0) continue;
    out.lower += factor * (factor > 0 ? range.lower : range.upper);
    out.upper += factor * (factor > 0 ? range.upper : range.lower);
    if (range.lower != range.upper) {
      out.step = std::gcd(out.step, factor * range.step);
    }
  }
  if (out.step == 0) out.step = 1;
  return out;
}

}  // namespace

std::vector<IndexRange> RangesOf(const Domain& domain, const AffineMap& map) {
  std::vector<IndexRange> ranges;
  for (int d = 0; d < domain.size(); ++d) {
    const Dimension& dimension = domain.dimensions[d];
    IndexRange range{.lower = std::numeric_limits<int64_t>::min(),
                     .upper = std::numeric_limits<int64_t>::max()};
    for (const AffineBound& b : dimension.lower) {
      range.lower = std::max(range.lower,
                             CeilDiv(RangeOf(b.expr, ranges).lower, b.divisor));
    }
    for (const AffineBound& b : dimension.upper) {
      range.upper = std::min(
          range.upper, FloorDiv(RangeOf(b.expr, ranges).upper, b.divisor));
    }
    ranges.push_back(Within(range, LatticeOf(domain.guard, d)));
  }
  std::vector<IndexRange> out;
  for (const AffineExpr& expr : map) out.push_back(RangeOf(expr, ranges));
  return out;
}

}  // namespace dogged
