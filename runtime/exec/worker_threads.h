// WorkerThreads: the only threads that we start. One per worker, bound to its
// processor, joined at the end.
#ifndef DOGGED_RUNTIME_EXEC_WORKER_THREADS_H_
#define DOGGED_RUNTIME_EXEC_WORKER_THREADS_H_

#include <functional>
#include <thread>
#include <vector>

#include "runtime/exec/cpu_layout.h"

namespace dogged {

class WorkerThreads {
 public:
  // Runs body(worker) on one thread for each worker of `placement`.
  WorkerThreads(const WorkerPlacement& placement,
                std::function<void(int worker)> body);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  // Waits until all bodies have returned.
  ~WorkerThreads();

 private:
  const std::function<void(int)> body_;
  std::vector<std::thread> threads_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_WORKER_THREADS_H_
