#include "kvstore/messages/job_messenger.h"

#include <utility>

namespace dogged {

JobMessenger::JobMessenger(Sender sender, int64_t batch_bytes_max,
                           Multicast& multicast, LabelStats& stats)
    : sender_(sender),
      multicast_(multicast),
      stats_(stats),
      batcher_(batch_bytes_max) {}

// True: it has been. A body in two parts is too long for a batch.
bool JobMessenger::Batch(absl::Span<const AgentId> targets, LabelMessage kind,
                         const SplitBytes& body) {
  return body.head.empty() && batcher_.Add(targets, kind, body.rest.view());
}

void JobMessenger::SendToOne(AgentId to, uint8_t kind, const SplitBytes& body,
                             Outbox& out) {
  if (to.IsNone() || Batch({to}, static_cast<LabelMessage>(kind), body)) return;
  Send({to}, kind, body, out);
}

void JobMessenger::SendToAll(std::set<AgentId> targets, LabelMessage kind,
                             const SplitBytes& body, Outbox& out,
                             const Bytes& tag) {
  targets.erase(sender_.self);
  targets.erase(AgentId());
  if (targets.empty()) return;
  const MessageBatcher::Targets list(targets.begin(), targets.end());
  // A body with a tag is long, and offered first.
  if (tag.empty() && Batch(list, kind, body)) return;
  Send(list, static_cast<uint8_t>(kind), body, out, tag);
}

void JobMessenger::Send(absl::Span<const AgentId> targets, uint8_t kind,
                        const SplitBytes& body, Outbox& out, const Bytes& tag) {
  stats_.messages_sent += std::ssize(targets);
  stats_.bytes_sent += body.size() * std::ssize(targets);
  if (targets.size() == 1 && tag.empty()) {
    out.Send(targets[0], kind, sender_.job, body);
  } else {
    multicast_.Start(targets, kind, sender_.job, body, out, tag);
  }
}

void JobMessenger::SendBatches(Outbox& out) {
  for (MessageBatcher::Bulk& bulk : batcher_.TakeAll()) {
    Send(bulk.targets, static_cast<uint8_t>(bulk.kind),
         Bytes(std::move(bulk.bodies)), out);
  }
}

void JobMessenger::CountPublications() {
  const auto traffic = multicast_.traffic().find(sender_.job);
  if (traffic == multicast_.traffic().end()) return;
  stats_.publications = traffic->second.publications;
  stats_.publication_messages = traffic->second.messages;
  stats_.publication_bytes = traffic->second.bytes;
}

}  // namespace dogged
