// Results of a part of what lies in blocks, as arrays of their own.
#ifndef DOGGED_DSL_CHUNKS_RESULT_PARTS_H_
#define DOGGED_DSL_CHUNKS_RESULT_PARTS_H_

#include "dsl/chunks/chunk_choice.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// The index of a result's domain along which it has all of the blocks of its
// array, or one of each number of blocks; -1 if it has parts of them. `choice`
// has blocks of the array along some index.
int WholeAlong(const PointProgram& points, const ChunkChoice& choice,
               const PointResult& result);

// The program with a copy of each result that has parts of blocks: an array
// with these labels alone, a task that makes them, and a result of all of it.
// In `choice`, to which they are added, they go along the index of the array
// that is copied, if they can.
PointProgram WithResultParts(const PointProgram& points, ChunkChoice& choice);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHUNKS_RESULT_PARTS_H_
