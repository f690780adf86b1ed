#include "dsl/tiling/skew_steps.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "dsl/tiling/stencil_arrays.h"

namespace dogged::dsl {
namespace {

// Bound of an index's factor in the sum that numbers steps; larger ones would
// leave steps empty.
constexpr int64_t kSkewMax = 3;
// Steps are numbered well within this.
constexpr int64_t kStepsMax = int64_t{1} << 40;

// Factors of the fields' indices.
using Factors = std::vector<int64_t>;

int64_t StepsAlong(const Factors& factors, const IndexVector& distance) {
  int64_t sum = 0;
  for (int e = 0; e < distance.size(); ++e) {
    sum += factors[e] * distance[e];
  }
  return sum;
}

// Distances at which tasks read labels that they and others of their kind make:
// indices created less indices read. None if some distance varies.
std::optional<std::vector<IndexVector>> DistancesOf(
    const PointProgram& points, const std::vector<bool>& is_field) {
  std::vector<IndexVector> out;
  for (const PointClass& c : points.classes) {
    const Create& create = c.creates.front();
    if (!is_field[create.array]) continue;
    for (const Use& use : c.uses) {
      if (!is_field[use.array]) continue;
      IndexVector& distance = out.emplace_back();
      for (size_t e = 0; e < create.map.size(); ++e) {
        const AffineExpr back = create.map[e] - use.map[e];
        if (!back.IsConstant()) return std::nullopt;
        distance.push_back(back.constant);
      }
    }
  }
  return out;
}

// The least factors with which each distance is a step at least, and not too
// many, but for a distance of 0. None if there are none, or one index is time
// as it is.
std::optional<Factors> FindFactors(const std::vector<IndexVector>& distances,
                                   int32_t rank) {
  Factors factors(static_cast<size_t>(rank), -kSkewMax);
  std::optional<std::tuple<int64_t, int64_t, Factors>> best;
  const auto is_legal = [&](const IndexVector& distance) {
    const int64_t steps = StepsAlong(factors, distance);
    const bool is_here = distance == IndexVector(Factors(factors.size(), 0));
    return is_here || (steps >= 1 && steps <= kLagMax);
  };
  for (bool is_left = true; is_left;) {
    if (std::all_of(distances.begin(), distances.end(), is_legal)) {
      int64_t used = 0;
      int64_t sum = 0;
      bool has_unit = false;
      for (const int64_t factor : factors) {
        used += factor != 0;
        sum += std::abs(factor);
        has_unit |= std::abs(factor) == 1;
      }
      const std::tuple key(used, sum, factors);
      if (has_unit && (!best || key < *best)) best = key;
    }
    size_t e = factors.size();
    while (e > 0 && factors[e - 1] == kSkewMax) factors[--e] = -kSkewMax;
    is_left = e > 0;
    if (is_left) ++factors[e - 1];
  }
  if (!best) return std::nullopt;
  const auto& [used, sum, found] = *best;
  const bool is_plain =
      used == 1 && std::find(found.begin(), found.end(), 1) != found.end();
  if (is_plain) return std::nullopt;
  return found;
}

// Points that are computed if steps take the place of index `e`: points of
// space, once for each step, and points of boxes that hold results. A result
// that fixes other indices costs nothing there.
double SkewCost(const PointProgram& points, const std::vector<bool>& is_field,
                const Factors& factors, const Box& space, size_t e) {
  const auto points_of = [&](const Box& box) {
    double others = 1;
    double steps = 1;
    for (size_t d = 0; d < factors.size(); ++d) {
      const auto at = static_cast<int>(d);
      const auto ahead = static_cast<double>(box.upper[at] - box.lower[at]);
      steps += ahead * static_cast<double>(std::abs(factors[d]));
      if (d != e) others *= 1 + ahead;
    }
    return others * steps;
  };
  double out = points_of(space);
  for (const PointResult& result : points.results) {
    if (!is_field[result.array]) continue;
    out += points_of(result.box);
  }
  return out;
}

// The index whose place steps take: of those with factor 1 or -1 the one that
// costs least. None if the values that some field's take are unknown.
std::optional<size_t> IndexToReplace(const PointProgram& points,
                                     const std::vector<bool>& is_field,
                                     const Factors& factors) {
  Box space;
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    if (!is_field[a]) continue;
    const PointArray& array = points.arrays[a];
    if (array.box.size() != array.rank || array.box.IsEmpty()) {
      return std::nullopt;
    }
    if (space.size() == 0) space = array.box;
    for (int e = 0; e < array.rank; ++e) {
      space.lower[e] = std::min(space.lower[e], array.box.lower[e]);
      space.upper[e] = std::max(space.upper[e], array.box.upper[e]);
      if (space.lower[e] < -kStepsMax || space.upper[e] > kStepsMax) {
        return std::nullopt;
      }
    }
  }
  std::optional<size_t> out;
  double least = 0;
  for (size_t e = 0; e < factors.size(); ++e) {
    if (std::abs(factors[e]) != 1) continue;
    const double cost = SkewCost(points, is_field, factors, space, e);
    if (out && cost >= least) continue;
    out = e;
    least = cost;
  }
  return out;
}

}  // namespace

std::optional<SkewSteps> FindSkewSteps(const PointProgram& points,
                                       const std::vector<bool>& is_field) {
  const auto first = std::find(is_field.begin(), is_field.end(), true);
  if (first == is_field.end()) return std::nullopt;
  const int32_t rank = points.arrays[first - is_field.begin()].rank;
  if (rank < 2) return std::nullopt;
  const auto distances = DistancesOf(points, is_field);
  if (!distances || distances->empty()) return std::nullopt;
  std::optional<Factors> factors = FindFactors(*distances, rank);
  if (!factors) return std::nullopt;
  const auto replaced = IndexToReplace(points, is_field, *factors);
  if (!replaced) return std::nullopt;
  return SkewSteps{.factors = *std::move(factors), .replaced = *replaced};
}

}  // namespace dogged::dsl
