#include "apps/dogged/agent/part_thread.h"

#include <memory>

#include "apps/dogged/process/freed_memory.h"
#include "apps/output/parted_file.h"

namespace dogged {

void PartThread::Submit(ConnectionId client, WriteRequest request,
                        std::vector<Value> values) {
  auto& gone = gone_[client];
  if (gone == nullptr) gone = std::make_shared<std::atomic<bool>>(false);
  thread_.Submit([this, client, gone, request = std::move(request),
                  values = std::move(values)]() -> Background::Rest {
    if (*gone) return [] {};
    WrittenReply reply = WriteParts(request, values);
    return [this, client, reply = std::move(reply)] {
      done_.emplace_back(client, reply);
    };
  });
}

void PartThread::Forget(ConnectionId client) {
  const auto it = gone_.find(client);
  if (it == gone_.end()) return;
  *it->second = true;
  gone_.erase(it);
}

void PartThread::ReturnFreedMemory() {
  thread_.Submit([]() -> Background::Rest {
    dogged::ReturnFreedMemory();
    return [] {};
  });
}

std::vector<std::pair<ConnectionId, WrittenReply>> PartThread::TakeDone() {
  thread_.Poll();
  return std::exchange(done_, {});
}

}  // namespace dogged
