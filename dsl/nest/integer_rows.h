// Rows of integers: factors of forms, less their constants.
#ifndef DOGGED_DSL_NEST_INTEGER_ROWS_H_
#define DOGGED_DSL_NEST_INTEGER_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/graph/affine.h"

namespace dogged::dsl {

using Row = std::vector<int64_t>;

// The factors of the first `rank` indices.
Row RowOf(const AffineExpr& form, size_t rank);
// The form with these factors, and no constant.
AffineExpr ExprOf(const Row& row);

// Of a square of few small rows: by expansion, without a care for overflow.
int64_t Determinant(const std::vector<Row>& rows);

// Whether there are rows that make a square with determinant 1 or -1 of
// `rows`: forms of which points tell all combinations.
bool IsPrimitive(const std::vector<Row>& rows);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_INTEGER_ROWS_H_
