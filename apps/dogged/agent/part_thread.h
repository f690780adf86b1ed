// PartThread: the PartWriter of an agent, on a thread of its own.
#ifndef DOGGED_APPS_DOGGED_AGENT_PART_THREAD_H_
#define DOGGED_APPS_DOGGED_AGENT_PART_THREAD_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/agent/loop/file_writes.h"
#include "runtime/exec/background_thread.h"

namespace dogged {

class PartThread : public PartWriter {
 public:
  // `wake` is called from the thread when TakeDone() has something.
  explicit PartThread(std::function<void()> wake) : thread_(std::move(wake)) {}
  // Errors: as BackgroundThread::status().
  const absl::Status& status() const { return thread_.status(); }
  void Submit(ConnectionId client, WriteRequest request,
              std::vector<Value> values) override;
  void Forget(ConnectionId client) override;
  std::vector<std::pair<ConnectionId, WrittenReply>> TakeDone() override;
  // ReturnFreedMemory() on its thread.
  void ReturnFreedMemory();

 private:
  std::vector<std::pair<ConnectionId, WrittenReply>> done_;
  // Set for clients that have gone.
  std::map<ConnectionId, std::shared_ptr<std::atomic<bool>>> gone_;
  BackgroundThread thread_;  // last: it uses the others
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_PART_THREAD_H_
