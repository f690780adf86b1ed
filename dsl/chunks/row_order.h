// Order of rows: labels that differ by the index of the chunks alone.
#ifndef DOGGED_DSL_CHUNKS_ROW_ORDER_H_
#define DOGGED_DSL_CHUNKS_ROW_ORDER_H_

#include <vector>

#include "dsl/chunks/chunk_cells.h"
#include "dsl/chunks/chunk_choice.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// True if it is proved that no row waits for itself, whatever it reads along
// the index of its chunks: where classes and reductions lead in a ring, another
// index of their labels falls along a part of it and rises along none, and the
// others, by themselves, make no such ring either. Each of `cells` counts as
// one, with all of its pieces.
//
// Source: Karp, Miller and Winograd 1967, of systems of recurrences; here one
// index at a time.
bool RowsAreInOrder(const PointProgram& points, const ChunkChoice& choice,
                    const std::vector<ChunkCell>& cells);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHUNKS_ROW_ORDER_H_
