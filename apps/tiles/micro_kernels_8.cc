// For AVX-512: see CMakeLists.txt.
#include "apps/tiles/micro_kernels_impl.h"

namespace dogged {

using Vector = double __attribute__((vector_size(64)));
const MicroKernels kMicroKernels8 = MicroKernelsImpl<Vector, 12>::kTable;

}  // namespace dogged
