#include "runtime/agent/loop/dialer.h"

#include <algorithm>
#include <utility>

#include "routing/control/refusal.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/log.h"

namespace dogged {
namespace {

// A contact connects and answers within this.
constexpr absl::Duration kDialTimeMax = absl::Seconds(3);

}  // namespace

Dialer::~Dialer() {
  for (const auto& [connection, dial] : dials_) control_.Close(connection);
}

absl::Time Dialer::next_due() const {
  absl::Time due = contacts_.next_due();
  if (!has_settled_) due = std::min(due, contacts_.settles_at());
  for (const auto& [connection, dial] : dials_) {
    due = std::min(due, dial.deadline);
  }
  return due;
}

bool Dialer::Tick(absl::Time now) {
  for (auto it = dials_.begin(); it != dials_.end();) {
    if (now < it->second.deadline) {
      ++it;
      continue;
    }
    control_.Close(it->first);
    contacts_.NoteFailure(now, it->second.address);
    it = dials_.erase(it);
  }
  const std::shared_ptr<const View> view = agent_.membership().view();
  refresh_contacts_();
  if (now >= contacts_.next_due() || view != view_) {
    view_ = view;
    for (std::string& address : contacts_.TakeDue(
             now, *view, agent_.membership().self().control_address)) {
      const ConnectionId connection = control_.Connect(address);
      dials_[connection] = {std::move(address), now + kDialTimeMax};
    }
  }
  if (has_settled_ || !contacts_.HasSettled(now)) return false;
  has_settled_ = on_settled_();
  if (has_settled_) agent_.NoteSettled();
  return true;
}

void Dialer::LogRefusal(absl::Time now, const std::string& address,
                        const std::string& words) {
  const auto line = refusals_.Add(now, address, words);
  if (line.has_value()) Log(LogLevel::kWarning, *line);
}

bool Dialer::Take(absl::Time now, const ControlEvent& event) {
  const auto it = dials_.find(event.connection);
  if (it == dials_.end()) return false;
  AgentId met;
  bool is_refused = false;
  const auto note_refusal = [&](absl::string_view words, bool is_far) {
    is_refused = true;
    if (is_far) contacts_.NoteTooFar(std::string(words));
    LogRefusal(now, it->second.address, std::string(words));
  };
  switch (event.kind) {
    case ControlEvent::Kind::kAccepted:
      return false;
    case ControlEvent::Kind::kConnected:
      control_.Send(
          event.connection, FrameType(ControlType::kJoin),
          Bytes(agent_.Snapshot(contacts_.IsRemembered(it->second.address))));
      return true;
    case ControlEvent::Kind::kFrame:
      control_.Close(event.connection);
      if (event.type == FrameType(ControlType::kSnapshot)) {
        met = agent_.Join(now, event.body.view(), it->second.address)
                  .value_or(AgentId());
      } else if (event.type == FrameType(ControlType::kError)) {
        const absl::Status error = DecodeError(event.body.view());
        if (IsRefusal(error)) {
          note_refusal(error.message(), absl::IsUnimplemented(error));
        }
      }
      break;
    case ControlEvent::Kind::kClosed:
      if (event.is_refusal || event.is_far) {
        note_refusal(event.cause, event.is_far);
      }
      break;
  }
  if (is_refused) {
    contacts_.NoteRefusal(now, it->second.address);
  } else if (met.IsNone()) {
    contacts_.NoteFailure(now, it->second.address);
  } else {
    contacts_.NoteAnswer(it->second.address, met, met == agent_.id());
  }
  dials_.erase(it);
  return true;
}

}  // namespace dogged
