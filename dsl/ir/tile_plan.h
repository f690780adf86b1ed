// TilePlan: how a uniform stencil program is computed in overlapped tiles of
// space with some temporal depth. A tile task takes the values of its block of
// points at time step (b-1)*D, and of a halo around it, computes D time steps
// on a region that shrinks by the stencil radius at each, and gives away its
// block at time step b*D: whole to its own next task, in strips to its
// neighbours.
//
// Everything in one space: coordinate 0 is time, 1..d are space. Plain data and
// pure functions; part of the job.
//
// Source: [REM] names coalescing of tasks as future work; overlapped tiling is
// the usual remedy for stencils (see docs/PAPERS.md).
#ifndef DOGGED_DSL_IR_TILE_PLAN_H_
#define DOGGED_DSL_IR_TILE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/ir/kernel_ir.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"

namespace dogged::dsl {

// A box of integer points, both ends included; empty if upper < lower.
struct Box {
  IndexVector lower;
  IndexVector upper;

  int size() const { return lower.size(); }
  bool IsEmpty() const;
  // Points; 0 if empty.
  int64_t Count() const;
  IndexVector Extents() const;  // zero where empty
  friend bool operator==(const Box&, const Box&) = default;
};
Box Intersect(const Box& a, const Box& b);
// The points of `boxes`, which are disjoint, outside of `box`; disjoint too.
std::vector<Box> Without(const std::vector<Box>& boxes, const Box& box);
// The least and the greatest value of `expr` over a box that is not empty.
std::pair<int64_t, int64_t> RangeOver(const AffineExpr& expr, const Box& box);

// An array of the user's program.
struct TileField {
  std::string name;
  ElementType element = ElementType::kDouble;
  // Without time: computed once per tile, with its halo.
  bool is_static = false;
  // A static one without dimensions may be made elsewhere: of the array, the
  // label with these indices.
  std::optional<IndexVector> scalar_input = std::nullopt;
  // A static one that does not lie in space: its coordinates are indices of its
  // own. Each task makes for itself the part that it reads, and has no halo.
  bool is_gathered = false;
  // Static fields are computed in stages: a scalar input may be made of all
  // tiles of fields of lower stages, and its readers have its stage or a higher
  // one.
  int32_t stage = 0;
  // The space dimension (from 0) of each index but time, in their order; -1 of
  // a gathered coefficient for coordinate 0, which has no other use there.
  std::vector<int32_t> dims;
  // Where time stands among the indices of the user's label.
  int32_t time_position = 0;
  Box box;              // all its labels, by entry of `dims`
  int64_t carried = 0;  // time steps that a later task reads, at least 0
  // By space dimension: how far a task reads beyond its tile.
  std::vector<int64_t> halo_below;
  std::vector<int64_t> halo_above;
};

// The largest factor of a coordinate.
inline constexpr int64_t kFactorMax = int64_t{1} << 16;

// An operand of a piece: element (coordinate[e] + shift[e]) for each of its
// dimensions e, `lag` time steps ago; of an input or a gathered coefficient the
// element (at[e]).
struct TileLoad {
  bool is_input = false;  // of TilePlan::inputs, else of fields
  int32_t source = 0;
  int32_t lag = 0;
  std::vector<int32_t> coordinates;
  std::vector<int64_t> shifts;
  std::vector<AffineExpr> at;  // from the piece's coordinates
};

// A task class, or its part at one time step in one tile.
struct TilePiece {
  CodeBlock code;                    // over time and space
  std::vector<AffineExpr> at_least;  // >= 0; each of time and one dimension
  Guard time_steps;                  // the time steps that it is computed at
  std::vector<int32_t> stores;       // fields
  std::vector<TileLoad> loads;
  bool is_static = false;
  // Pieces that create the source of load l.
  std::vector<std::vector<int32_t>> makers;
  // By load and space dimension: true if the load's shift there needs no halo,
  // as it points inwards from the edge of the domain.
  std::vector<std::vector<bool>> is_inward;
};

// An array that is read from the job's inputs.
struct TileInput {
  int32_t position = 0;  // in Job::inputs
  ElementType element = ElementType::kDouble;
  Box box;  // bounds of the dense array, by its dimension
};

// Points of a slab at one time step, so that a few of its rows fit the nearest
// cache.
constexpr int64_t kSlabPoints = 2048;

// The name of the index of tiles' labels and tasks that counts blocks.
inline constexpr char kBlockIndexName[] = "B";

struct TilePlan {
  Box space;                    // the tiles cover it
  std::vector<int64_t> widths;  // of a tile, by dimension
  std::vector<int64_t> counts;  // tiles, by dimension
  int64_t first_time_step = 0;
  int64_t base_time_step = 0;  // the start task computes up to here
  int64_t last_time_step = 0;
  int64_t depth = 1;  // temporal tile depth: time steps of a step task
  // In a loop, blocks end at all time steps round_first + k*round_step. 0: no
  // loop.
  int64_t round_first = 0;
  int64_t round_step = 0;
  int64_t slab_points = kSlabPoints;  // see SweepOrder
  std::vector<TileField> fields;
  std::vector<TilePiece> pieces;  // in an order that respects lag 0
  std::vector<TileInput> inputs;

  int dim_count() const { return space.size(); }
  // True for a coefficient of time. It lacks a dimension of space, so it has
  // few values: a task computes them for all its time steps before all other
  // fields.
  bool IsAhead(const TileField& field) const {
    return !field.is_static &&
           static_cast<int>(field.dims.size()) < dim_count();
  }
  bool IsAhead(const TilePiece& piece) const {
    return std::any_of(piece.stores.begin(), piece.stores.end(),
                       [this](int32_t f) { return IsAhead(fields[f]); });
  }
  bool IsGathered(const TilePiece& piece) const {
    return !piece.stores.empty() && fields[piece.stores.front()].is_gathered;
  }
  bool IsGathered(const TileLoad& load) const {
    return !load.is_input && fields[load.source].is_gathered;
  }
  // Step tasks per tile.
  int64_t block_count() const;
  // Time steps of the longest block.
  int64_t time_steps_max() const {
    return std::max(depth, base_time_step - first_time_step + 1);
  }
  // The block of `depth` time steps that a time step is in. Step task b
  // computes block b; the start task all to block 0, of which the first may
  // lack time steps.
  int64_t BlockOf(int64_t time_step) const;
  // Bounds of the task that computes a block.
  int64_t FirstTimeStepOf(int64_t block) const;
  int64_t LastTimeStepOf(int64_t block) const;
  // The stage of a static piece.
  int32_t StageOf(const TilePiece& piece) const {
    return fields[piece.stores.front()].stage;
  }
  // The points of a tile, all dimensions.
  Box Tile(const IndexVector& tile) const;
  // `field`'s points in a tile, without and with the halo around it.
  Box Core(const TileField& field, const IndexVector& tile) const;
  Box Window(const TileField& field, const IndexVector& tile) const;
  // The strip of `field` that `tile` gives to its neighbour at tile + delta;
  // empty if there is none.
  Box Strip(const TileField& field, const IndexVector& tile,
            const IndexVector& delta) const;
  bool IsTile(const IndexVector& tile) const;
  // The directions in which some tile gives a strip away, in order.
  std::vector<IndexVector> Directions() const;
};

// HaloWidths: how far beyond its tile each piece is computed, so that the tile
// comes out right: below[piece][r][d] with r time steps to go. Each time step
// carried adds a row, for those before the block. ComputeHalos() also fills in
// that of fields.
struct HaloWidths {
  std::vector<std::vector<std::vector<int64_t>>> below;
  std::vector<std::vector<std::vector<int64_t>>> above;
};
HaloWidths ComputeHalos(TilePlan& plan);

// More stages than a program has that somebody wrote.
inline constexpr int32_t kStagesMax = 64;

// Time steps of a block, times pieces: more than ComputeHalos() should make.
inline constexpr int64_t kHaloEntriesMax = int64_t{1} << 21;
bool HasRoomForHalos(const TilePlan& plan);

// An empty box by field, of as many dimensions as the field has.
std::vector<Box> EmptyBoxes(const TilePlan& plan);
// Extends `gathered`, a box by field, by the gathered coefficients that `piece`
// reads at `points`, all coordinates.
void AddReads(const TilePlan& plan, const TilePiece& piece, const Box& points,
              std::vector<Box>& gathered);

// `box`, given by the entries of field.dims, from a box over all dimensions.
Box Project(const Box& box, const std::vector<int32_t>& dims);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_TILE_PLAN_H_
