// JobMessenger: an agent's messages about one job, to one agent or many;
// messages about labels are batched. Counts the messages that it sends.
//
// No clock. Used by one thread.
#ifndef DOGGED_KVSTORE_MESSAGES_JOB_MESSENGER_H_
#define DOGGED_KVSTORE_MESSAGES_JOB_MESSENGER_H_

#include <cstdint>
#include <set>

#include "absl/types/span.h"
#include "kvstore/messages/label_messages.h"
#include "kvstore/messages/label_stats.h"
#include "kvstore/messages/message_batcher.h"
#include "routing/multicast/multicast.h"
#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"
#include "runtime/base/split_bytes.h"

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
  void SendTo(AgentId to, Kind kind, const SplitBytes& body, Outbox& out) {
    SendToOne(to, static_cast<uint8_t>(kind), body, out);
  }
  // Sends to all `targets` but this agent. With a tag the body is offered
  // first: an agent that has the body that the tag names takes no bytes.
  void SendToAll(std::set<AgentId> targets, LabelMessage kind,
                 const SplitBytes& body, Outbox& out, const Bytes& tag = {});
  // Sends the batches, at the end of a pass.
  void SendBatches(Outbox& out);
  // Adds the multicast's traffic for this job to the stats.
  void CountPublications();

 private:
  void SendToOne(AgentId to, uint8_t kind, const SplitBytes& body, Outbox& out);
  bool Batch(absl::Span<const AgentId> targets, LabelMessage kind,
             const SplitBytes& body);
  void Send(absl::Span<const AgentId> targets, uint8_t kind,
            const SplitBytes& body, Outbox& out, const Bytes& tag = {});

  const Sender sender_;
  Multicast& multicast_;
  LabelStats& stats_;
  MessageBatcher batcher_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_MESSAGES_JOB_MESSENGER_H_
