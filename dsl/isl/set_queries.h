// Questions to sets of isl: first and last values, steps, a first point. Part
// of the isl adapter.
#ifndef DOGGED_DSL_ISL_SET_QUERIES_H_
#define DOGGED_DSL_ISL_SET_QUERIES_H_

#include <isl/cpp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {

// The value as an integer, and frees it; none if it is not one, or too large
// for an index.
std::optional<int64_t> TakeInteger(isl_val* value);

int Dimensions(const isl::set& set);
// The values of index d, as a set of one dimension without a name.
isl::set ShadowOn(const isl::set& set, int d);
// The set with dimension `d` behind the others, without a name.
isl::set WithLast(const isl::set& set, int d);
// Whether some piece has a div, the rest of a division.
bool HasDivs(const isl::set& set);

// `set` with fewer pieces. isl 0.25's own coalescing merges pieces with
// different strides wrongly ({2, 3} and {1, 3, 5} to 1..5, met in a random
// test), so its result counts only if it is equal; nor does one that merges
// them by rounding, (x odd and t < T) or (x even and t > 0) for example, for no
// guard can say that.
isl::set Coalesced(const isl::set& set);

// The values that a one-dimensional constant set of points shares: index d of
// every point of `set`; none if they differ.
std::optional<int64_t> SharedValue(const isl::set& set, int d);
// Least and greatest value of index d; none if `set` is empty or unbounded.
std::optional<int64_t> Least(const isl::set& set, int d);
std::optional<int64_t> Greatest(const isl::set& set, int d);
// How far values of index d are apart, whatever the others are; at least 1.
int64_t Stride(const isl::set& set, int d);
// A single-valued map as forms of its domain, piece by piece; none if one of
// them has divisions.
struct Piece {
  isl::set domain;
  std::vector<AffineExpr> forms;
};
std::optional<std::vector<Piece>> PiecesOf(const isl::map& map);
inline IndexVector ToIndex(const std::vector<int64_t>& point) {
  return IndexVector(absl::Span<const int64_t>(point));
}
// The lexicographically least point; `set` has one, and no parameters.
std::vector<int64_t> FirstPoint(const isl::set& set);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_SET_QUERIES_H_
