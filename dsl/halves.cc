#include "dsl/halves.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

// The rank of the arrays that tiles hold with time.
int32_t FullRank(const PointProgram& points) {
  int32_t rank = 0;
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      rank =
          std::max(rank, points.arrays[static_cast<size_t>(create.array)].rank);
    }
  }
  return rank;
}

// Arrays that no tile can make: those of reductions and of a loop's condition,
// and those with fewer indices than what their tasks read; and what depends on
// such arrays.
std::vector<bool> LateArrays(const PointProgram& points) {
  std::vector<bool> is_late(points.arrays.size(), false);
  const int32_t full = FullRank(points);
  const auto rank = [&points](const auto& ref) {
    return points.arrays[static_cast<size_t>(ref.array)].rank;
  };
  for (const PointReduction& reduction : points.reductions) {
    is_late[static_cast<size_t>(reduction.array)] = true;
  }
  if (points.repeat) is_late[static_cast<size_t>(points.repeat->array)] = true;
  for (const PointClass& c : points.classes) {
    const bool is_narrow =
        rank(c.creates.front()) < full &&
        std::any_of(c.uses.begin(), c.uses.end(),
                    [&](const Use& use) { return rank(use) == full; });
    if (is_narrow) is_late[static_cast<size_t>(c.creates.front().array)] = true;
  }
  const auto is_any_late = [&is_late](const auto& refs) {
    return std::any_of(refs.begin(), refs.end(), [&is_late](const auto& ref) {
      return is_late[static_cast<size_t>(ref.array)];
    });
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const PointClass& c : points.classes) {
      if (!is_any_late(c.uses) && !is_any_late(c.creates)) continue;
      for (const Create& create : c.creates) {
        if (is_late[static_cast<size_t>(create.array)]) continue;
        is_late[static_cast<size_t>(create.array)] = true;
        has_changed = true;
      }
    }
  }
  return is_late;
}

// The values of `expr` at which a use of `c` reads; a few more perhaps, but
// none that its array lacks.
IndexRange ReadAt(const PointClass& c, const Use& use, const AffineExpr& expr,
                  int64_t lower, int64_t upper) {
  Domain domain = c.domain;
  if (use.guard.any_of.size() == 1) {
    for (const Constraint& constraint : use.guard.any_of.front()) {
      domain.Narrow(constraint);
    }
  }
  IndexRange out = RangesOf(domain, {expr}).front();
  const int64_t behind = std::max<int64_t>(0, lower - out.lower);
  out.lower += CeilDiv(behind, out.step) * out.step;
  out.upper = std::min(out.upper, upper);
  if (out.lower <= out.upper) out.upper -= (out.upper - out.lower) % out.step;
  return out;
}

// A new array for the point of space that `use` of `c` reads, and the reduction
// that makes it. Its index, if there is one, is the one that varies there.
std::optional<PointReduction> MakeTap(const PointClass& c, const Use& use,
                                      PointProgram& points) {
  const PointArray source = points.arrays[static_cast<size_t>(use.array)];
  PointReduction tap{
      .name = absl::StrCat("what ", c.name, " reads of ", source.name),
      .kind = ReduceKind::kMax,
      .array = static_cast<int32_t>(points.arrays.size()),
      .domain = {},
      .time = c.time,
      .needed = std::nullopt,
      .map = {},
      .source = use.array,
      .over = {},
      .source_map = use.map};
  PointArray array{.name = absl::StrCat(source.name, "'at", tap.array),
                   .element = source.element,
                   .box = {},
                   .place = {}};
  for (size_t i = 0; i < use.map.size(); ++i) {
    const AffineExpr& expr = use.map[i];
    const int d = expr.LastIndex();
    if (d < 0) continue;
    if (expr != AffineExpr::Index(d, expr.constant) || array.rank > 0 ||
        source.box.size() != source.rank) {
      return std::nullopt;
    }
    const auto at = static_cast<int>(i);
    const IndexRange range =
        ReadAt(c, use, expr, source.box.lower[at], source.box.upper[at]);
    array.rank = 1;
    array.box = {{range.lower}, {range.upper}};
    tap.domain = Domain::Box(
        {{.name = "t", .lower = range.lower, .upper = range.upper}});
    if (range.step > 1) {
      tap.domain.guard.any_of = {{{.expr = AffineExpr::Index(0, -range.lower),
                                   .kind = Constraint::Kind::kDivisible,
                                   .modulus = range.step}}};
    }
    tap.map = {AffineExpr::Index(0)};
    tap.source_map[i] = AffineExpr::Index(0);
    const int64_t per_step =
        std::exchange(tap.time.coefficients[static_cast<size_t>(d)], 0);
    if (!tap.time.IsConstant()) return std::nullopt;
    tap.time = tap.time + AffineExpr::Index(0, -expr.constant) * per_step;
  }
  // What all of them read is there when the first one does.
  if (array.rank == 0) {
    tap.time = AffineExpr::Constant(RangesOf(c.domain, {c.time}).front().lower);
  }
  tap.over = tap.domain;
  points.arrays.push_back(std::move(array));
  return tap;
}

// Lets `c` read taps instead of what the head makes.
absl::Status TapHead(const std::vector<bool>& late, PointProgram& points,
                     PointClass& c, std::vector<PointReduction>& taps) {
  for (Use& use : c.uses) {
    const auto source = static_cast<size_t>(use.array);
    if (source >= late.size() || late[source]) continue;
    std::optional<PointReduction> tap = MakeTap(c, use, points);
    if (!tap) {
      return absl::UnimplementedError(absl::StrCat(
          "task ", c.name, ", which can't be part of a tile, reads ",
          points.arrays[source].name, " at more than one point of space"));
    }
    AffineMap at;
    for (size_t i = 0; i < use.map.size(); ++i) {
      if (!tap->source_map[i].IsConstant()) at.push_back(use.map[i]);
    }
    use.array = tap->array;
    use.map = std::move(at);
    taps.push_back(*std::move(tap));
  }
  return absl::OkStatus();
}

// A stencil that waits for what all tiles make, is behind them as a whole.
absl::Status CheckStencil(const Halves& halves) {
  const std::vector<PointArray>& arrays = halves.tail.arrays;
  if (FullRank(halves.head) >= FullRank(halves.tail)) return absl::OkStatus();
  for (const PointClass& c : halves.tail.classes) {
    const int32_t rank =
        arrays[static_cast<size_t>(c.creates.front().array)].rank;
    if (rank < FullRank(halves.tail)) continue;
    for (const Use& use : c.uses) {
      const PointArray& source = arrays[static_cast<size_t>(use.array)];
      if (source.rank == rank) continue;
      return absl::UnimplementedError(
          absl::StrCat("task ", c.name, " reads ", source.name,
                       ", which is made of what all tiles hold"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Halves> Split(const PointProgram& points) {
  const std::vector<bool> late = LateArrays(points);
  const auto is_late = [&late](int32_t array) {
    return late[static_cast<size_t>(array)];
  };
  Halves out{.head = points,
             .tail = points,
             .between = {},
             .head_results = {},
             .tail_results = {}};
  for (PointProgram* half : {&out.head, &out.tail}) {
    half->classes.clear();
    half->reductions.clear();
    half->results.clear();
  }
  for (const PointReduction& reduction : points.reductions) {
    (is_late(reduction.source) ? out.tail.reductions : out.between)
        .push_back(reduction);
  }
  for (const PointClass& c : points.classes) {
    if (!is_late(c.creates.front().array)) {
      out.head.classes.push_back(c);
      continue;
    }
    PointClass& behind = out.tail.classes.emplace_back(c);
    DOGGED_RETURN_IF_ERROR(TapHead(late, out.tail, behind, out.between));
  }
  out.head.arrays = out.tail.arrays;
  DOGGED_RETURN_IF_ERROR(CheckStencil(out));
  for (size_t r = 0; r < points.results.size(); ++r) {
    const bool in_tail = is_late(points.results[r].array);
    (in_tail ? out.tail : out.head).results.push_back(points.results[r]);
    (in_tail ? out.tail_results : out.head_results).push_back(r);
  }
  return out;
}

}  // namespace dogged::dsl
