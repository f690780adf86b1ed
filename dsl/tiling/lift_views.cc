#include "dsl/tiling/lift_views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace dogged::dsl {
namespace {

// Adds to `out` the index of which index d of `view` is `factor` times and
// `offset`. False if a tile ends between two of its values.
bool AddIndex(const ResultView& view, size_t d, const Follow& follow,
              ResultView& out) {
  const auto inner = [&follow](int64_t at) {
    return CeilDiv(at - follow.offset, follow.factor);
  };
  const auto tile_of = [&view, d](int64_t at) {
    return FloorDiv(at - view.origin[d], view.extent[d]);
  };
  const int64_t lower = inner(view.lower[d]);
  const int64_t upper = inner(view.upper[d]);
  const int64_t tile = tile_of(view.lower[d]);
  int64_t extent = view.extent[d] / follow.factor;
  int64_t origin = inner(view.origin[d]);
  if (tile == tile_of(view.upper[d])) {
    // A single tile has all of it, and more than a value, or it would be no
    // tile.
    extent = std::max<int64_t>(2, upper - lower + 1);
    origin = lower - tile * extent;
  } else if (view.extent[d] % follow.factor != 0) {
    return false;
  }
  out.lower.push_back(lower);
  out.upper.push_back(upper);
  out.step.push_back(std::max<int64_t>(1, view.step[d] / follow.factor));
  out.tile_index.push_back(view.tile_index[d]);
  out.origin.push_back(origin);
  out.extent.push_back(extent);
  return true;
}

// By index of a field: all factors that some view has there.
std::vector<int64_t> CommonFactors(const LiftedProgram& lifted, size_t rank) {
  std::vector<int64_t> out(rank, 1);
  for (const PointResult& result : lifted.points.results) {
    const Embedding& embedding = lifted.embeddings[result.array];
    for (size_t i = 0; i < embedding.size() && i < rank; ++i) {
      if (embedding[i].from < 0) continue;
      out[i] = std::lcm(out[i], embedding[i].factor);
    }
  }
  return out;
}

}  // namespace

bool UnliftViews(const LiftedProgram& lifted, Program& program,
                 TileShape& shape) {
  const std::vector<int64_t> factors =
      CommonFactors(lifted, shape.widths.size() + 1);
  int64_t values = 1;  // at least, of a tile along an index
  bool is_told = true;
  for (size_t r = 0; r < program.views.size(); ++r) {
    ResultView& view = program.views[r];
    const int64_t array = lifted.points.results[r].array;
    const Embedding& embedding = lifted.embeddings[array];
    if (embedding.empty()) continue;
    ResultView out = view;
    for (auto* list :
         {&out.lower, &out.upper, &out.step, &out.origin, &out.extent}) {
      list->clear();
    }
    out.tile_index.clear();
    for (size_t i = 0; i < embedding.size(); ++i) {
      if (embedding[i].from < 0) continue;
      is_told = AddIndex(view, i, embedding[i], out) && is_told;
    }
    // Tiles of one value each are no tiles.
    if (std::all_of(out.extent.begin(), out.extent.end(),
                    [](int64_t extent) { return extent == 1; })) {
      is_told = false;
      values = 2;
    }
    if (is_told) view = std::move(out);
  }
  // Wider rather than more, but no more time steps than there are.
  for (size_t i = 0; i < factors.size(); ++i) {
    const bool is_depth = i == shape.widths.size();
    int64_t& size = is_depth ? shape.depth : shape.widths[i];
    const int64_t count =
        is_depth ? size / factors[i] : CeilDiv(size, factors[i]);
    size = std::max(values, count) * factors[i];
  }
  return is_told;
}

}  // namespace dogged::dsl
