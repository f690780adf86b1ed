#include "runtime/agent/mailbox.h"

namespace dogged {
namespace {

// Messages that wait for room in a queue look for it again after this.
constexpr absl::Duration kBehindInterval = absl::Milliseconds(1);

}  // namespace

Mailbox::Mailbox(AgentContext& agent, Transport& transport)
    : agent_(agent),
      transport_(transport),
      packer_(agent.id(), agent.options.limits),
      unpacker_(agent.id(), agent.options.limits) {
  agent_.outbox.wake_early = [this](AgentId to) { transport_.WakeEarly(to); };
  packer_.SetRelays(
      [this](AgentId to) { return agent_.membership.RelayTo(to); });
}

bool Mailbox::Poll(absl::Time now) {
  arrivals_.clear();
  transport_.Poll(arrivals_);
  messages_.clear();
  for (const Arrival& arrival : arrivals_) {
    unpacker_.Open(now, arrival, messages_);
  }
  return !arrivals_.empty();
}

void Mailbox::Flush(absl::Time now) {
  packer_.Flush(agent_.membership.view()->digest(), agent_.outbox, transport_,
                messages_);
  packer_.SampleLinks(now, transport_);
  if (packer_.IsBehind()) agent_.outbox.WakeAt(now + kBehindInterval);
}

void Mailbox::DropQueued(AgentId peer) {
  transport_.DropQueued(peer);
  unpacker_.Forget(peer);
  packer_.Forget(peer);
}

void Mailbox::ForgetPeer(AgentId peer) {
  transport_.ForgetPeer(peer);
  packer_.Forget(peer);
}

int64_t Mailbox::QueuedBytes(AgentId to) const {
  // Behind a link that is down bytes wait for as long as it is: bytes
  // on the way around it count.
  const AgentId relay = agent_.membership.RelayTo(to);
  return transport_.queued_bytes(relay.IsNone() ? to : relay) +
         packer_.waiting_bytes(to);
}

double Mailbox::LinkRate(AgentId to) const {
  const AgentId relay = agent_.membership.RelayTo(to);
  return packer_.link_rates().BytesPerSecond(relay.IsNone() ? to : relay);
}

int64_t Mailbox::dropped_count() const {
  return transport_.dropped_count() + packer_.dropped_count() +
         unpacker_.incomplete_count();
}

}  // namespace dogged
