// WorkerThreads: a thread for each worker, bound to its processor, joined at
// the end.
#ifndef DOGGED_RUNTIME_EXEC_WORKER_THREADS_H_
#define DOGGED_RUNTIME_EXEC_WORKER_THREADS_H_

#include <functional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/cpu_layout.h"

namespace dogged {

class WorkerThreads {
 public:
  // Runs body(worker) on one thread for each worker of `placement`; on fewer
  // if status() is an error.
  WorkerThreads(const WorkerPlacement& placement,
                std::function<void(int worker)> body);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  // Waits until all bodies have returned.
  ~WorkerThreads();

  // Errors: kResourceExhausted if the system gave no thread for some worker.
  const absl::Status& status() const { return status_; }

 private:
  const std::function<void(int)> body_;
  absl::Status status_;
  std::vector<std::thread> threads_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_WORKER_THREADS_H_
