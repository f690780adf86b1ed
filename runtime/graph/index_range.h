// The values that indices take over a domain, found from its bounds and from
// the divisibility in its guard, without going through its points.
#ifndef DOGGED_RUNTIME_GRAPH_INDEX_RANGE_H_
#define DOGGED_RUNTIME_GRAPH_INDEX_RANGE_H_

#include <cstdint>
#include <vector>

#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"

namespace dogged {

// lower, lower + step, ..., upper. Empty if upper < lower.
struct IndexRange {
  int64_t lower = 0;
  int64_t upper = -1;
  int64_t step = 1;  // 1 where there is one value only

  int64_t Count() const {
    return upper < lower ? 0 : (upper - lower) / step + 1;
  }
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

// Steps beyond this are not seen.
inline constexpr int64_t kStepMax = int64_t{1} << 40;

// By entry of `map`: a range that holds its values over `domain`. Its ends and
// its step are theirs where each bound is a number and the guard has
// divisibility constraints on single indices only; elsewhere it may hold more.
std::vector<IndexRange> RangesOf(const Domain& domain, const AffineMap& map);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_INDEX_RANGE_H_
