// Aim: the layout is what this process may use, and binding binds.
// Method: narrow the affinity mask of this thread and read again.
#include "runtime/exec/cpu_layout_hwloc.h"

#include <sched.h>

#include <set>

#include "gmock/gmock.h"
#include "runtime/exec/worker_threads.h"

namespace dogged {
namespace {

std::set<int32_t> Mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  std::set<int32_t> out;
  for (int32_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mask)) out.insert(i);
  }
  return out;
}

std::set<int32_t> Cpus(const CpuLayout& layout) {
  std::set<int32_t> out;
  for (const CpuLayout::Cpu& cpu : layout.cpus) out.insert(cpu.os_index);
  return out;
}

TEST(CpuLayoutHwloc, RespectsTheAffinityMask) {
  EXPECT_EQ(Cpus(ReadCpuLayout()), Mask());
  const int32_t last = *Mask().rbegin();
  WorkerThreads thread(PlaceWorkers(FlatCpuLayout(1), 1), [&](int) {
    BindThisThread(last);
    EXPECT_EQ(Cpus(ReadCpuLayout()), std::set<int32_t>{last});
  });
}

TEST(CpuLayoutHwloc, BindsOneWorkerToEachProcessor) {
  const std::set<int32_t> all = Mask();
  const auto count = static_cast<int>(all.size());
  std::vector<std::set<int32_t>> masks(all.size());
  {
    WorkerThreads threads(PlaceWorkersHere(count),
                          [&](int worker) { masks[worker] = Mask(); });
  }
  std::set<int32_t> used;
  for (const auto& mask : masks) {
    EXPECT_EQ(mask.size(), 1u);
    used.insert(mask.begin(), mask.end());
  }
  EXPECT_EQ(used, all);
}

}  // namespace
}  // namespace dogged
