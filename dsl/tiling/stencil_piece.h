// The pieces of a stencil: a task class in the coordinates of its labels, its
// code there, and the pieces that make its sources.
#ifndef DOGGED_DSL_TILING_STENCIL_PIECE_H_
#define DOGGED_DSL_TILING_STENCIL_PIECE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_plan.h"

namespace dogged::dsl {

// A task class in the coordinates of the labels it creates.
struct Normal {
  const PointClass* source = nullptr;
  TilePiece piece;
  std::vector<AffineExpr> index;              // of the class, from coordinates
  std::vector<std::optional<int64_t>> fixed;  // by coordinate
  Guard mask;
  std::vector<Constraint> mask_all;  // and these
  Box hull;                          // by coordinate
};

// Fills in the code, once domain, stores and loads are there.
void MakePieceCode(const TilePlan& plan, Normal& normal);

// Fills in the hull, from constraints on single coordinates.
void FindHull(const TilePlan& plan, Normal& normal);

// Computes more than is asked for, where that spares a mask and nobody minds:
// a boundary whose edges are wanted at the last step only gets them at all. A
// piece may do so that reads nothing and has its hull to itself.
void WidenMasked(std::vector<Normal>& normals);

// Splits pieces that are the points around a box, of a formula that holds
// wherever no task creates, into boxes: through the inside of that box goes no
// loop then.
void SplitMasked(const TilePlan& plan, std::vector<Normal>& normals);

// Fills in makers and is_inward of all pieces; maker m is normals[m].
void FindMakers(const TilePlan& plan, std::vector<Normal>& normals);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_STENCIL_PIECE_H_
