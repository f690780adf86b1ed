#include "runtime/agent/loop/life_lines.h"

#include "runtime/agent/loop/control.h"

namespace dogged {
namespace {

constexpr int kNeighboursMax = 16;

}  // namespace

LifeLines::~LifeLines() {
  for (const auto& [connection, line] : lines_) control_.Close(connection);
}

void LifeLines::Tick() {
  if (agent_.membership().view() == view_) return;
  view_ = agent_.membership().view();
  std::map<AgentId, bool> wanted;  // and whether there is a line
  for (const AgentId peer :
       LifeLinesOf(agent_.routing_table(), *view_, kNeighboursMax)) {
    wanted[peer] = false;
  }
  for (auto it = lines_.begin(); it != lines_.end();) {
    auto peer = wanted.find(it->second.peer);
    if (peer == wanted.end()) {
      control_.Close(it->first);
      it = lines_.erase(it);
    } else {
      peer->second = true;
      ++it;
    }
  }
  for (const auto& [peer, has_line] : wanted) {
    if (has_line) continue;
    const Member* const member = view_->Find(peer);
    lines_[control_.Connect(member->control_address)] = {.peer = peer};
  }
}

bool LifeLines::Take(absl::Time now, const ControlEvent& event) {
  const auto line = lines_.find(event.connection);
  if (event.kind == ControlEvent::Kind::kFrame &&
      event.type == FrameType(ControlType::kLifeLine)) {
    TakeName(now, event, line);
    return true;
  }
  if (line == lines_.end()) return false;
  if (event.kind == ControlEvent::Kind::kConnected) SendName(event.connection);
  if (event.kind == ControlEvent::Kind::kClosed) TakeEnd(now, line);
  return true;
}

void LifeLines::TakeName(absl::Time now, const ControlEvent& event,
                         Lines::iterator line) {
  const auto peer = DecodeId<AgentId>(event.body.view());
  if (!peer.ok()) {
    control_.Send(event.connection, FrameType(ControlType::kError),
                  EncodeError(peer.status()));
    return;
  }
  control_.Keep(event.connection);
  if (line == lines_.end()) return SendName(event.connection);
  if (*peer == line->second.peer) {
    line->second.confirmed = true;
    return;
  }
  // Another process lives at that address now.
  agent_.PeerDied(now, line->second.peer,
                  "another agent answers at its address");
  control_.Close(event.connection);
  lines_.erase(line);
}

void LifeLines::TakeEnd(absl::Time now, Lines::iterator line) {
  const Line ended = line->second;
  lines_.erase(line);
  // Without a word from the peer it may be the network; the failure detector
  // decides then.
  if (ended.confirmed && agent_.membership().view()->Contains(ended.peer)) {
    agent_.PeerDied(now, ended.peer, "its connection closed");
  }
}

void LifeLines::SendName(ConnectionId to) {
  control_.Send(to, FrameType(ControlType::kLifeLine), EncodeId(agent_.id()));
}

}  // namespace dogged
