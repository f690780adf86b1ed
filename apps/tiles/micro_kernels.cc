#include "apps/tiles/micro_kernels.h"

namespace dogged {

const MicroKernels& MicroKernelsHere() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return kMicroKernels8;
  if (__builtin_cpu_supports("avx2") != 0 &&
      __builtin_cpu_supports("fma") != 0) {
    return kMicroKernels4;
  }
#endif
  return kMicroKernels2;
}

}  // namespace dogged
