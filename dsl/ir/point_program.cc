#include "dsl/ir/point_program.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

// Keys per agent: enough that rendezvous hashing gives all about the same.
constexpr int64_t kSlabsPerAgent = 8;

// True if all that it asks is that something divides an index, of each index
// once at most.
bool IsOfSteps(const Guard& guard) {
  if (guard.IsAlways()) return true;
  if (guard.any_of.size() != 1) return false;
  std::array<bool, kMaxIndices> seen = {};
  for (const Constraint& c : guard.any_of.front()) {
    const int d = c.expr.LastIndex();
    if (c.kind != Constraint::Kind::kDivisible || d < 0) return false;
    AffineExpr rest = c.expr;
    const int64_t factor = std::exchange(rest.coefficients[d], 0);
    if ((factor != 1 && factor != -1) || !rest.IsConstant()) return false;
    if (c.modulus > kStepMax) return false;
    if (std::exchange(seen[d], true)) return false;
  }
  return true;
}

}  // namespace

AffineMap MapWithoutTables(const Use& use) {
  AffineMap out = use.map;
  for (size_t i = 0; i < out.size(); ++i) {
    // A task has one index less than there are at most.
    if (use.IsGathered(i)) out[i] = AffineExpr::Index(kMaxIndices - 1);
  }
  return out;
}

const PointClass* FindGathering(const PointProgram& program) {
  for (const PointClass& c : program.classes) {
    for (const Use& use : c.uses) {
      if (use.gather != nullptr) return &c;
    }
  }
  return nullptr;
}

std::optional<int> SingleIndex(const AffineExpr& expr) {
  std::optional<int> out;
  for (int d = 0; d < kMaxIndices; ++d) {
    const int64_t factor = expr.coefficients[d];
    if (factor == 0) continue;
    if (factor != 1 || out.has_value()) return std::nullopt;
    out = d;
  }
  return out;
}

Box HullOf(const Domain& domain) {
  Box box;
  for (const Dimension& dimension : domain.dimensions) {
    int64_t lower = std::numeric_limits<int64_t>::min();
    int64_t upper = std::numeric_limits<int64_t>::max();
    for (const AffineBound& bound : dimension.lower) {
      lower = std::max(
          lower, CeilDiv(RangeOver(bound.expr, box).first, bound.divisor));
    }
    for (const AffineBound& bound : dimension.upper) {
      upper = std::min(
          upper, FloorDiv(RangeOver(bound.expr, box).second, bound.divisor));
    }
    box.lower.push_back(lower);
    box.upper.push_back(upper);
  }
  return box;
}

PointResult MakeResult(int32_t array, Domain domain, AffineMap map) {
  PointResult out;
  out.array = array;
  for (const IndexRange& range : RangesOf(domain, map)) {
    out.box.lower.push_back(range.lower);
    out.box.upper.push_back(range.upper);
    out.step.push_back(range.step);
  }
  bool is_box = true;
  for (const Dimension& dimension : domain.dimensions) {
    for (const auto* bounds : {&dimension.lower, &dimension.upper}) {
      for (const AffineBound& bound : *bounds) {
        is_box &= bound.expr.IsConstant();
      }
    }
  }
  std::vector<int> seen(domain.dimensions.size(), 0);
  for (const AffineExpr& expr : map) {
    int mentioned = 0;
    for (size_t d = 0; d < seen.size(); ++d) {
      if (expr.coefficients[d] == 0) continue;
      ++mentioned;
      ++seen[d];
      is_box &= expr.coefficients[d] == 1 || expr.coefficients[d] == -1;
    }
    is_box &= mentioned <= 1;
    out.varies.push_back(mentioned > 0);
  }
  is_box &= std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; });
  out.is_whole_box = is_box && domain.guard.IsAlways();
  out.is_grid = is_box && IsOfSteps(domain.guard);
  out.domain = std::move(domain);
  out.map = std::move(map);
  return out;
}

int32_t VersionIndexOf(const PointProgram& program, int32_t array) {
  // How far back each task that creates the array reads it, index by index.
  std::vector<AffineMap> differences;
  for (const PointClass& point_class : program.classes) {
    for (const Create& create : point_class.creates) {
      for (const Use& use : point_class.uses) {
        if (create.array != array || use.array != array) continue;
        AffineMap& difference = differences.emplace_back();
        const AffineMap read = MapWithoutTables(use);
        for (size_t i = 0; i < create.map.size(); ++i) {
          difference.push_back(create.map[i] - read[i]);
        }
      }
    }
  }
  const int32_t rank = program.arrays[array].rank;
  for (int32_t v = rank - 1; v >= 0; --v) {
    AffineMap one_step(static_cast<size_t>(rank));
    one_step[v].constant = 1;
    const bool is_found = std::find(differences.begin(), differences.end(),
                                    one_step) != differences.end();
    const bool is_monotonic = std::all_of(
        differences.begin(), differences.end(), [v](const AffineMap& map) {
          const AffineExpr& step = map[v];
          return step.IsConstant() && step.constant >= 0;
        });
    if (is_found && is_monotonic) return v;
  }
  return -1;
}

Box LastBox(const PointResult& result) {
  if (!result.time.is_exact) return result.box;
  Domain last = result.domain;
  Dimension& round = last.dimensions.back();
  round.lower = round.upper;
  Box out;
  for (const IndexRange& range : RangesOf(last, result.map)) {
    out.lower.push_back(range.lower);
    out.upper.push_back(range.upper);
  }
  return out;
}

std::vector<int64_t> SlabsOf(const Box& box, int32_t version,
                             const TargetSize& target) {
  std::vector<int64_t> out;
  int64_t wanted = target.agents > 1 ? kSlabsPerAgent * target.agents : 1;
  for (int d = 0; d < box.size(); ++d) {
    if (d == version) {
      out.push_back(0);
      continue;
    }
    const int64_t extent =
        std::max<int64_t>(1, box.upper[d] - box.lower[d] + 1);
    const int64_t slabs = std::min(wanted, extent);
    // A single slab ends beyond the last index, wherever the first one stands.
    out.push_back(slabs == 1 ? std::max<int64_t>(1, box.upper[d] + 1)
                             : CeilDiv(extent, slabs));
    wanted = CeilDiv(wanted, slabs);
  }
  return out;
}

}  // namespace dogged::dsl
