#include "runtime/graph/point_count.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "runtime/graph/saturating.h"

namespace dogged {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
// Longer periods are gone through value by value.
constexpr int64_t kPeriodMax = 1 << 12;
// Counts that are remembered for each dimension; about 100 MB in all.
constexpr size_t kMemoMax = 1 << 18;

int64_t Remainder(int64_t a, int64_t modulus) {
  const int64_t r = a % modulus;
  return r < 0 ? r + modulus : r;
}

using Wide = absl::int128;

int64_t Clamped(Wide value) {
  constexpr Wide kLimit = kMax / 2;
  return static_cast<int64_t>(std::clamp(value, -kLimit, kLimit));
}

struct Interval {
  int64_t lower = 0;
  int64_t upper = 0;
};

class Counter {
 public:
  explicit Counter(const Domain& domain)
      : domain_(domain), memos_(domain.size() + 1) {}

  int64_t Count() {
    if (!BoundDimensions()) return 0;
    IndexVector index;
    return CountFrom(index);
  }

 private:
  // The undecided constraints under some outer indices: see StateOf().
  using State = std::vector<int64_t>;
  // Steps: the order in which values of an index are counted.
  struct Steps {
    // Between two cuts all values are alike, or all that are equal modulo
    // `period`; but those of `dense` differ from one another.
    std::vector<int64_t> cuts;
    std::vector<Interval> dense;
    int64_t period = 1;
  };

  // Where each index lies at most, whatever the others are. False if there is
  // no point.
  bool BoundDimensions() {
    for (const Dimension& dimension : domain_.dimensions) {
      Interval box{.lower = -kMax, .upper = kMax};
      for (const AffineBound& bound : dimension.lower) {
        const int64_t least =
            Clamped(Wide{bound.expr.constant} + Reach(bound.expr, 0).lower);
        box.lower = std::max(box.lower, CeilDiv(least, bound.divisor));
      }
      for (const AffineBound& bound : dimension.upper) {
        const int64_t most =
            Clamped(Wide{bound.expr.constant} + Reach(bound.expr, 0).upper);
        box.upper = std::min(box.upper, FloorDiv(most, bound.divisor));
      }
      if (box.upper < box.lower) return false;
      boxes_.push_back(box);
    }
    return true;
  }

  // Interval of the terms of dimensions from `d` on.
  Interval Reach(const AffineExpr& expr, int d) const {
    Wide lower = 0;
    Wide upper = 0;
    for (size_t e = static_cast<size_t>(d); e < boxes_.size(); ++e) {
      const Wide factor = expr.coefficients[e];
      lower += factor * (factor > 0 ? boxes_[e].lower : boxes_[e].upper);
      upper += factor * (factor > 0 ? boxes_[e].upper : boxes_[e].lower);
    }
    return {.lower = Clamped(lower), .upper = Clamped(upper)};
  }

  enum class Fate : uint8_t { kHolds, kFails, kOpen };
  // Fate of a constraint whose terms before `d`, with its constant, come to
  // `sum`.
  Fate FateOf(const Constraint& c, int64_t sum, int d) const {
    const Interval rest = Reach(c.expr, d);
    const int64_t lower = Clamped(Wide{sum} + rest.lower);
    const int64_t upper = Clamped(Wide{sum} + rest.upper);
    switch (c.kind) {
      case Constraint::Kind::kAtLeastZero:
        if (lower >= 0) return Fate::kHolds;
        return upper < 0 ? Fate::kFails : Fate::kOpen;
      case Constraint::Kind::kZero:
        if (lower == 0 && upper == 0) return Fate::kHolds;
        return lower > 0 || upper < 0 ? Fate::kFails : Fate::kOpen;
      case Constraint::Kind::kDivisible:
        if (c.expr.LastIndex() >= d) return Fate::kOpen;
        return sum % c.modulus == 0 ? Fate::kHolds : Fate::kFails;
    }
    return Fate::kOpen;
  }

  // Equal states under different outer indices have equally many points: the
  // inner bounds as far as they depend on outer indices, then each alternative
  // of the guard that may still hold with its open constraints. An alternative
  // that holds for certain settles the guard, which `fails` if none may hold.
  State StateOf(const IndexVector& index, bool& fails, bool& is_settled) const {
    const int d = index.size();
    State out;
    fails = false;
    is_settled = domain_.guard.IsAlways();
    for (size_t e = static_cast<size_t>(d); e < boxes_.size(); ++e) {
      const Dimension& inner = domain_.dimensions[e];
      for (const auto* bounds : {&inner.lower, &inner.upper}) {
        for (const AffineBound& bound : *bounds) {
          out.push_back(bound.expr.Evaluate(index));
        }
      }
    }
    const size_t bound_count = out.size();
    const auto& any_of = domain_.guard.any_of;
    for (size_t a = 0; a < any_of.size(); ++a) {
      const size_t first = out.size();
      out.push_back(static_cast<int64_t>(a));
      bool is_dead = false;
      for (size_t c = 0; c < any_of[a].size() && !is_dead; ++c) {
        const Constraint& constraint = any_of[a][c];
        const int64_t sum = constraint.expr.Evaluate(index);
        const Fate fate = FateOf(constraint, sum, d);
        is_dead = fate == Fate::kFails;
        if (fate != Fate::kOpen) continue;
        out.push_back(static_cast<int64_t>(c));
        out.push_back(constraint.kind == Constraint::Kind::kDivisible
                          ? Remainder(sum, constraint.modulus)
                          : sum);
      }
      if (is_dead) {
        out.resize(first);
      } else if (out.size() == first + 1) {
        is_settled = true;
        return out;
      }
    }
    fails = !any_of.empty() && out.size() == bound_count;
    return out;
  }

  // For the values from `lower` to `upper` of the next index.
  Steps StepsOf(const IndexVector& index, int64_t lower, int64_t upper) const {
    const auto d = static_cast<size_t>(index.size());
    Steps out{.cuts = {lower, upper + 1}, .dense = {}};
    // Before `first`, between both, and after `last`.
    const auto split = [&](int64_t first, int64_t last) {
      for (int64_t cut : {first, last + 1}) {
        if (cut > lower && cut <= upper) out.cuts.push_back(cut);
      }
      if (first < last) out.dense.push_back({first, last});
    };
    if (InnerDependsOn(index.size())) split(lower, upper);
    for (const auto& all_of : domain_.guard.any_of) {
      for (const Constraint& c : all_of) {
        const int64_t factor = c.expr.coefficients[d];
        if (factor == 0) continue;
        if (c.kind == Constraint::Kind::kDivisible) {
          const int64_t own = c.modulus / std::gcd(c.modulus, factor);
          const int64_t both =
              SaturatingMul(out.period / std::gcd(out.period, own), own);
          out.period = std::min(both, kPeriodMax + 1);
          continue;
        }
        // Open while the other terms can bring it to both sides of zero.
        const int64_t sum = c.expr.Evaluate(index);
        const Interval rest = Reach(c.expr, index.size() + 1);
        const int64_t least = Clamped(-(Wide{sum} + rest.upper));
        const int64_t most = Clamped(-(Wide{sum} + rest.lower));
        if (factor > 0) {
          split(CeilDiv(least, factor), FloorDiv(most, factor));
        } else {
          split(CeilDiv(-most, -factor), FloorDiv(-least, -factor));
        }
      }
    }
    std::sort(out.cuts.begin(), out.cuts.end());
    out.cuts.erase(std::unique(out.cuts.begin(), out.cuts.end()),
                   out.cuts.end());
    return out;
  }

  int64_t CountFrom(IndexVector& index) {
    const int d = index.size();
    if (d == domain_.size()) return domain_.guard.Holds(index) ? 1 : 0;
    bool fails;
    bool is_settled;
    const State state = StateOf(index, fails, is_settled);
    if (fails) return 0;
    if (is_settled) return CountUnguarded(index);
    auto& memo = memos_[d];
    if (const auto known = memo.find(state); known != memo.end()) {
      return known->second;
    }
    const Dimension& dimension = domain_.dimensions[d];
    const int64_t lower = dimension.Lower(index);
    const int64_t upper = dimension.Upper(index);
    int64_t count = 0;
    if (lower <= upper) {
      const Steps steps = StepsOf(index, lower, upper);
      for (size_t i = 0; i + 1 < steps.cuts.size(); ++i) {
        count = SaturatingAdd(
            count, CountRun(steps, steps.cuts[i], steps.cuts[i + 1], index));
      }
    }
    if (memo.size() < kMemoMax) memo.emplace(state, count);
    return count;
  }

  // The same where the guard holds, whatever follows.
  int64_t CountUnguarded(IndexVector& index) const {
    const int d = index.size();
    if (d == domain_.size()) return 1;
    const Dimension& dimension = domain_.dimensions[d];
    const int64_t lower = dimension.Lower(index);
    const int64_t upper = dimension.Upper(index);
    if (upper < lower) return 0;
    if (d + 1 == domain_.size()) return upper - lower + 1;
    index.push_back(lower);
    int64_t count = 0;
    if (!InnerDependsOn(d)) {
      count = SaturatingMul(upper - lower + 1, CountUnguarded(index));
    } else if (const auto sum = SumOfRows(index, upper); sum.has_value()) {
      count = *sum;
    } else {
      for (; index[d] <= upper; ++index[d]) {
        count = SaturatingAdd(count, CountUnguarded(index));
      }
    }
    index.pop_back();
    return count;
  }

  bool InnerDependsOn(int d) const {
    for (size_t e = static_cast<size_t>(d) + 1; e < boxes_.size(); ++e) {
      const Dimension& inner = domain_.dimensions[e];
      for (const auto* bounds : {&inner.lower, &inner.upper}) {
        for (const AffineBound& bound : *bounds) {
          if (bound.expr.coefficients[d] != 0) return true;
        }
      }
    }
    return false;
  }

  // Points of a triangle or trapezium: the last index of `index` is the last
  // but one of the domain, and runs up to `last`. None if the innermost one has
  // more than two bounds or rounds them.
  std::optional<int64_t> SumOfRows(const IndexVector& index,
                                   int64_t last) const {
    const auto d = static_cast<size_t>(index.size());
    if (d + 1 != boxes_.size()) return std::nullopt;
    const Dimension& inner = domain_.dimensions[d];
    if (inner.lower.size() != 1 || inner.upper.size() != 1 ||
        inner.lower[0].divisor != 1 || inner.upper[0].divisor != 1) {
      return std::nullopt;
    }
    const AffineExpr extent = inner.upper[0].expr - inner.lower[0].expr;
    // A row of extent + 1 points, `step` more in each next one.
    const int64_t step = extent.coefficients[d - 1];
    const int64_t row = extent.Evaluate(index) + 1;
    int64_t first = 0;  // and the last row that has a point, from here
    int64_t end = last - index[index.size() - 1];
    if (step > 0 && row <= 0) first = FloorDiv(-row, step) + 1;
    if (step < 0) end = std::min(end, CeilDiv(row, -step) - 1);
    if (end < first) return 0;
    const Wide rows = end - first + 1;
    const Wide ends = Wide{2} * row + Wide{step} * (Wide{first} + end);
    const Wide sum = rows * ends / 2;
    return sum > kMax ? kMax : static_cast<int64_t>(sum);
  }

  // Points with values [first, end) of the next index, two neighbouring cuts.
  int64_t CountRun(const Steps& steps, int64_t first, int64_t end,
                   IndexVector& index) {
    const bool is_dense = std::any_of(
        steps.dense.begin(), steps.dense.end(), [&](const Interval& dense) {
          return dense.lower <= first && first <= dense.upper;
        });
    const int64_t period =
        is_dense ? end - first : std::min(steps.period, end - first);
    int64_t count = 0;
    for (int64_t i = first; i < first + period; ++i) {
      index.push_back(i);
      count = SaturatingAdd(
          count, SaturatingMul((end - i - 1) / period + 1, CountFrom(index)));
      index.pop_back();
    }
    return count;
  }

  const Domain& domain_;
  std::vector<Interval> boxes_;                             // by dimension
  std::vector<absl::flat_hash_map<State, int64_t>> memos_;  // by dimension
};

}  // namespace

int64_t CountPoints(const Domain& domain) { return Counter(domain).Count(); }

}  // namespace dogged
