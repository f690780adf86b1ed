// For AVX2 and FMA: see CMakeLists.txt.
#include "apps/tiles/micro_kernels_impl.h"

namespace dogged {

using Vector = double __attribute__((vector_size(32)));
const MicroKernels kMicroKernels4 = MicroKernelsImpl<Vector, 6>::kTable;

}  // namespace dogged
