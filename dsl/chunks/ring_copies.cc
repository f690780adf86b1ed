#include "dsl/chunks/ring_copies.h"

#include <algorithm>
#include <optional>

#include "runtime/base/division.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

// How far along index `i` a class copies labels of an array, if that is all it
// does.
std::optional<int64_t> CopiesBy(const PointClass& c, int32_t array, int i) {
  if (c.body != PointClass::Body::kCode || c.creates.size() != 1 ||
      c.uses.size() != 1 || c.code.code.mask >= 0) {
    return {};
  }
  const IrNode& stored = c.code.code.nodes[c.code.code.stores[0].node];
  const bool is_copy = stored.op == IrOp::kLoad && stored.a < 0;
  if (!is_copy || c.creates[0].array != array || c.uses[0].array != array ||
      c.uses[0].gather != nullptr || !c.uses[0].guard.IsAlways()) {
    return {};
  }
  std::optional<int64_t> out;
  for (int n = 0; n < std::ssize(c.creates[0].map); ++n) {
    const AffineExpr step = c.uses[0].map[n] - c.creates[0].map[n];
    if (!step.IsConstant() || (step.constant != 0) != (n == i)) return {};
    if (n == i) out = step.constant;
  }
  return out;
}

bool IsCopy(const PointClass& c, int32_t array, const Ring& ring) {
  const std::optional<int64_t> by = CopiesBy(c, array, ring.index);
  return by && *by % ring.length == 0;
}

// The ring of an array along index `i`, if there is one.
Ring RingAlong(const PointProgram& points, int32_t array, int i) {
  Ring out{.index = i};
  std::optional<int64_t> lower;
  std::optional<int64_t> upper;
  const auto add = [&](const AffineMap& map, const Domain& domain) {
    const IndexRange range = RangesOf(domain, {map[i]})[0];
    lower = std::min(lower.value_or(range.lower), range.lower);
    upper = std::max(upper.value_or(range.upper), range.upper);
  };
  bool has_copies = false;
  for (const PointClass& c : points.classes) {
    if (CopiesBy(c, array, i)) {
      has_copies = true;
      continue;
    }
    for (const Create& create : c.creates) {
      if (create.array == array) add(create.map, c.domain);
    }
  }
  for (const PointReduction& reduction : points.reductions) {
    if (reduction.array == array) add(reduction.map, reduction.domain);
  }
  if (!has_copies || !lower || *upper < *lower) return {};
  out.lower = *lower;
  out.length = *upper - *lower + 1;
  for (const PointClass& c : points.classes) {
    if (CopiesBy(c, array, i) && !IsCopy(c, array, out)) return {};
  }
  return out;
}

}  // namespace

std::vector<Ring> FindRings(const PointProgram& points) {
  std::vector<Ring> out;
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    Ring& best = out.emplace_back();
    for (int i = 0; i < points.arrays[a].rank; ++i) {
      const Ring ring = RingAlong(points, static_cast<int32_t>(a), i);
      if (ring.length > best.length) best = ring;
    }
  }
  return out;
}

PointProgram WithoutCopies(const PointProgram& points,
                           const std::vector<Ring>& rings) {
  PointProgram out = points;
  for (size_t a = 0; a < rings.size(); ++a) {
    if (rings[a].index < 0) continue;
    std::erase_if(out.classes, [&](const PointClass& c) {
      return CopiesBy(c, static_cast<int32_t>(a), rings[a].index).has_value();
    });
    Box& box = out.arrays[a].box;
    if (box.size() != out.arrays[a].rank) continue;
    box.lower[rings[a].index] = rings[a].lower;
    box.upper[rings[a].index] = rings[a].lower + rings[a].length - 1;
  }
  return out;
}

}  // namespace dogged::dsl
