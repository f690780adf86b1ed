#include "runtime/agent/loop/agent_loop.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "runtime/agent/loop/control.h"

namespace dogged {
namespace {

// Time for which the loop polls for the next message before it sleeps: about
// the cost of a wake-up.
constexpr absl::Duration kSpin = absl::Microseconds(50);
// Time for which a message may wait for a worker that polls between its tasks.
// To see whether it still does takes the processor away from it.
constexpr absl::Duration kKept = absl::Milliseconds(8);
// Looks at shared memory for each look at descriptors, which is a system call:
// 0.2 to 1.3 us, by the machine.
constexpr int kLooks = 64;
// Time that clients wait, at most, while messages of the host keep the loop
// awake.
constexpr absl::Duration kControlWithin = absl::Microseconds(100);

}  // namespace

AgentLoop::AgentLoop(Agent& agent, Ports ports)
    : agent_(agent),
      ports_(std::move(ports)),
      dialer_(agent, ports_.control, ports_.contacts, ports_.refresh_contacts,
              ports_.on_settled),
      introductions_(agent, ports_.control, ports_.admission),
      life_lines_(agent, ports_.control),
      requests_(agent, ports_.control, ports_.writer, ports_.memory,
                ports_.is_reborn) {}

AgentLoop::End AgentLoop::Run() {
  std::unique_lock turn = ports_.turn.Take();
  ports_.turn.SetLoop(this);
  const absl::Cleanup give_up = [this] { ports_.turn.SetLoop(nullptr); };
  while (true) {
    if (IsControlDue(ports_.clock.Now())) HandleControl(ports_.clock.Now());
    RunPass();
    if (death_.has_value()) return End::kDeclaredDead;
    if (agent_.IsGone()) return End::kLeft;
    if (has_news_ || (agent_.ExpectsMore() && LookOut())) continue;
    if (PrepareToSleep()) Sleep(turn);
  }
}

void AgentLoop::Sleep(std::unique_lock<std::mutex>& turn) {
  sleeps_until_ = NextWake();
  kept_until_ = absl::InfinitePast();
  SetAsleep(true);
  const absl::Cleanup wake_up = [this] { SetAsleep(false); };
  while (true) {
    const absl::Duration timeout =
        std::max(absl::ZeroDuration(), sleeps_until_ - ports_.clock.Now());
    turn.unlock();
    ports_.turn.SettleHandBack();
    const bool was_woken = ports_.poller.Wait(timeout);
    turn.lock();
    // Work that is due before that is for the next pass of the worker that
    // keeps the turn.
    if (was_woken || ports_.clock.Now() >= kept_until_) return;
    sleeps_until_ = kept_until_;
  }
}

void AgentLoop::SetAsleep(bool is_asleep) {
  control_due_ = absl::InfinitePast();  // on waking up the loop looks
  is_asleep_ = is_asleep;
  ports_.transport.SetWaiting(is_asleep);
}

absl::Time AgentLoop::NextWake() const {
  absl::Time wake = std::min(agent_.next_wake(), requests_.next_due());
  wake = std::min(wake, introductions_.next_due());
  return std::min(wake, dialer_.next_due());
}

void AgentLoop::RunPass() {
  const absl::Time now = ports_.clock.Now();
  if (const char* const why = leave_) agent_.Leave(now, why);
  if (is_hurried_) agent_.HurryLeave(now);
  agent_.RunOnce(now);
  NoteEvents();
  life_lines_.Tick();
  const bool has_settled = dialer_.Tick(now);
  introductions_.Tick(now);
  requests_.SendDue(now);
  // Frames just queued on the control port go out before sleeping; arrived ones
  // wake a sleeper.
  control_events_.clear();
  if (is_asleep_ ? ports_.control.has_unsettled() : IsControlDue(now)) {
    HandleControl(now);
  }
  if (dialer_.has_settled()) requests_.Begin(now);
  has_news_ = !control_events_.empty() || has_settled;
}

void AgentLoop::PassForSleeper() {
  const auto has_ended = [this] {
    return death_.has_value() || agent_.IsGone();
  };
  if (!has_ended()) RunPass();
  // The sleeper's to see.
  if (has_ended() || has_news_) return ports_.poller.Wake();
  SleepUntil(NextWake());
}

void AgentLoop::Keep() {
  kept_until_ = ports_.clock.Now() + kKept;
  SleepUntil(kept_until_);
}

void AgentLoop::SleepUntil(absl::Time limit) {
  if (limit >= sleeps_until_) return;
  sleeps_until_ = limit;
  ports_.poller.WakeAfter(sleeps_until_ - ports_.clock.Now());
}

void AgentLoop::HandBack() {
  if (!PrepareToSleep()) return ports_.poller.Wake();
  if (std::exchange(kept_until_, absl::InfinitePast()) > absl::InfinitePast()) {
    SleepUntil(NextWake());
  }
}

bool AgentLoop::PrepareToSleep() {
  return ports_.turn.has_listener() ? ports_.transport.PrepareToListen()
                                    : ports_.transport.PrepareToWait();
}

bool AgentLoop::LookOut() {
  absl::Time now = ports_.clock.Now();
  const absl::Time limit = std::min(now + kSpin, NextWake());
  while (now < limit) {
    for (int i = 0; i < kLooks; ++i) {
      if (ports_.transport.HasArrivals()) return true;
    }
    if (ports_.poller.Wait(absl::ZeroDuration())) {
      control_due_ = absl::InfinitePast();
      return true;
    }
    std::this_thread::yield();  // other threads go first
    now = ports_.clock.Now();
  }
  return false;
}

bool AgentLoop::IsControlDue(absl::Time now) const {
  return now >= control_due_ || ports_.control.has_unsettled();
}

void AgentLoop::HandleControl(absl::Time now) {
  control_due_ = now + kControlWithin;
  control_events_.clear();
  ports_.control.Poll(control_events_);
  for (const ControlEvent& event : control_events_) {
    if (dialer_.Take(now, event) || introductions_.Take(event) ||
        life_lines_.Take(now, event) || TakeJoin(now, event)) {
      continue;
    }
    requests_.Take(now, event);
  }
}

bool AgentLoop::TakeJoin(absl::Time now, const ControlEvent& event) {
  if (event.kind != ControlEvent::Kind::kFrame ||
      event.type != FrameType(ControlType::kJoin)) {
    return false;
  }
  const ConnectionId from = event.connection;
  absl::StatusOr<std::string> answer = agent_.Admit(now, event.body.view());
  if (absl::IsUnimplemented(answer.status())) {
    far_joins_.Add(now, ports_.control.PeerHost(from),
                   answer.status().message());
  }
  if (answer.ok()) {
    ports_.control.Send(from, FrameType(ControlType::kSnapshot),
                        Bytes(*std::move(answer)));
  } else {
    ports_.control.Send(from, FrameType(ControlType::kError),
                        EncodeError(answer.status()));
  }
  return true;
}

void AgentLoop::NoteEvents() {
  for (const MembershipEvent& event : agent_.TakeEvents()) {
    const std::string& address = event.member.control_address;
    if (event.kind == MembershipEvent::Kind::kJoined) {
      ports_.contacts.Add(address, event.member.id);
    } else if (event.kind == MembershipEvent::Kind::kLeft) {
      ports_.contacts.Remove(address);
    } else if (event.kind == MembershipEvent::Kind::kDeclaredDead) {
      ports_.contacts.Prefer(address);
      death_ = event.cause;
    }
    requests_.AddEvent(event);
  }
}

}  // namespace dogged
