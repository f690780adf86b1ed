// The Background port on a thread of its own: works run in order.
#ifndef DOGGED_RUNTIME_EXEC_BACKGROUND_THREAD_H_
#define DOGGED_RUNTIME_EXEC_BACKGROUND_THREAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "runtime/exec/background.h"
#include "runtime/exec/worker_threads.h"

namespace dogged {

class BackgroundThread : public Background {
 public:
  // `wake` is called from the thread when Poll() has something to run.
  explicit BackgroundThread(std::function<void()> wake);
  // Drops works that have not begun, waits for the one that has.
  ~BackgroundThread() override;
  // Errors: kResourceExhausted if the system gave no thread.
  const absl::Status& status() const { return thread_.status(); }
  void Submit(std::function<Rest()> work) override;
  void Poll() override;

 private:
  void Run();

  const std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::deque<std::function<Rest()>> waiting_;
  std::vector<Rest> done_;
  WorkerThreads thread_;  // last: it uses the others
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_BACKGROUND_THREAD_H_
