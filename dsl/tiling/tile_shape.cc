#include "dsl/tiling/tile_shape.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "dsl/kernels/tile_program.h"
#include "dsl/tiling/stencil.h"
#include "dsl/tiling/tile_rounds.h"

namespace dogged::dsl {
namespace {

// A nominal computer. Rounded: only ratios matter.
constexpr double kNearCacheBytes = 1024.0 * 1024;     // a core's own
constexpr double kFarCacheBytes = 8.0 * 1024 * 1024;  // its share of the last
constexpr double kPointNs = 0.3;                      // one point, data near
constexpr double kFarPointNs = 0.5;                   // data far
constexpr double kMemoryPointNs = 1.5;                // data in memory
constexpr double kCopyNs = 0.15;     // a byte in, out, and hashed
constexpr double kRemoteNs = 3.0;    // a byte from another agent
constexpr double kTaskNs = 20e3;     // beside the kernel
constexpr double kGatheredNs = 2.0;  // an element of a gathered coefficient
// Below this many points a row is not worth a loop.
constexpr int64_t kRowMin = 64;
constexpr std::array<int64_t, 13> kTileDepths = {1,  2,  3,  4,  6,  8,  12,
                                                 16, 24, 32, 48, 64, 128};

int64_t Extent(const TilePlan& plan, int d) {
  return plan.space.upper[d] - plan.space.lower[d] + 1;
}

int64_t HaloOf(const TilePlan& plan, size_t d) {
  int64_t halo = 0;
  for (const TileField& field : plan.fields) {
    halo = std::max({halo, field.halo_below[d], field.halo_above[d]});
  }
  return halo;
}

// Points of the window that are in use at a time, see SweepOrder: a slab at
// every time step of the block, and the points that those read of each other.
double PointsInUse(const TilePlan& plan, double window, double rows) {
  const double row = window / rows;
  const double slab =
      std::max(1.0, static_cast<double>(plan.slab_points) / row);
  const auto step = static_cast<double>(FindSweepOrder(plan).step);
  const double span = static_cast<double>(plan.depth + 1) * step + slab;
  return row * std::min(rows, span);
}

// Elements of gathered coefficients that the tile in the middle makes for its
// first block.
double GatheredElements(const TilePlan& plan) {
  const auto is_gathered = [](const TileField& field) {
    return field.is_gathered;
  };
  if (std::none_of(plan.fields.begin(), plan.fields.end(), is_gathered))
    return 0;
  IndexVector middle;
  for (const int64_t count : plan.counts) middle.push_back(count / 2);
  const Box tile = plan.Tile(middle);
  Box points{{plan.base_time_step + 1}, {plan.base_time_step + plan.depth}};
  for (int d = 0; d < plan.dim_count(); ++d) {
    const int64_t halo = HaloOf(plan, static_cast<size_t>(d));
    points.lower.push_back(tile.lower[d] - halo);
    points.upper.push_back(tile.upper[d] + halo);
  }
  std::vector<Box> gathered = EmptyBoxes(plan);
  for (size_t p = plan.pieces.size(); p-- > 0;) {
    const TilePiece& piece = plan.pieces[p];
    Box at = points;
    if (plan.IsGathered(piece)) {
      const int64_t f = piece.stores.front();
      for (int e = 0; e < gathered[f].size(); ++e) {
        const int32_t d = plan.fields[f].dims[e];
        at.lower[d + 1] = gathered[f].lower[e];
        at.upper[d + 1] = gathered[f].upper[e];
      }
    }
    AddReads(plan, piece, at, gathered);
  }
  double out = 0;
  for (size_t f = 0; f < gathered.size(); ++f) {
    if (!is_gathered(plan.fields[f])) continue;
    out += static_cast<double>(gathered[f].Count());
  }
  return out;
}

// Nanoseconds per point and time step that are wanted, if all workers share.
double ShapeCost(const TilePlan& plan, const TargetSize& target) {
  double tile = 1;     // points
  double window = 1;   // with the halo
  double average = 1;  // computed per time step
  double tiles = 1;
  double rows = 1;  // of the window, along the first dimension
  for (int d = 0; d < plan.dim_count(); ++d) {
    const double width = static_cast<double>(plan.widths[d]);
    const double halo =
        plan.counts[d] > 1 ? static_cast<double>(HaloOf(plan, d)) : 0;
    tile *= width;
    window *= width + 2 * halo;
    if (d == 0) rows = window;
    average *= width + halo;
    tiles *= static_cast<double>(plan.counts[d]);
  }
  double held_bytes = 0;  // per point of the window
  double given_bytes = 0;
  double field_count = 0;
  for (const TileField& field : plan.fields) {
    if (field.is_gathered ||
        static_cast<int>(field.dims.size()) < plan.dim_count()) {
      continue;
    }
    const auto bytes = static_cast<double>(ElementBytes(field.element));
    held_bytes += bytes * static_cast<double>(field.carried + 1);
    given_bytes += bytes * static_cast<double>(field.carried);
    field_count += field.is_static ? 0 : 1;
  }
  const double held = held_bytes * PointsInUse(plan, window, rows);
  const double point_ns = held <= kNearCacheBytes  ? kPointNs
                          : held <= kFarCacheBytes ? kFarPointNs
                                                   : kMemoryPointNs;
  const auto depth = static_cast<double>(plan.depth);
  const auto workers = static_cast<double>(target.agents * target.workers);
  double task_ns = kTaskNs + average * depth * point_ns * field_count +
                   given_bytes * (tile + window) * kCopyNs +
                   GatheredElements(plan) * kGatheredNs;
  if (target.agents > 1) task_ns += given_bytes * (window - tile) * kRemoteNs;
  // Tasks of one generation share the workers; a few more generations than
  // one can overlap, so a half-filled last wave costs half.
  const double waves = (tiles + 0.5 * (workers - 1)) / workers;
  const double generations =
      static_cast<double>(std::max<int64_t>(1, plan.block_count()));
  const double total =
      std::max(waves, 1.0) * generations * task_ns + workers * task_ns;
  return total;
}

}  // namespace

namespace {

void SetDepth(int64_t depth, TilePlan& plan) {
  const int64_t time_steps =
      std::max<int64_t>(1, plan.last_time_step - plan.base_time_step);
  const int64_t time_steps_max =
      kHaloEntriesMax / 2 / std::max<int64_t>(1, std::ssize(plan.pieces));
  plan.depth =
      std::max<int64_t>(1, std::min({depth, time_steps, time_steps_max}));
  if (plan.round_step > 0) {
    plan.depth = RoundTileDepths(plan, plan.depth).back();
    plan.base_time_step = RoundBase(plan, plan.depth);
  }
  ComputeHalos(plan);
}

void SetWidth(int d, int64_t wanted, TilePlan& plan) {
  const int64_t extent = Extent(plan, d);
  int64_t width = std::max({wanted, HaloOf(plan, d), kEdgeWidth});
  // The last tile may be narrower than the others, but not than an edge.
  while (width < extent && extent % width != 0 && extent % width < kEdgeWidth) {
    ++width;
  }
  plan.widths[d] = std::min(width, extent);
  plan.counts[d] = CeilDiv(extent, plan.widths[d]);
}

// 1, 2, 3, 4, 6, 8, 12, 16, ...
int64_t NextPart(int64_t part) {
  if (part < 4) return part + 1;
  return (part & (part - 1)) == 0 ? part + part / 2 : part / 3 * 4;
}

// Calls `visit` for every way of cutting the dimensions from `d` on, as long
// as tiles are not silly.
template <typename Visit>
void ForEachCut(int d, TilePlan& plan, const Visit& visit) {
  if (d == plan.dim_count()) return visit(plan);
  const int64_t extent = Extent(plan, d);
  const int64_t width_min = d == plan.dim_count() - 1 ? kRowMin : 16;
  for (int64_t part = 1;
       part == 1 || (part <= 1024 && extent / part >= width_min);
       part = NextPart(part)) {
    SetWidth(d, CeilDiv(extent, part), plan);
    ForEachCut(d + 1, plan, visit);
  }
}

}  // namespace

void SetTileShape(const std::vector<int64_t>& widths, int64_t depth,
                  TilePlan& plan) {
  SetDepth(depth, plan);
  for (int d = 0; d < plan.dim_count(); ++d) {
    SetWidth(d, widths[d], plan);
  }
}

void ChooseTileShape(const TargetSize& target, TilePlan& plan) {
  double best_cost = -1;
  std::vector<int64_t> best_widths = plan.widths;
  int64_t best_depth = 1;
  const std::vector<int64_t> depths =
      plan.round_step > 0
          ? RoundTileDepths(plan, kTileDepths.back())
          : std::vector<int64_t>(kTileDepths.begin(), kTileDepths.end());
  for (const int64_t depth : depths) {
    SetDepth(depth, plan);
    ForEachCut(0, plan, [&](const TilePlan& candidate) {
      const double cost = ShapeCost(candidate, target);
      if (best_cost >= 0 && cost >= best_cost) return;
      best_cost = cost;
      best_widths = candidate.widths;
      best_depth = candidate.depth;
    });
    if (depth >= plan.last_time_step - plan.base_time_step) break;
  }
  SetTileShape(best_widths, best_depth, plan);
}

}  // namespace dogged::dsl
