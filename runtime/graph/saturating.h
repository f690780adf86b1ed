// Counts that stay at the largest number where they would go beyond it.
#ifndef DOGGED_RUNTIME_GRAPH_SATURATING_H_
#define DOGGED_RUNTIME_GRAPH_SATURATING_H_

#include <cstdint>
#include <limits>

namespace dogged {

// Product of counts: neither is negative.
inline int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out)
             ? std::numeric_limits<int64_t>::max()
             : out;
}

inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_add_overflow(a, b, &out)
             ? std::numeric_limits<int64_t>::max()
             : out;
}

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_SATURATING_H_
