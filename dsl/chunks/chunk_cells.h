// Cells: where several classes make parts of an array along the index of its
// chunks, as a boundary and the points within do, a task has some of each.
#ifndef DOGGED_DSL_CHUNKS_CHUNK_CELLS_H_
#define DOGGED_DSL_CHUNKS_CHUNK_CELLS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/chunks/chunk_choice.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// Labels that lie in a box, all along the index of the chunks. Its pieces, of
// classes in the indices of their labels, make each of them once at most; what
// no class makes, nothing reads.
struct ChunkCell {
  std::vector<int32_t> arrays;
  Box box;
  int32_t dim = 0;  // the index of the chunks
  std::vector<PointClass> pieces;
};

// The program with one box for arrays that are made together: their blocks are
// then the same. Labels that are in the larger box alone are never made.
PointProgram WithCommonBoxes(PointProgram points);

// The class in the indices of its labels, in boxes: index n of a task is index
// n of what it makes. Empty if it isn't of this kind: the class has code, each
// of its labels has the same indices, its own ones plus numbers or numbers, and
// its points make few boxes.
std::vector<PointClass> InLabelIndices(const PointProgram& points,
                                       const PointClass& c);

// The cells of all classes of which `choice` says that they make parts.
//
// Errors: kUnimplemented where there are too many cells, or arrays that are
// made together have unlike ranges, with the reason.
absl::StatusOr<std::vector<ChunkCell>> MakeCells(const PointProgram& points,
                                                 const ChunkChoice& choice);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHUNKS_CHUNK_CELLS_H_
