// The micro-kernels that this processor can run, for tests by width.
#ifndef DOGGED_TESTS_TILES_ALL_KERNELS_H_
#define DOGGED_TESTS_TILES_ALL_KERNELS_H_

#include <string>
#include <vector>

#include "apps/tiles/micro_kernels_impl.h"
#include "gmock/gmock.h"

namespace dogged {

// The text for AVX-512, for any processor.
using Wide = double __attribute__((vector_size(64)));
inline constexpr MicroKernels kWide = MicroKernelsImpl<Wide, 10>::kTable;

inline std::vector<const MicroKernels*> AllKernels() {
  std::vector<const MicroKernels*> out = {&kMicroKernels2, &kWide};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0 &&
      __builtin_cpu_supports("fma") != 0) {
    out.push_back(&kMicroKernels4);
  }
  if (__builtin_cpu_supports("avx512f") != 0) out.push_back(&kMicroKernels8);
#endif
  return out;
}

inline std::string NameOfKernels(
    const testing::TestParamInfo<const MicroKernels*>& one) {
  return "By" + std::to_string(one.param->rows) + "x" +
         std::to_string(one.param->columns);
}

}  // namespace dogged

#endif  // DOGGED_TESTS_TILES_ALL_KERNELS_H_
