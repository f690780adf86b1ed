#include "dsl/nest/tile_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "dsl/isl/set_queries.h"
#include "dsl/nest/decompose.h"
#include "runtime/base/division.h"

namespace dogged::dsl {
namespace {

// Tiles along an index that each worker should find, in a component in which
// tiles can go side by side along so many of their indices.
int64_t TilesPerWorker(const TargetSize& target, int64_t coincident) {
  // Where tiles wait for each other along all indices, few go side by side.
  if (target.agents == 1) return coincident == 0 ? 8 : 2;
  // A tile costs agents more than some imbalance does.
  return coincident == 0 ? 4 : coincident == 1 ? 2 : 1;
}

// Components with so many times fewer points than the largest do not count when
// it is asked for how many workers there are tiles.
constexpr double kFewPoints = 16;

// Points of a nest that are as soon computed as a few tasks are begun.
constexpr double kSmallNest = 16384;

// Points of the box around those of the statement.
double PointCount(const Nest& nest, const NestPoint& point) {
  double out = 1;
  for (int d = 0; d < point.dims; ++d) {
    out *= static_cast<double>(ExtentOf(nest, point, AffineExpr::Index(d)));
  }
  return out;
}

// Points of a component: of all its statements, and of the one with most.
struct PointCounts {
  double all = 0;
  double most = 0;
};

PointCounts CountPoints(const Nest& nest, const NestComponent& component) {
  PointCounts out;
  for (const int32_t p : component.points) {
    const double count = PointCount(nest, nest.points[p]);
    out.all += count;
    out.most = std::max(out.most, count);
  }
  return out;
}

// By index of its tiles.
std::vector<int64_t> TileExtentsOf(const Nest& nest,
                                   const NestComponent& component) {
  std::vector<int64_t> out(static_cast<size_t>(component.rank), 1);
  for (size_t k = 0; k < out.size(); ++k) {
    for (const int32_t p : component.points) {
      const NestPoint& point = nest.points[p];
      out[k] = std::max(out[k], ExtentOf(nest, point, point.theta[k]));
    }
  }
  return out;
}

// Whether tiles along index k of the component have workers go side by side:
// those along indices without chains, in a plane the first of these. Where all
// indices are chains, along which tiles follow one another, two are a front of
// tiles that go side by side.
bool GivesWork(const NestComponent& component, size_t k, bool has_planes) {
  if (component.spread.empty()) return !has_planes || component.rank > 2;
  if (!has_planes) return component.is_coincident[k];
  return component.spread.front().index == static_cast<int32_t>(k);
}

// Points of a tile that has one plane: each is a value that the next plane
// reads, and these stay in a cache from one task to the next.
constexpr int64_t kValuesOfPlane = int64_t{1} << 17;
// Points of a tile along the indices that it does not have all of.
constexpr int64_t kTiledPointsMin = int64_t{1} << 10;
// Vectors of any processor fit as often as possible.
constexpr int64_t kVector = 8;

// Indices of all components' tiles, those that flows join in one class.
class TileIndices {
 public:
  explicit TileIndices(const Nest& nest) {
    for (const NestComponent& component : nest.components) {
      first_.push_back(std::ssize(parent_));
      for (int32_t k = 0; k < component.rank; ++k) {
        parent_.push_back(std::ssize(parent_));
      }
    }
  }
  int64_t Find(int32_t component, size_t index) {
    int64_t at = first_[component] + static_cast<int64_t>(index);
    while (parent_[at] != at) {
      at = parent_[at];
    }
    return at;
  }
  void Join(int64_t a, int64_t b) { parent_[std::max(a, b)] = std::min(a, b); }
  size_t count() const { return parent_.size(); }

 private:
  std::vector<int64_t> first_;   // by component
  std::vector<int64_t> parent_;  // by index
};

// Whether the values of a producer's hyperplane are not near those of the
// consumer's tile, but of tiles all along it.
bool IsWide(const Decomposition& part) { return IndexCount(part.rest) > 0; }

TileIndices JoinedIndices(const Nest& nest) {
  TileIndices indices(nest);
  for (const NestFlow& flow : nest.flows) {
    const int32_t producer = nest.points[flow.producer].component;
    const int32_t consumer = nest.points[flow.consumer].component;
    for (size_t k = 0; k < flow.parts.size(); ++k) {
      for (size_t m = 0; m < flow.parts[k].factors.size(); ++m) {
        if (flow.parts[k].factors[m] == 0) continue;
        indices.Join(indices.Find(producer, k), indices.Find(consumer, m));
      }
    }
  }
  // A result's accumulators lie in the tiles of the result.
  for (const NestReduction& reduction : nest.reductions) {
    const NestPoint& root = nest.points[reduction.root];
    const NestPoint& leaf = nest.points[reduction.leaf];
    for (size_t k = 0; k < static_cast<size_t>(root.dims); ++k) {
      indices.Join(indices.Find(root.component, k),
                   indices.Find(leaf.component, k));
    }
  }
  return indices;
}

// By index whether it is one of planes.
std::vector<bool> PlaneIndices(const Nest& nest, TileIndices& indices) {
  std::vector<bool> out(indices.count(), false);
  for (size_t c = 0; c < nest.components.size(); ++c) {
    if (nest.components[c].planes < 0) continue;
    out[indices.Find(static_cast<int32_t>(c), 0)] = true;
  }
  return out;
}

// Finds NestComponent::spread.
void FindSpread(const std::vector<PointCounts>& points, TileIndices& indices,
                Nest& nest) {
  std::vector<double> side_by_side(indices.count(), 0);
  for (size_t c = 0; c < nest.components.size(); ++c) {
    NestComponent& component = nest.components[c];
    component.spread.clear();
    for (int32_t k = 0; k < component.rank; ++k) {
      if (!component.is_coincident[k]) continue;
      const int64_t at =
          indices.Find(static_cast<int32_t>(c), static_cast<size_t>(k));
      side_by_side[at] += points[c].all;
      component.spread.push_back(
          {.index = k, .index_class = static_cast<int32_t>(at)});
    }
  }
  const auto points_of = [&](const NestComponent::Spread& one) {
    return side_by_side[one.index_class];
  };
  for (NestComponent& component : nest.components) {
    std::stable_sort(component.spread.begin(), component.spread.end(),
                     [&](const auto& a, const auto& b) {
                       return points_of(a) > points_of(b);
                     });
  }
}

int64_t SizeFor(int64_t extent, int64_t side, int64_t goal, int64_t tiles) {
  if (goal == 1) return 1;
  const int64_t least = std::max(kVector, std::min(side, extent) / 4);
  int64_t out = std::min(side, CeilDiv(extent, tiles));
  out = std::max(out, least);
  // Tiles of the same size, as nearly as can be.
  out = CeilDiv(extent, CeilDiv(extent, out));
  return CeilDiv(out, kVector) * kVector;
}

int64_t Root(int64_t points, size_t depth) {
  return std::llround(
      std::pow(static_cast<double>(points),
               1.0 / static_cast<double>(std::max<size_t>(1, depth))));
}

// The side of a tile of `goal` points: that of a cube, and longer where tiles
// have all of an index that is shorter than that, within reason, for rows
// should fit a cache.
int64_t SideFor(std::vector<int64_t> extents, int64_t goal) {
  constexpr int64_t kLongerMax = 8;
  const int64_t cube = Root(goal, extents.size());
  std::sort(extents.begin(), extents.end());
  int64_t side = cube;
  for (size_t d = 0; d < extents.size(); ++d) {
    side = std::max(side, Root(goal, extents.size() - d));
    if (extents[d] > side) break;
    goal /= extents[d];
  }
  return std::min(side, cube * kLongerMax);
}

}  // namespace

Span RangeOf(const Nest& nest, const NestPoint& point,
             const AffineExpr& theta) {
  const isl::map plane(
      nest.context, absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"),
                                 " -> [", IslText(theta, "i"), "] }"));
  const isl::set values = point.domain.apply(plane);
  return {.lower = Least(values, 0).value_or(0),
          .upper = Greatest(values, 0).value_or(0)};
}

int64_t ExtentOf(const Nest& nest, const NestPoint& point,
                 const AffineExpr& theta) {
  return RangeOf(nest, point, theta).Count();
}

bool HasFewPoints(const Nest& nest) {
  double points = 0;
  for (const NestPoint& point : nest.points) points += PointCount(nest, point);
  return points <= kSmallNest;
}

bool HasMixedIndices(const Nest& nest) {
  TileIndices indices = JoinedIndices(nest);
  const std::vector<bool> is_plane = PlaneIndices(nest, indices);
  for (size_t c = 0; c < nest.components.size(); ++c) {
    const NestComponent& component = nest.components[c];
    for (int32_t k = 1; component.planes >= 0 && k < component.rank; ++k) {
      const int64_t at =
          indices.Find(static_cast<int32_t>(c), static_cast<size_t>(k));
      if (is_plane[at]) return true;
    }
  }
  return false;
}

namespace {

// All that has a say in the size of tiles along a class of indices.
struct IndexNeeds {
  int64_t extent = 1;
  // The side of tiles that have their points, if they can be as long.
  int64_t side = std::numeric_limits<int64_t>::max();
  int64_t shares = 0;  // tiles that each worker should find
  int64_t goal = std::numeric_limits<int64_t>::max();  // points of a tile
  bool is_plane = false;
};

// Points of a tile of `goal` along its indices: it has all that a point has
// along the others.
int64_t TiledGoal(int64_t goal, double points,
                  const std::vector<int64_t>& extents) {
  if (goal <= kTiledPointsMin) return goal;
  double tiled = 1;
  for (const int64_t extent : extents) tiled *= static_cast<double>(extent);
  const double whole = std::max(1.0, points / tiled);
  return std::max(kTiledPointsMin,
                  static_cast<int64_t>(static_cast<double>(goal) / whole));
}

std::vector<IndexNeeds> NeedsOf(const TargetSize& target, const Nest& nest,
                                const std::vector<PointCounts>& points,
                                TileIndices& indices) {
  const std::vector<bool> is_plane = PlaneIndices(nest, indices);
  double most_points = 0;
  for (const PointCounts& one : points) {
    most_points = std::max(most_points, one.all);
  }
  std::vector<IndexNeeds> out(indices.count());
  for (size_t at = 0; at < out.size(); ++at) out[at].is_plane = is_plane[at];
  for (size_t c = 0; c < nest.components.size(); ++c) {
    const NestComponent& component = nest.components[c];
    const bool counts = points[c].all * kFewPoints >= most_points;
    const auto coincident = std::count(component.is_coincident.begin(),
                                       component.is_coincident.end(), true);
    const std::vector<int64_t> extents = TileExtentsOf(nest, component);
    std::vector<int64_t> within;  // of indices that are no planes
    for (size_t k = 0; k < extents.size(); ++k) {
      if (is_plane[indices.Find(static_cast<int32_t>(c), k)]) continue;
      within.push_back(extents[k]);
    }
    int64_t goal = TiledGoal(component.point_goal, points[c].most, extents);
    const bool has_planes = within.size() < extents.size();
    if (has_planes) goal = std::min(goal, kValuesOfPlane);
    // A front of long tiles is short.
    const int64_t side = component.spread.empty() ? Root(goal, within.size())
                                                  : SideFor(within, goal);
    for (size_t k = 0; k < extents.size(); ++k) {
      IndexNeeds& needs = out[indices.Find(static_cast<int32_t>(c), k)];
      if (counts && GivesWork(component, k, has_planes)) {
        needs.shares =
            std::max(needs.shares, TilesPerWorker(target, coincident));
      }
      needs.goal = std::min(needs.goal, goal);
      needs.side = std::min(needs.side, side);
      needs.extent = std::max(needs.extent, extents[k]);
    }
  }
  return out;
}

// In planes the points of a tile that the index which gives work leaves over
// lie along the others: more tiles there are more of a chain, or of nothing.
void FillPlanes(const Nest& nest, const std::vector<IndexNeeds>& needs,
                TileIndices& indices, std::vector<int64_t>& sizes) {
  for (size_t c = 0; c < nest.components.size(); ++c) {
    if (nest.components[c].planes < 0) continue;
    int64_t taken = 1;
    std::vector<size_t> others;
    for (size_t k = 0; k < static_cast<size_t>(nest.components[c].rank); ++k) {
      const auto at =
          static_cast<size_t>(indices.Find(static_cast<int32_t>(c), k));
      if (needs[at].is_plane) continue;
      if (needs[at].shares > 0) {
        taken *= sizes[at];
      } else {
        others.push_back(at);
      }
    }
    for (const size_t at : others) {
      const int64_t left = std::max(sizes[at], needs[at].goal / taken);
      const int64_t side = Root(left, others.size());
      sizes[at] = SizeFor(needs[at].extent, side, needs[at].goal, /*tiles=*/1);
    }
  }
}

// By class: a tile that reads all along an index of other tiles names each of
// them.
std::vector<int64_t> LeastSizes(const Nest& nest, int64_t sources_max,
                                const std::vector<IndexNeeds>& needs,
                                TileIndices& indices) {
  std::vector<int64_t> out(needs.size(), 1);
  for (const NestFlow& flow : nest.flows) {
    const int32_t producer = nest.points[flow.producer].component;
    const auto count = std::count_if(flow.parts.begin(), flow.parts.end(),
                                     [](const auto& p) { return IsWide(p); });
    for (size_t k = 0; k < flow.parts.size(); ++k) {
      if (!IsWide(flow.parts[k])) continue;
      const auto at = static_cast<size_t>(indices.Find(producer, k));
      const auto tiles = static_cast<int64_t>(std::pow(
          static_cast<double>(sources_max), 1.0 / static_cast<double>(count)));
      out[at] =
          std::max(out[at], CeilDiv(CeilDiv(needs[at].extent, tiles), kVector) *
                                kVector);
    }
  }
  return out;
}

// Tiles of a small nest are no longer than this.
constexpr int64_t kSideMaxOfSmall = 64;

// By class, a size with which there is one tile, or two where hyperplanes have
// numbers on both sides of 0; as it was where that is out of proportion.
void JoinSmallTiles(const Nest& nest, const std::vector<IndexNeeds>& needs,
                    TileIndices& indices, std::vector<int64_t>& sizes) {
  std::vector<int64_t> ends(sizes.size(), 1);
  for (size_t c = 0; c < nest.components.size(); ++c) {
    for (const int32_t p : nest.components[c].points) {
      const NestPoint& point = nest.points[p];
      for (size_t k = 0; k < point.theta.size(); ++k) {
        int64_t& end = ends[indices.Find(static_cast<int32_t>(c), k)];
        const Span values = RangeOf(nest, point, point.theta[k]);
        end = std::max({end, values.upper + 1, -values.lower});
      }
    }
  }
  for (size_t at = 0; at < sizes.size(); ++at) {
    const int64_t size = CeilDiv(ends[at], kVector) * kVector;
    if (!needs[at].is_plane && size <= kSideMaxOfSmall) {
      sizes[at] = std::max(sizes[at], size);
    }
  }
}

}  // namespace

void ChooseSizes(const TargetSize& target, int64_t sources_max,
                 absl::Span<const int64_t> widths, Nest& nest) {
  TileIndices indices = JoinedIndices(nest);
  std::vector<PointCounts> points;
  for (const NestComponent& component : nest.components) {
    points.push_back(CountPoints(nest, component));
  }
  FindSpread(points, indices, nest);
  const std::vector<IndexNeeds> needs = NeedsOf(target, nest, points, indices);
  const int64_t workers = std::max<int64_t>(1, target.agents * target.workers);
  std::vector<int64_t> sizes;
  for (const IndexNeeds& need : needs) {
    sizes.push_back(SizeFor(need.extent, need.side, need.goal,
                            std::max<int64_t>(1, workers * need.shares)));
  }
  FillPlanes(nest, needs, indices, sizes);
  if (nest.is_small) JoinSmallTiles(nest, needs, indices, sizes);
  if (sources_max > 0) {
    const std::vector<int64_t> least =
        LeastSizes(nest, sources_max, needs, indices);
    for (size_t at = 0; at < sizes.size(); ++at) {
      sizes[at] = std::max(sizes[at], least[at]);
    }
  }
  for (size_t c = 0; c < nest.components.size(); ++c) {
    NestComponent& component = nest.components[c];
    component.sizes.clear();
    component.is_plane.clear();
    for (size_t k = 0; k < static_cast<size_t>(component.rank); ++k) {
      const auto at =
          static_cast<size_t>(indices.Find(static_cast<int32_t>(c), k));
      component.is_plane.push_back(needs[at].is_plane);
      if (needs[at].is_plane) {
        component.sizes.push_back(1);
      } else {
        component.sizes.push_back(widths.empty() ? sizes[at]
                                                 : widths[at % widths.size()]);
      }
    }
  }
}

}  // namespace dogged::dsl
