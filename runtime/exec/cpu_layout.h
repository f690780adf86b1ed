// The processors that this process may use, as plain data: where workers are
// put, and in which order a worker steals. Read by ReadCpuLayout() of the hwloc
// adapter; tests write their own.
#ifndef DOGGED_RUNTIME_EXEC_CPU_LAYOUT_H_
#define DOGGED_RUNTIME_EXEC_CPU_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace dogged {

struct CpuLayout {
  // A hardware thread. Equal numbers mean that the part is shared.
  struct Cpu {
    int32_t os_index = 0;  // as the operating system counts
    int32_t core = 0;
    int32_t cache = 0;  // the last-level cache
    int32_t numa_node = 0;
    int32_t package = 0;
  };
  std::vector<Cpu> cpus;  // neighbours next to each other

  int size() const { return static_cast<int>(cpus.size()); }
};

// `count` processors that share a cache and nothing closer.
CpuLayout FlatCpuLayout(int count);

// 0 the same hardware thread, 1 a core shared, 2 a cache, 3 a NUMA node, 4 a
// package, 5 nothing.
int CpuDistance(const CpuLayout::Cpu& a, const CpuLayout::Cpu& b);

// How workers sit on processors.
struct WorkerPlacement {
  int worker_count = 0;
  int processor_count = 0;  // that this process may use
  // By worker: the processor to bind to, by os_index; empty if the operating
  // system is to choose.
  std::vector<int32_t> os_cpus;
  // By worker: all others, nearest first.
  std::vector<std::vector<int>> steal_order;
  // Binds the calling thread; null where nothing binds.
  std::function<void(int32_t os_cpu)> bind;
};

// Workers are bound only if there is one for every processor: with fewer, other
// agents of this host may be meant to have the rest, and two that bound their
// first worker to the same processor would share it while others idle.
WorkerPlacement PlaceWorkers(const CpuLayout& layout, int worker_count);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_CPU_LAYOUT_H_
