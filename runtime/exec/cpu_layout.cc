#include "runtime/exec/cpu_layout.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace dogged {

CpuLayout FlatCpuLayout(int count) {
  CpuLayout out;
  for (int32_t i = 0; i < count; ++i) {
    out.cpus.push_back({.os_index = i, .core = i});
  }
  return out;
}

int CpuDistance(const CpuLayout::Cpu& a, const CpuLayout::Cpu& b) {
  if (a.os_index == b.os_index) return 0;
  if (a.core == b.core) return 1;
  if (a.cache == b.cache) return 2;
  if (a.numa_node == b.numa_node) return 3;
  if (a.package == b.package) return 4;
  return 5;
}

WorkerPlacement PlaceWorkers(const CpuLayout& layout, int worker_count) {
  DOGGED_CHECK(worker_count >= 1) << worker_count << " workers";
  const int cpu_count = std::max(layout.size(), 1);
  WorkerPlacement out{.worker_count = worker_count,
                      .processor_count = cpu_count};
  if (worker_count == layout.size()) {
    for (const CpuLayout::Cpu& cpu : layout.cpus) {
      out.os_cpus.push_back(cpu.os_index);
    }
  }
  for (int self = 0; self < worker_count; ++self) {
    // Starting after oneself spreads thieves over equally near victims.
    std::vector<int> others;
    for (int step = 1; step < worker_count; ++step) {
      others.push_back((self + step) % worker_count);
    }
    if (layout.size() > 0) {
      const auto cpu_of = [&](int worker) -> const CpuLayout::Cpu& {
        return layout.cpus[worker % cpu_count];
      };
      std::stable_sort(others.begin(), others.end(), [&](int a, int b) {
        return CpuDistance(cpu_of(self), cpu_of(a)) <
               CpuDistance(cpu_of(self), cpu_of(b));
      });
    }
    out.steal_order.push_back(std::move(others));
  }
  return out;
}

}  // namespace dogged
