#include "runtime/agent/loop/introductions.h"

#include <algorithm>
#include <utility>

#include "runtime/agent/loop/control.h"

namespace dogged {
namespace {

// An agent connects and answers within this.
constexpr absl::Duration kAnswerTimeMax = absl::Seconds(3);

}  // namespace

Introductions::~Introductions() {
  for (const auto& [connection, introduction] : introductions_) {
    control_.Close(connection);
  }
}

void Introductions::Tick(absl::Time now) {
  if (admission_ == nullptr) return;
  for (auto it = introductions_.begin(); it != introductions_.end();) {
    if (now < it->second.deadline) {
      ++it;
      continue;
    }
    control_.Close(it->first);
    admission_->Settle(it->second.to, false);
    it = introductions_.erase(it);
  }
  for (AdmissionRequest& request : admission_->TakeRequests()) {
    const Member* const member = agent_.membership().view()->Find(request.to);
    if (member == nullptr) {
      admission_->Settle(request.to, false);
      continue;
    }
    introductions_[control_.Connect(member->control_address)] = {
        .to = request.to,
        .words = Bytes(std::move(request.words)),
        .deadline = now + kAnswerTimeMax};
  }
}

absl::Time Introductions::next_due() const {
  absl::Time due = absl::InfiniteFuture();
  for (const auto& [connection, introduction] : introductions_) {
    due = std::min(due, introduction.deadline);
  }
  return due;
}

bool Introductions::Take(const ControlEvent& event) {
  if (event.kind == ControlEvent::Kind::kFrame &&
      event.type == FrameType(ControlType::kAdmit)) {
    const absl::Status admitted = Admit(event.connection, event.body.view());
    if (admitted.ok()) {
      control_.Send(event.connection, FrameType(ControlType::kAdmitted), {});
    } else {
      control_.Send(event.connection, FrameType(ControlType::kError),
                    EncodeError(admitted));
    }
    return true;
  }
  const auto it = introductions_.find(event.connection);
  if (it == introductions_.end()) return false;
  if (event.kind == ControlEvent::Kind::kConnected) {
    control_.Send(event.connection, FrameType(ControlType::kAdmit),
                  it->second.words);
    return true;
  }
  const bool is_admitted = event.kind == ControlEvent::Kind::kFrame &&
                           event.type == FrameType(ControlType::kAdmitted);
  if (event.kind == ControlEvent::Kind::kFrame) control_.Close(it->first);
  admission_->Settle(it->second.to, is_admitted);
  introductions_.erase(it);
  return true;
}

absl::Status Introductions::Admit(ConnectionId connection,
                                  absl::string_view words) {
  if (admission_ == nullptr) {
    return absl::FailedPreconditionError(
        "this agent admits all connections to its fabric port");
  }
  return admission_->Admit(control_.PeerHost(connection), words);
}

}  // namespace dogged
