// For any processor: see CMakeLists.txt.
#include "apps/tiles/micro_kernels_impl.h"

namespace dogged {

using Vector = double __attribute__((vector_size(16)));
const MicroKernels kMicroKernels2 = MicroKernelsImpl<Vector, 6>::kTable;

}  // namespace dogged
