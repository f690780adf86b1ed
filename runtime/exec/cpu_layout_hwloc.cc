#include "runtime/exec/cpu_layout_hwloc.h"

#include <hwloc.h>
#include <sched.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"

namespace dogged {
namespace {

// The index of the object of `type` above `unit`, `fallback` if there is none.
int32_t Above(hwloc_topology_t topology, hwloc_obj_t unit,
              hwloc_obj_type_t type, int32_t fallback) {
  const hwloc_obj_t object =
      hwloc_get_ancestor_obj_by_type(topology, type, unit);
  return object == nullptr ? fallback
                           : static_cast<int32_t>(object->logical_index);
}

int32_t LastCacheAbove(hwloc_topology_t topology, hwloc_obj_t unit) {
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    const int32_t index = Above(topology, unit, type, -1);
    if (index >= 0) return index;
  }
  return Above(topology, unit, HWLOC_OBJ_PACKAGE, 0);
}

// Without hwloc's answer: the affinity mask alone.
CpuLayout ReadAffinityMask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CpuLayout out;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
    for (int32_t i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &mask)) out.cpus.push_back({.os_index = i, .core = i});
    }
  }
  return out.cpus.empty() ? FlatCpuLayout(1) : out;
}

}  // namespace

CpuLayout ReadCpuLayout() {
  const CpuLayout allowed = ReadAffinityMask();
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return allowed;
  CpuLayout out;
  if (hwloc_topology_load(topology) == 0) {
    const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    for (int i = 0; i < count; ++i) {
      const hwloc_obj_t unit = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU,
                                                     static_cast<unsigned>(i));
      const auto os_index = static_cast<int32_t>(unit->os_index);
      for (const CpuLayout::Cpu& cpu : allowed.cpus) {
        if (cpu.os_index != os_index) continue;
        const int node = hwloc_bitmap_first(unit->nodeset);
        out.cpus.push_back(
            {.os_index = os_index,
             .core = Above(topology, unit, HWLOC_OBJ_CORE, os_index),
             .cache = LastCacheAbove(topology, unit),
             .numa_node = node < 0 ? 0 : node,
             .package = Above(topology, unit, HWLOC_OBJ_PACKAGE, 0)});
      }
    }
  }
  hwloc_topology_destroy(topology);
  return out.cpus.empty() ? allowed : out;
}

void BindThisThread(int32_t os_cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(os_cpu, &mask);
  if (sched_setaffinity(0, sizeof(mask), &mask) != 0) {
    Log(LogLevel::kWarning, absl::StrCat("binding to processor ", os_cpu, ": ",
                                         std::strerror(errno)));
  }
}

WorkerPlacement PlaceWorkersHere(int worker_count) {
  WorkerPlacement out = PlaceWorkers(ReadCpuLayout(), worker_count);
  out.bind = BindThisThread;
  return out;
}

}  // namespace dogged
