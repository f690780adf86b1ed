#include "dsl/ir/tile_plan.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

// How far away a load reads along a dimension of space.
int64_t ShiftOf(const TileLoad& load, size_t dimension) {
  for (size_t e = 0; e < load.coordinates.size(); ++e) {
    if (load.coordinates[e] == static_cast<int32_t>(dimension) + 1) {
      return load.shifts[e];
    }
  }
  return 0;
}

}  // namespace

bool Box::IsEmpty() const {
  for (int d = 0; d < size(); ++d) {
    if (upper[d] < lower[d]) return true;
  }
  return false;
}

int64_t Box::Count() const {
  int64_t count = 1;
  for (int d = 0; d < size(); ++d) {
    count *= std::max<int64_t>(0, upper[d] - lower[d] + 1);
  }
  return count;
}

IndexVector Box::Extents() const {
  IndexVector out;
  for (int d = 0; d < size(); ++d) {
    out.push_back(std::max<int64_t>(0, upper[d] - lower[d] + 1));
  }
  return out;
}

Box Intersect(const Box& a, const Box& b) {
  DOGGED_CHECK(a.size() == b.size()) << a.size() << " and " << b.size();
  Box out = a;
  for (int d = 0; d < a.size(); ++d) {
    out.lower[d] = std::max(a.lower[d], b.lower[d]);
    out.upper[d] = std::min(a.upper[d], b.upper[d]);
  }
  return out;
}

std::vector<Box> Without(const std::vector<Box>& boxes, const Box& box) {
  std::vector<Box> out;
  for (Box rest : boxes) {
    if (Intersect(rest, box).IsEmpty()) {
      out.push_back(std::move(rest));
      continue;
    }
    // Slices below and above along each dimension, cut off in turn.
    for (int d = 0; d < rest.size(); ++d) {
      Box part = rest;
      part.upper[d] = box.lower[d] - 1;
      if (!part.IsEmpty()) out.push_back(part);
      part = rest;
      part.lower[d] = box.upper[d] + 1;
      if (!part.IsEmpty()) out.push_back(part);
      rest.lower[d] = std::max(rest.lower[d], box.lower[d]);
      rest.upper[d] = std::min(rest.upper[d], box.upper[d]);
    }
  }
  return out;
}

Box Project(const Box& box, const std::vector<int32_t>& dims) {
  Box out;
  for (const int32_t d : dims) {
    out.lower.push_back(box.lower[d]);
    out.upper.push_back(box.upper[d]);
  }
  return out;
}

int64_t TilePlan::block_count() const {
  return CeilDiv(last_time_step - base_time_step, depth);
}

int64_t TilePlan::BlockOf(int64_t time_step) const {
  return CeilDiv(time_step - base_time_step, depth);
}

int64_t TilePlan::FirstTimeStepOf(int64_t block) const {
  return block == 0 ? first_time_step
                    : base_time_step + (block - 1) * depth + 1;
}

int64_t TilePlan::LastTimeStepOf(int64_t block) const {
  return std::min(last_time_step, base_time_step + block * depth);
}

bool TilePlan::IsTile(const IndexVector& tile) const {
  for (int d = 0; d < dim_count(); ++d) {
    if (tile[d] < 0 || tile[d] >= counts[d]) return false;
  }
  return true;
}

Box TilePlan::Tile(const IndexVector& tile) const {
  Box out = space;
  for (int d = 0; d < dim_count(); ++d) {
    const int64_t width = widths[d];
    out.lower[d] = space.lower[d] + tile[d] * width;
    out.upper[d] = std::min(out.lower[d] + width - 1, space.upper[d]);
  }
  return out;
}

Box TilePlan::Core(const TileField& field, const IndexVector& tile) const {
  return Intersect(Project(Tile(tile), field.dims), field.box);
}

Box TilePlan::Window(const TileField& field, const IndexVector& tile) const {
  Box box = Tile(tile);
  for (int d = 0; d < dim_count(); ++d) {
    box.lower[d] -= field.halo_below[d];
    box.upper[d] += field.halo_above[d];
  }
  return Intersect(Project(box, field.dims), field.box);
}

Box TilePlan::Strip(const TileField& field, const IndexVector& tile,
                    const IndexVector& delta) const {
  IndexVector other = tile;
  for (int d = 0; d < dim_count(); ++d) other[d] += delta[d];
  const Box core = Core(field, tile);
  if (IsTile(other)) return Intersect(core, Window(field, other));
  Box none = core;
  for (int d = 0; d < none.size(); ++d) none.upper[d] = none.lower[d] - 1;
  return none;
}

std::vector<IndexVector> TilePlan::Directions() const {
  std::vector<IndexVector> out;
  IndexVector delta;
  for (int d = 0; d < dim_count(); ++d) delta.push_back(-1);
  while (true) {
    bool is_wanted = false;
    for (const TileField& field : fields) {
      if (field.is_static || field.carried == 0) continue;
      bool reaches = true;
      for (int d = 0; d < dim_count(); ++d) {
        // A neighbour above reads points below it.
        reaches &= delta[d] == 0 ||
                   (counts[d] > 1 && (delta[d] > 0 ? field.halo_below[d]
                                                   : field.halo_above[d]) > 0);
      }
      is_wanted |= reaches;
    }
    const bool is_zero = std::all_of(delta.begin(), delta.end(),
                                     [](int64_t v) { return v == 0; });
    if (is_wanted && !is_zero) out.push_back(delta);
    int d = dim_count() - 1;
    while (d >= 0 && delta[d] == 1) delta[d--] = -1;
    if (d < 0) return out;
    ++delta[d];
  }
}

std::vector<Box> EmptyBoxes(const TilePlan& plan) {
  std::vector<Box> out(plan.fields.size());
  for (size_t f = 0; f < out.size(); ++f) {
    for (size_t e = 0; e < plan.fields[f].dims.size(); ++e) {
      out[f].lower.push_back(0);
      out[f].upper.push_back(-1);
    }
  }
  return out;
}

std::pair<int64_t, int64_t> RangeOver(const AffineExpr& expr, const Box& box) {
  int64_t low = expr.constant;
  int64_t high = expr.constant;
  for (int d = 0; d < box.size(); ++d) {
    const int64_t factor = expr.coefficients[d];
    low += factor * (factor > 0 ? box.lower[d] : box.upper[d]);
    high += factor * (factor > 0 ? box.upper[d] : box.lower[d]);
  }
  return {low, high};
}

void AddReads(const TilePlan& plan, const TilePiece& piece, const Box& points,
              std::vector<Box>& gathered) {
  if (points.IsEmpty()) return;
  for (const TileLoad& load : piece.loads) {
    if (!plan.IsGathered(load)) continue;
    Box read;
    for (const AffineExpr& expr : load.at) {
      const auto [lower, upper] = RangeOver(expr, points);
      read.lower.push_back(lower);
      read.upper.push_back(upper);
    }
    const int64_t f = load.source;
    read = Intersect(read, plan.fields[f].box);
    if (read.IsEmpty()) continue;
    Box& all = gathered[f];
    const bool is_first = all.IsEmpty();
    for (int e = 0; e < all.size(); ++e) {
      all.lower[e] =
          is_first ? read.lower[e] : std::min(all.lower[e], read.lower[e]);
      all.upper[e] =
          is_first ? read.upper[e] : std::max(all.upper[e], read.upper[e]);
    }
  }
}

bool HasRoomForHalos(const TilePlan& plan) {
  const auto pieces = std::ssize(plan.pieces);
  return plan.time_steps_max() <=
         kHaloEntriesMax / std::max<int64_t>(1, pieces);
}

HaloWidths ComputeHalos(TilePlan& plan) {
  const auto dims = static_cast<size_t>(plan.dim_count());
  int64_t carried_max = 0;
  for (const TileField& field : plan.fields) {
    carried_max = std::max(carried_max, field.carried);
  }
  const int64_t time_steps = plan.time_steps_max();
  const auto rows = static_cast<size_t>(time_steps + carried_max);
  HaloWidths halos;
  halos.below.assign(
      plan.pieces.size(),
      std::vector<std::vector<int64_t>>(rows, std::vector<int64_t>(dims, 0)));
  halos.above = halos.below;
  const auto spread = [&](size_t p, size_t row) {
    const TilePiece& piece = plan.pieces[p];
    for (size_t l = 0; l < piece.loads.size(); ++l) {
      const TileLoad& load = piece.loads[l];
      if (plan.IsGathered(load)) continue;
      // A static piece is needed once: row 0 stands for all.
      for (const int32_t maker : piece.makers[l]) {
        const bool to_static = plan.pieces[maker].is_static;
        const size_t to = to_static ? 0 : row + static_cast<size_t>(load.lag);
        if (to >= rows) continue;
        for (size_t d = 0; d < dims; ++d) {
          const int64_t shift = piece.is_inward[l][d] ? 0 : ShiftOf(load, d);
          auto& below = halos.below[maker][to][d];
          auto& above = halos.above[maker][to][d];
          below = std::max(below, halos.below[p][row][d] - shift);
          above = std::max(above, halos.above[p][row][d] + shift);
        }
      }
    }
  };
  for (size_t row = 0; row < static_cast<size_t>(time_steps); ++row) {
    for (size_t p = plan.pieces.size(); p-- > 0;) {
      if (!plan.pieces[p].is_static) spread(p, row);
    }
  }
  for (size_t p = plan.pieces.size(); p-- > 0;) {
    if (plan.pieces[p].is_static) spread(p, 0);
  }
  for (size_t f = 0; f < plan.fields.size(); ++f) {
    TileField& field = plan.fields[f];
    field.halo_below.assign(dims, 0);
    field.halo_above.assign(dims, 0);
    const auto is_own = [&field](size_t d) {
      return std::find(field.dims.begin(), field.dims.end(),
                       static_cast<int32_t>(d)) != field.dims.end();
    };
    for (size_t p = 0; p < plan.pieces.size(); ++p) {
      const auto& stores = plan.pieces[p].stores;
      if (std::find(stores.begin(), stores.end(), static_cast<int32_t>(f)) ==
          stores.end()) {
        continue;
      }
      for (size_t row = 0; row < rows; ++row) {
        for (size_t d = 0; d < dims; ++d) {
          if (!is_own(d)) continue;
          field.halo_below[d] =
              std::max(field.halo_below[d], halos.below[p][row][d]);
          field.halo_above[d] =
              std::max(field.halo_above[d], halos.above[p][row][d]);
        }
      }
    }
  }
  return halos;
}

}  // namespace dogged::dsl
