#include "routing/membership/failure_detector.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_format.h"

namespace dogged {
namespace {

constexpr int kSelfDoubtMax = 4;
// An answer that was lost counts as one of this length.
constexpr absl::Duration kRoundTripMax = absl::Seconds(2);
constexpr int kRoundTripsInMean = 4;

}  // namespace

void FailureDetector::Add(AgentId peer, absl::Time awake) {
  peers_.try_emplace(peer).first->second.heard = awake;
}

void FailureDetector::Heard(AgentId peer, absl::Time awake) {
  auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  it->second = Peer{.heard = awake,
                    .asked = it->second.asked,
                    .round_trip = it->second.round_trip,
                    .least_round_trip = it->second.least_round_trip};
  last_heard_ = awake;
}

void FailureDetector::Answered(AgentId peer, absl::Time awake) {
  const auto it = peers_.find(peer);
  if (it == peers_.end() || it->second.asked == absl::InfiniteFuture()) return;
  const absl::Duration sample =
      awake - std::exchange(it->second.asked, absl::InfiniteFuture());
  it->second.round_trip +=
      (std::min(sample, kRoundTripMax) - it->second.round_trip) /
      kRoundTripsInMean;
  it->second.least_round_trip = std::min(it->second.least_round_trip, sample);
}

std::optional<absl::Duration> FailureDetector::RoundTrip(AgentId peer) const {
  const auto it = peers_.find(peer);
  if (it == peers_.end() ||
      it->second.least_round_trip == absl::InfiniteDuration()) {
    return std::nullopt;
  }
  return it->second.round_trip;
}

absl::Duration FailureDetector::RoundTripMax() const {
  absl::Duration out;
  for (const auto& [id, peer] : peers_) out = std::max(out, peer.round_trip);
  return out;
}

absl::Duration FailureDetector::LeastRoundTripMax() const {
  absl::Duration out;
  for (const auto& [id, peer] : peers_) {
    if (peer.least_round_trip == absl::InfiniteDuration()) continue;
    out = std::max(out, peer.least_round_trip);
  }
  return out;
}

void FailureDetector::HeardOf(AgentId peer, absl::Time awake) {
  auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  it->second = Peer{.heard = awake,
                    .pinged = it->second.pinged,
                    .asked = it->second.asked,
                    .round_trip = it->second.round_trip,
                    .least_round_trip = it->second.least_round_trip};
  last_heard_ = awake;
}

std::vector<AgentId> FailureDetector::Unheard(absl::Time awake) const {
  std::vector<AgentId> out;
  for (const auto& [id, peer] : peers_) {
    if (peer.heard > peer.pinged &&
        awake - peer.pinged >= times_.unheard_after * (1 + self_doubt_)) {
      out.push_back(id);
    }
  }
  return out;
}

bool FailureDetector::IsSuspect(AgentId peer) const {
  auto it = peers_.find(peer);
  return it != peers_.end() && it->second.suspected != absl::InfiniteFuture();
}

FailureDetector::Wishes FailureDetector::Tick(absl::Time awake) {
  Wishes messages;
  if (awake < next_probe_) return messages;
  next_probe_ = awake + times_.probe_interval;
  if (const AgentId target = NextInRound(); !target.IsNone()) {
    Peer& peer = peers_[target];
    if (peer.probed == absl::InfiniteFuture()) peer.probed = awake;
    Ping(target, peer, awake, messages);
  }
  for (auto& [id, peer] : peers_) Judge(id, peer, awake, messages);
  if (!messages.verdicts.empty() && IsIsolated(awake)) {
    messages.isolation = messages.verdicts.front().second;
    messages.verdicts.clear();
  }
  for (const auto& [id, cause] : messages.verdicts) peers_.erase(id);
  // An answer in time restores this agent's trust in itself.
  if (awake - last_heard_ < times_.probe_timeout && self_doubt_ > 0) {
    --self_doubt_;
  }
  return messages;
}

void FailureDetector::Ping(AgentId id, Peer& peer, absl::Time awake,
                           Wishes& messages) const {
  if (absl::c_linear_search(messages.pings, id)) return;
  peer.pinged = std::min(peer.pinged, awake);
  peer.asked = std::min(peer.asked, awake);
  messages.pings.push_back(id);
}

// With a single peer nobody can tell whose silence it is.
bool FailureDetector::IsIsolated(absl::Time awake) const {
  return peers_.size() > 1 && awake - last_heard_ >= times_.suspicion;
}

void FailureDetector::Judge(AgentId id, Peer& peer, absl::Time awake,
                            Wishes& messages) {
  // Until something comes directly again.
  if (awake - peer.pinged >= times_.probe_timeout) {
    Ping(id, peer, awake, messages);
  }
  if (peer.probed == absl::InfiniteFuture()) return;
  const absl::Duration timeout = times_.probe_timeout * (1 + self_doubt_);
  if (peer.suspected != absl::InfiniteFuture()) {
    if (awake - peer.suspected >= times_.suspicion * (1 + self_doubt_)) {
      messages.verdicts.emplace_back(
          id, absl::StrFormat("silent for %.1f s",
                              absl::ToDoubleSeconds(awake - peer.heard)));
      return;
    }
    Ping(id, peer, awake, messages);
    AskRelays(id, messages);
    return;
  }
  if (peer.relayed != absl::InfiniteFuture()) {
    if (awake - peer.relayed < timeout) return;
    peer.suspected = awake;
    // No agent at all was heard: perhaps this one is the cause.
    if (awake - last_heard_ >= timeout) {
      self_doubt_ = std::min(self_doubt_ + 1, kSelfDoubtMax);
    }
    return;
  }
  if (awake - peer.probed < timeout) return;
  peer.relayed = awake;
  Ping(id, peer, awake, messages);
  AskRelays(id, messages);
}

void FailureDetector::AskRelays(AgentId target, Wishes& messages) {
  std::vector<AgentId> others;
  for (const auto& [id, peer] : peers_) {
    if (id != target && peer.suspected == absl::InfiniteFuture()) {
      others.push_back(id);
    }
  }
  for (int i = 0; i < times_.relay_count && !others.empty(); ++i) {
    const auto picked = static_cast<size_t>(rng_.Below(std::ssize(others)));
    messages.relays.emplace_back(others[picked], target);
    others[picked] = others.back();
    others.pop_back();
  }
}

AgentId FailureDetector::NextInRound() {
  while (true) {
    if (round_.empty()) {
      for (const auto& [id, peer] : peers_) round_.push_back(id);
      if (round_.empty()) return AgentId();
      for (size_t i = round_.size() - 1; i > 0; --i) {
        std::swap(round_[i], round_[rng_.Below(static_cast<int64_t>(i) + 1)]);
      }
    }
    const AgentId id = round_.back();
    round_.pop_back();
    if (peers_.contains(id)) return id;
  }
}

}  // namespace dogged
