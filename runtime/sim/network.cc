#include "runtime/sim/network.h"

#include <algorithm>

#include "runtime/base/hash.h"

namespace dogged {
namespace {

// After so long a connection that takes nothing is given up.
constexpr absl::Duration kStallMax = absl::Seconds(8);

}  // namespace

SimNetwork::Endpoint::Endpoint(SimNetwork& network, AgentId self,
                               std::function<void()> wake, int place)
    : network_(network), self_(self), place_(place), wake_(std::move(wake)) {
  network_.endpoints_[self] = this;
  network_.places_[self] = place;
}

SimNetwork::Endpoint::~Endpoint() { network_.endpoints_.erase(self_); }

void SimNetwork::Endpoint::Send(AgentId to, Bytes message) {
  const int64_t bound = network_.queue_bytes_max_;
  if (!peers_.contains(to) ||
      (bound > 0 && queued_bytes(to) + message.size() > bound)) {
    ++dropped_count_;
    return;
  }
  network_.Transmit(self_, to, std::move(message));
}

void SimNetwork::Endpoint::Poll(std::vector<Arrival>& arrivals) {
  for (Arrival& arrival : arrivals_) arrivals.push_back(std::move(arrival));
  arrivals_.clear();
}

void SimNetwork::Endpoint::SetPeer(AgentId peer, absl::string_view) {
  peers_.insert(peer);
}

void SimNetwork::Endpoint::ForgetPeer(AgentId peer) { peers_.erase(peer); }

int64_t SimNetwork::Endpoint::queued_bytes(AgentId peer) const {
  const int64_t* const queued = network_.QueueOf(self_, peer);
  return queued == nullptr ? 0 : *queued;
}

int64_t* SimNetwork::QueueOf(AgentId from, AgentId to) {
  return queue_bytes_max_ == 0 ? nullptr : &queued_[{from, to}];
}

void SimNetwork::MendLink(int from, int to) {
  links_.erase({from, to});
  DropStalled(from, to);
}

void SimNetwork::MendAll() {
  Heal();
  links_.clear();
  DropStalled(-1, -1);
}

void SimNetwork::DropStalled(int from, int to) {
  std::erase_if(stalled_, [&](const auto& entry) {
    const auto& [ends, stall] = entry;
    const bool is_it = from < 0 || (places_.at(ends.first) == from &&
                                    places_.at(ends.second) == to);
    if (is_it && queue_bytes_max_ > 0) queued_[ends] -= stall.bytes;
    return is_it;
  });
}

void SimNetwork::Transmit(AgentId from, AgentId to, Bytes message) {
  ++sent_count_;
  Note(SimEvent::Kind::kSent, from, to, message);
  const auto place = places_.find(to);
  const std::pair<int, int> link = {
      places_.at(from), place == places_.end() ? -1 : place->second};
  if (const auto stall = stalled_.find({from, to});
      stall != stalled_.end() &&
      queue_.now() - stall->second.since >= kStallMax) {
    DropStalled(link.first, link.second);
  }
  const bool is_stalled = stalled_.contains({from, to}) ||
                          (links_.contains(link) &&
                           !Reaches(link.first, link.second, message.size()));
  if (is_stalled) {
    ++dropped_count_;
    Stall& stall =
        stalled_.try_emplace({from, to}, Stall{.since = queue_.now()})
            .first->second;
    stall.bytes += message.size();
    int64_t* const queued = QueueOf(from, to);
    if (queued != nullptr) *queued += message.size();
    return;
  }
  if (!Reaches(link.first, link.second, message.size()) ||
      rng_.Chance(faults_.drop)) {
    ++dropped_count_;
    return;
  }
  if (rng_.Chance(faults_.corrupt) && !message.empty()) {
    std::string changed(message.view());
    const auto at = static_cast<size_t>(rng_.Below(message.size()));
    changed[at] = static_cast<char>(changed[at] ^ (1 + rng_.Below(255)));
    message = Bytes(std::move(changed));
  }
  const int copies = rng_.Chance(faults_.duplicate) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    absl::Time due = queue_.now() + absl::Microseconds(20 + rng_.Below(200));
    if (const auto it = links_.find(link); it != links_.end()) {
      due += it->second.delay;
    }
    if (faults_.reorder == 0) {
      // As one connection keeps them; of equal times the first comes first.
      absl::Time& last = last_due_[{from, to}];
      due = last = std::max(last, due);
    } else if (rng_.Chance(faults_.reorder)) {
      due += absl::Microseconds(rng_.Below(300'000));
    }
    if (int64_t* const queued = QueueOf(from, to); queued != nullptr) {
      *queued += message.size();
    }
    queue_.At(due, [this, from, to, message] { Deliver(from, to, message); });
  }
}

void SimNetwork::Note(SimEvent::Kind kind, AgentId from, AgentId to,
                      const Bytes& message) const {
  if (trace_ == nullptr) return;
  trace_({.kind = kind,
          .time = queue_.now(),
          .agent = from,
          .other = to,
          .message = message});
}

bool SimNetwork::Reaches(int from, int to, int64_t bytes) const {
  if (!one_side_.empty() &&
      one_side_.contains(from) != one_side_.contains(to)) {
    return false;
  }
  const auto link = links_.find({from, to});
  return link == links_.end() || bytes <= link->second.bytes_max;
}

void SimNetwork::Deliver(AgentId from, AgentId to, const Bytes& message) {
  if (int64_t* const queued = QueueOf(from, to); queued != nullptr) {
    *queued -= message.size();
  }
  auto it = endpoints_.find(to);
  if (it == endpoints_.end()) return;
  Note(SimEvent::Kind::kArrived, from, to, message);
  trace_digest_ = Mix64(trace_digest_, Hash64(message.view(), to.value()));
  it->second->arrivals_.push_back({from, message});
  it->second->wake_();
}

}  // namespace dogged
