// Reads the processors of this host and binds threads to them (adapter to
// hwloc). Thread-safe.
#ifndef DOGGED_RUNTIME_EXEC_CPU_LAYOUT_HWLOC_H_
#define DOGGED_RUNTIME_EXEC_CPU_LAYOUT_HWLOC_H_

#include "runtime/exec/cpu_layout.h"

namespace dogged {

// The processors in this process's affinity mask; at least one. Costs a few
// milliseconds: once a process.
CpuLayout ReadCpuLayout();

// Binds the calling thread to one processor; a refusal is logged, no more.
void BindThisThread(int32_t os_cpu);

// PlaceWorkers() over ReadCpuLayout(), with `bind` set.
WorkerPlacement PlaceWorkersHere(int worker_count);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_CPU_LAYOUT_HWLOC_H_
