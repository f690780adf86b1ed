#include "runtime/exec/worker_threads.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {

WorkerThreads::WorkerThreads(const WorkerPlacement& placement,
                             std::function<void(int)> body)
    : body_(std::move(body)) {
  for (int worker = 0; worker < placement.worker_count; ++worker) {
    const bool bound = placement.bind && !placement.os_cpus.empty();
    const int32_t cpu = bound ? placement.os_cpus[worker] : 0;
    try {
      threads_.emplace_back([this, worker, bound, cpu, bind = placement.bind] {
        if (bound) bind(cpu);
        body_(worker);
      });
    } catch (const std::system_error& error) {
      status_ = absl::ResourceExhaustedError(absl::StrCat(
          "no thread for worker ", worker + 1, " of ", placement.worker_count,
          " (", error.code().message(),
          "): use fewer --workers, or raise `ulimit -v` or `ulimit -u`"));
      return;
    }
  }
}

WorkerThreads::~WorkerThreads() {
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace dogged
