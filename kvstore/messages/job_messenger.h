// JobMessenger: what an agent says to others about one job: to one or to many,
// and gathered where it speaks of labels. It counts what it sends.
//
// No clock. Used by one thread.
#ifndef DOGGED_KVSTORE_MESSAGES_JOB_MESSENGER_H_
#define DOGGED_KVSTORE_MESSAGES_JOB_MESSENGER_H_

#include <cstdint>

#include "absl/container/btree_set.h"
#include "absl/types/span.h"
#include "kvstore/messages/label_messages.h"
#include "kvstore/messages/label_stats.h"
#include "kvstore/messages/message_batcher.h"
#include "routing/multicast/multicast.h"
#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

class JobMessenger {
 public:
  struct Sender {
    AgentId self;
    JobId job;
  };
  // `multicast` and `stats` outlive this.
  JobMessenger(Sender sender, int64_t batch_bytes_max, Multicast& multicast,
               LabelStats& stats);

  // Nothing is sent to no agent. `Kind`: LabelMessage, or another enum of kinds
  // of messages about the job.
  template <typename Kind>
  void SendTo(AgentId to, Kind kind, const Bytes& body, Outbox& out) {
    SendToOne(to, static_cast<uint8_t>(kind), body, out);
  }
  // To all but this agent. With a tag it is offered first: whoever has what the
  // tag names takes no bytes.
  void SendToAll(absl::btree_set<AgentId> targets, LabelMessage kind,
                 const Bytes& body, Outbox& out, const Bytes& tag = {});
  // At the end of a pass: what was gathered.
  void SendBatches(Outbox& out);
  // What the multicast has sent of this job goes into the stats.
  void CountPublications();

 private:
  void SendToOne(AgentId to, uint8_t kind, const Bytes& body, Outbox& out);
  void Send(absl::Span<const AgentId> targets, uint8_t kind, const Bytes& body,
            Outbox& out, const Bytes& tag = {});

  const Sender sender_;
  Multicast& multicast_;
  LabelStats& stats_;
  MessageBatcher batcher_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_MESSAGES_JOB_MESSENGER_H_
