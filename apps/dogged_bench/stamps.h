// Stamps: times that kernels of the hop benchmark write down in its memory.
#ifndef DOGGED_APPS_DOGGED_BENCH_STAMPS_H_
#define DOGGED_APPS_DOGGED_BENCH_STAMPS_H_

#include <cstddef>
#include <cstdint>

namespace dogged {

// When a task ran, in nanoseconds of the monotonic clock, and in which process.
struct Stamps {
  int64_t pid;
  int64_t start;
  int64_t end;
};
constexpr size_t kStampsMax = 1 << 14;

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_STAMPS_H_
