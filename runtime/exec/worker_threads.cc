#include "runtime/exec/worker_threads.h"

#include <utility>

namespace dogged {

WorkerThreads::WorkerThreads(const WorkerPlacement& placement,
                             std::function<void(int)> body)
    : body_(std::move(body)) {
  for (int worker = 0; worker < placement.worker_count; ++worker) {
    const bool bound = placement.bind && !placement.os_cpus.empty();
    const int32_t cpu =
        bound ? placement.os_cpus[static_cast<size_t>(worker)] : 0;
    threads_.emplace_back([this, worker, bound, cpu, bind = placement.bind] {
      if (bound) bind(cpu);
      body_(worker);
    });
  }
}

WorkerThreads::~WorkerThreads() {
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace dogged
