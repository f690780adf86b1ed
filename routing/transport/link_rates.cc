#include "routing/transport/link_rates.h"

#include <cmath>
#include <utility>

namespace dogged {
namespace {

// First the socket buffers of both sides fill up, at the speed of memory.
constexpr absl::Duration kFilling = absl::Milliseconds(100);
constexpr absl::Duration kRateWindow = absl::Milliseconds(50);
// Windows of this time count as much as all that came before.
constexpr absl::Duration kMemory = absl::Seconds(1);
// A rate says something about the link for so long.
constexpr absl::Duration kTrust = absl::Seconds(5);

}  // namespace

void LinkRates::Sample(absl::Time now, AgentId peer, int64_t sent,
                       int64_t queued) {
  const auto it = links_.find(peer);
  if (queued == 0 && it == links_.end()) return;
  Link& link = it != links_.end() ? it->second : links_[peer];
  const int64_t taken = sent - queued;
  // Else all that waited at the last sample was taken, and the link may have
  // had nothing to do for a while.
  const bool was_full = taken < std::exchange(link.sent, sent);
  if (!was_full || now < link.since + kFilling) {
    if (!was_full) link.since = now;
    if (now - link.seen > kTrust) link.rate = 0;
    link.begin = now;
    link.taken = taken;
    return;
  }
  const absl::Duration window = now - link.begin;
  if (window < kRateWindow) return;
  const double rate =
      static_cast<double>(taken - link.taken) / absl::ToDoubleSeconds(window);
  const double weight =
      link.rate == 0 ? 1 : 1 - std::exp2(-absl::FDivDuration(window, kMemory));
  link.rate += weight * (rate - link.rate);
  link.seen = now;
  link.begin = now;
  link.taken = taken;
}

double LinkRates::BytesPerSecond(AgentId peer) const {
  const auto it = links_.find(peer);
  return it == links_.end() ? 0 : it->second.rate;
}

}  // namespace dogged
