#include "apps/dogged/agent/part_thread.h"

#include <memory>

#include "apps/output/parted_file.h"

namespace dogged {

void PartThread::Submit(ConnectionId client, WriteRequest request,
                        std::vector<Value> values) {
  thread_.Submit([this, client, request = std::move(request),
                  values = std::move(values)]() -> Background::Rest {
    WrittenReply reply = WriteParts(request, values);
    return [this, client, reply = std::move(reply)] {
      done_.emplace_back(client, reply);
    };
  });
}

std::vector<std::pair<ConnectionId, WrittenReply>> PartThread::TakeDone() {
  thread_.Poll();
  return std::exchange(done_, {});
}

}  // namespace dogged
