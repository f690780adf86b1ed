#include "apps/dogged/agent/library_place.h"

#include <algorithm>

#include "apps/dogged/process/cgroup_limits.h"
#include "apps/dogged/process/memory.h"

namespace dogged {
namespace {

// Working memory of OpenBLAS takes half of it.
constexpr int64_t kShareMin = int64_t{256} << 20;

}  // namespace

std::vector<std::string> LibraryPlace::Names() {
  return {"jailed", "apart", "here"};
}

LibraryPlace LibraryPlace::Of(const std::string& name, int workers) {
  const std::vector<std::string> names = Names();
  const auto at = std::find(names.begin(), names.end(), name) - names.begin();
  return {.kind = static_cast<Kind>(at), .workers = workers};
}

KernelJail LibraryPlace::Jail() const {
  const int64_t limit = ReadCgroupLimits().memory_bytes;
  const int64_t all =
      limit > 0 ? std::min(limit, PhysicalBytes()) : PhysicalBytes();
  return {.is_on = kind == Kind::kJailed,
          .memory_bytes_max = std::max(kShareMin, all / std::max(1, workers))};
}

}  // namespace dogged
