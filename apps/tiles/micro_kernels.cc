#include "apps/tiles/micro_kernels.h"

#include "absl/strings/string_view.h"

namespace dogged {

const MicroKernels& MicroKernelsOf([[maybe_unused]] const char* core) {
#if defined(__x86_64__)
  for (const absl::string_view wide :
       {"SkylakeX", "Cooperlake", "SapphireRapids"}) {
    if (core == wide) return kMicroKernels8;
  }
  for (const absl::string_view fused : {"Haswell", "Zen"}) {
    if (core == fused) return kMicroKernels4;
  }
#endif
  return kMicroKernels2;
}

}  // namespace dogged
