// Division of integers with a rounding that C++ does not have.
#ifndef DOGGED_RUNTIME_BASE_DIVISION_H_
#define DOGGED_RUNTIME_BASE_DIVISION_H_

#include <cstdint>

namespace dogged {

// floor(a / b) and ceil(a / b) for b > 0.
inline int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
inline int64_t CeilDiv(int64_t a, int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

// The least multiple of b, b > 0, that is not below a.
inline int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// 0 to b - 1.
inline int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_DIVISION_H_
