// Which indices chunks go along (lower_chunks.h).
#ifndef DOGGED_DSL_CHUNKS_CHUNK_CHOICE_H_
#define DOGGED_DSL_CHUNKS_CHUNK_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

struct ChunkChoice {
  // By array: the index along which its labels lie in blocks; -1: each label is
  // a value.
  std::vector<int32_t> array_index;
  // By class: the index along which its points are in chunks; -1: none;
  // kInCells: it makes parts of blocks (chunk_cells.h).
  static constexpr int32_t kInCells = -2;
  std::vector<int32_t> class_index;
  // By reduction: the index of `over` along which what it reads is in blocks;
  // -1: none.
  std::vector<int32_t> reduction_index;
  int64_t longest = 0;  // labels along array_index, at most
  // Why the largest array is not in chunks of its longest index; empty if it
  // is.
  std::string missed;
};

// The index of `domain` that alone, as itself plus a number, is index `i` of
// `map`, and takes the same values whatever the others are; -1 if there is
// none.
int FreeIndexAt(const AffineMap& map, int i, const Domain& domain);

// The longest index of each array that chunks can go along: every class that
// makes labels of the array has it by itself, as a box of its own, and whether
// its points read does not depend on it; nor does the time of a loop. A
// reduction has it by itself, too, in what it makes and in what it reads. What
// a class reads at places that differ by the index goes along it as well.
//
// Where each class covers the array along the index, no chunk waits for itself
// if no point does. All points of a row, which differ by that index alone, read
// of the same rows. So a circle of rows could be followed from point to point
// without an end, and rows have finitely many. Where classes make parts, a
// circle of rows may be none of points, and there has to be another proof
// (row_order.h).
//
// Errors: kUnimplemented with the reason why there is no such choice.
absl::StatusOr<ChunkChoice> ChooseChunks(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHUNKS_CHUNK_CHOICE_H_
