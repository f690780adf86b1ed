// Order of rows: labels that differ by the index of the chunks alone.
#ifndef DOGGED_DSL_CHUNKS_ROW_ORDER_H_
#define DOGGED_DSL_CHUNKS_ROW_ORDER_H_

#include <vector>

#include "dsl/chunks/chunk_cells.h"
#include "dsl/chunks/chunk_choice.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// True if it is proved that no row waits for itself, whatever it reads along
// the index of its chunks (RingWithoutOrder() by the other indices). Each of
// `cells` counts as one node, with all of its pieces.
bool RowsAreInOrder(const PointProgram& points, const ChunkChoice& choice,
                    const std::vector<ChunkCell>& cells);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHUNKS_ROW_ORDER_H_
