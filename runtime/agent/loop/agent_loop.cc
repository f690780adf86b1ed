#include "runtime/agent/loop/agent_loop.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Departed agents that `status` names, at most: the last ones.
constexpr size_t kDepartedMax = 1000;
constexpr int kLifeLineNeighboursMax = 16;
// Time for which the loop polls for the next message before it sleeps: about
// the cost of a wake-up.
constexpr absl::Duration kSpin = absl::Microseconds(50);
// Time for which a message may wait for a worker that polls between its tasks.
// To see whether it still does takes the processor away from it.
constexpr absl::Duration kKept = absl::Milliseconds(8);
// Looks at shared memory for each look at descriptors, which is a system call:
// 0.2 to 1.3 us, by the machine.
constexpr int kLooks = 64;
// Bytes that wait for a client as frames; further results stay values until it
// takes more.
constexpr int64_t kClientBytesMax = 32 << 20;
// Time that clients wait, at most, while messages of the host keep the loop
// awake.
constexpr absl::Duration kControlWithin = absl::Microseconds(100);

// Agents ask each other for these; all else comes from clients.
bool IsOfClients(const ControlEvent& event) {
  const auto type = static_cast<ControlType>(event.type);
  return type != ControlType::kJoin && type != ControlType::kLifeLine &&
         type != ControlType::kAdmit;
}

void SendFrame(ControlPort& port, ConnectionId connection, ControlType type,
               const Bytes& body) {
  port.Send(connection, FrameType(type), body);
}

}  // namespace

AgentLoop::AgentLoop(Agent& agent, Ports ports)
    : agent_(agent),
      ports_(std::move(ports)),
      dialer_(agent, ports_.control, ports_.contacts, ports_.refresh_contacts,
              ports_.on_settled),
      introductions_(agent, ports_.control, ports_.admission),
      file_writes_(ports_.writer),
      submissions_(agent) {
  deliveries_.SetRoom([this](ConnectionId client) {
    return ports_.control.queued_bytes(client) < kClientBytesMax;
  });
}

AgentLoop::~AgentLoop() {
  for (const auto& [connection, line] : life_lines_) {
    ports_.control.Close(connection);
  }
  // The next incarnation knows nothing of what these asked for; they say it
  // again when the connection ends.
  for (const ConnectionId client : clients_) ports_.control.Close(client);
}

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
  absl::Time wake = std::min(agent_.next_wake(), deliveries_.next_due());
  wake = std::min(wake, introductions_.next_due());
  return std::min(wake, dialer_.next_due());
}

void AgentLoop::RunPass() {
  const absl::Time now = ports_.clock.Now();
  if (const char* const why = leave_) agent_.Leave(now, why);
  if (is_hurried_) agent_.HurryLeave(now);
  agent_.RunOnce(now);
  LogEvents();
  KeepLifeLines();
  const bool has_settled = dialer_.Tick(now);
  introductions_.Tick(now);
  SendWanted(now);
  SendSubmissions(now);
  // Frames just queued on the control port go out before sleeping; arrived ones
  // wake a sleeper.
  control_events_.clear();
  if (is_asleep_ ? ports_.control.has_unsettled() : IsControlDue(now)) {
    HandleControl(now);
  }
  if (has_settled) HandlePutOff(now);
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
    if (dialer_.Take(now, event) || introductions_.Take(event)) continue;
    switch (event.kind) {
      case ControlEvent::Kind::kAccepted:
        break;
      case ControlEvent::Kind::kConnected:
        if (life_lines_.contains(event.connection)) {
          SendFrame(ports_.control, event.connection, ControlType::kLifeLine,
                    EncodeId(agent_.id()));
        }
        break;
      case ControlEvent::Kind::kFrame:
        if (IsOfClients(event)) clients_.insert(event.connection);
        if (clients_.contains(event.connection) && IsPuttingOff()) {
          put_off_.push_back(event);
        } else {
          HandleFrame(now, event);
        }
        break;
      case ControlEvent::Kind::kClosed:
        HandleClosed(now, event);
        break;
    }
  }
}

bool AgentLoop::IsPuttingOff() const {
  return ports_.is_reborn && !dialer_.has_settled();
}

void AgentLoop::HandlePutOff(absl::Time now) {
  if (IsPuttingOff()) return;
  for (const ControlEvent& event : std::exchange(put_off_, {})) {
    HandleFrame(now, event);
  }
}

void AgentLoop::HandleFrame(absl::Time now, const ControlEvent& event) {
  const ConnectionId from = event.connection;
  const absl::string_view body = event.body.view();
  switch (static_cast<ControlType>(event.type)) {
    case ControlType::kJoin: {
      absl::StatusOr<std::string> answer = agent_.Admit(now, body);
      if (absl::IsUnimplemented(answer.status())) {
        far_joins_.Add(now, ports_.control.PeerHost(from),
                       answer.status().message());
      }
      if (!answer.ok()) return SendError(from, answer.status());
      SendFrame(ports_.control, from, ControlType::kSnapshot,
                Bytes(*std::move(answer)));
      return;
    }
    case ControlType::kLifeLine: {
      const auto peer = DecodeId<AgentId>(body);
      auto line = life_lines_.find(from);
      if (!peer.ok()) return SendError(from, peer.status());
      ports_.control.Keep(from);
      if (line == life_lines_.end()) {
        SendFrame(ports_.control, from, ControlType::kLifeLine,
                  EncodeId(agent_.id()));
      } else if (*peer == line->second.peer) {
        line->second.confirmed = true;
      } else {
        // Another process lives at that address now.
        agent_.PeerDied(now, line->second.peer,
                        "another agent answers at its address");
        ports_.control.Close(from);
        life_lines_.erase(line);
      }
      return;
    }
    case ControlType::kSubmit:
      return HandleSubmit(now, from, body);
    case ControlType::kChunk:
      return HandleChunk(from, body);
    case ControlType::kStatus:
      return HandleStatus(from, body);
    case ControlType::kWant:
      return HandleWant(now, from, body);
    case ControlType::kWatch:
      return HandleWatch(now, from, body);
    case ControlType::kWrite:
      return HandleWrite(now, from, body);
    case ControlType::kHeldWanted:
      return HandleHeldWanted(from, body);
    case ControlType::kJobWanted:
      return HandleJobWanted(from, body);
    case ControlType::kAdmit: {
      const absl::Status admitted = introductions_.Admit(from, body);
      if (!admitted.ok()) return SendError(from, admitted);
      SendFrame(ports_.control, from, ControlType::kAdmitted, {});
      return;
    }
    case ControlType::kReturned: {
      const auto notice = ReturnedNotice::Decode(body);
      if (!notice.ok()) return SendError(from, notice.status());
      deliveries_.TakeBack(from, notice->number);
      return;
    }
    case ControlType::kConclude: {
      const absl::Status taken = submissions_.Conclude(now, from, body);
      if (!taken.ok()) return SendError(from, taken);
      return SendSubmissions(now);
    }
    case ControlType::kError:
    case ControlType::kSnapshot:
    case ControlType::kSubmitted:
    case ControlType::kStatusReply:
    case ControlType::kValues:
    case ControlType::kConcluded:
    case ControlType::kChunksWanted:
    case ControlType::kJobValue:
    case ControlType::kHeld:
    case ControlType::kAdmitted:
    case ControlType::kWritten:
      return;
  }
  SendError(from, absl::InvalidArgumentError(absl::StrCat(
                      "no request of type ", static_cast<int>(event.type))));
}

void AgentLoop::HandleSubmit(absl::Time now, ConnectionId from,
                             absl::string_view body) {
  const absl::Status taken = submissions_.Take(now, from, body);
  if (!taken.ok()) return SendError(from, taken);
  SendSubmissions(now);
}

void AgentLoop::SendSubmissions(absl::Time now) {
  submissions_.SendDue(
      now, [this](ConnectionId client, ControlType type, const Bytes& body) {
        SendFrame(ports_.control, client, type, body);
      });
}

void AgentLoop::HandleChunk(ConnectionId from, absl::string_view body) {
  const absl::Status taken = submissions_.TakeChunk(from, body);
  if (!taken.ok()) SendError(from, taken);
}

void AgentLoop::HandleStatus(ConnectionId from, absl::string_view body) {
  const auto request = StatusRequest::Decode(body);
  if (!request.ok()) return SendError(from, request.status());
  SendFrame(ports_.control, from, ControlType::kStatusReply,
            Status(*request).Encode());
}

void AgentLoop::HandleWant(absl::Time now, ConnectionId from,
                           absl::string_view body) {
  const auto request = WantRequest::Decode(body);
  if (!request.ok()) return SendError(from, request.status());
  const absl::Status status = agent_.Want(now, request->job, request->labels);
  if (!status.ok()) return SendError(from, status);
  deliveries_.Want(from, *request);
}

void AgentLoop::HandleWatch(absl::Time now, ConnectionId from,
                            absl::string_view body) {
  const auto request = WantRequest::Decode(body);
  if (!request.ok()) return SendError(from, request.status());
  // Before the value of one that is bound here comes out.
  deliveries_.Want(from, *request);
  const absl::Status status = agent_.Watch(now, request->job, request->labels);
  if (!status.ok()) SendError(from, status);
}

void AgentLoop::HandleWrite(absl::Time now, ConnectionId from,
                            absl::string_view body) {
  auto request = WriteRequest::Decode(body);
  if (!request.ok()) return SendError(from, request.status());
  // A request that is refused has no labels made.
  const absl::Status room = file_writes_.CheckRoom(from);
  if (!room.ok()) return SendError(from, room);
  absl::Status wanted;
  if (request->digests.empty() && !request->parts.empty()) {
    std::vector<Label> labels;
    for (const FilePart& part : request->parts) labels.push_back(part.label);
    wanted = agent_.Want(now, request->job, labels);
  }
  // A job that was forgotten begins anew as its labels are wanted.
  if (auto hold = agent_.HoldForWriting(request->job); hold != nullptr) {
    file_writes_.Hold(from, request->job, std::move(hold));
  }
  if (!wanted.ok()) return SendError(from, wanted);
  const absl::Status added = file_writes_.Add(from, *std::move(request));
  if (!added.ok()) SendError(from, added);
}

void AgentLoop::HandleHeldWanted(ConnectionId from, absl::string_view body) {
  auto request = WantRequest::Decode(body);
  if (!request.ok()) return SendError(from, request.status());
  request->labels = agent_.HeldOf(request->job, request->labels);
  SendFrame(ports_.control, from, ControlType::kHeld, request->Encode());
}

void AgentLoop::HandleJobWanted(ConnectionId from, absl::string_view body) {
  const auto job = DecodeId<JobId>(body);
  if (!job.ok()) return SendError(from, job.status());
  const Bytes encoded = agent_.EncodedJob(*job);
  if (encoded.empty()) {
    return SendError(from, absl::NotFoundError(absl::StrCat(
                               "job ", job->ToString(), " is not here")));
  }
  if (encoded.size() > kControlFrameBytesMax) {
    return SendError(
        from, absl::ResourceExhaustedError(absl::StrCat(
                  "job ", job->ToString(), " has ", encoded.size(), " bytes")));
  }
  SendFrame(ports_.control, from, ControlType::kJobValue, encoded);
}

void AgentLoop::HandleClosed(absl::Time now, const ControlEvent& event) {
  auto line = life_lines_.find(event.connection);
  if (line != life_lines_.end()) {
    const LifeLine ended = line->second;
    life_lines_.erase(line);
    // Without a word from the peer it may be the network; the failure detector
    // decides then.
    if (ended.confirmed && agent_.membership().view()->Contains(ended.peer)) {
      agent_.PeerDied(now, ended.peer, "its connection closed");
    }
  }
  clients_.erase(event.connection);
  std::erase_if(put_off_, [&event](const ControlEvent& put_off) {
    return put_off.connection == event.connection;
  });
  deliveries_.Forget(event.connection);
  file_writes_.Forget(event.connection);
  submissions_.Forget(event.connection);
}

void AgentLoop::KeepLifeLines() {
  if (agent_.membership().view() == lined_view_) return;
  lined_view_ = agent_.membership().view();
  std::map<AgentId, bool> wanted;
  for (AgentId peer : LifeLinesOf(agent_.routing_table(), *lined_view_,
                                  kLifeLineNeighboursMax)) {
    wanted[peer] = false;
  }
  for (auto it = life_lines_.begin(); it != life_lines_.end();) {
    auto peer = wanted.find(it->second.peer);
    if (peer == wanted.end()) {
      ports_.control.Close(it->first);
      it = life_lines_.erase(it);
    } else {
      peer->second = true;
      ++it;
    }
  }
  for (const auto& [peer, has_line] : wanted) {
    if (has_line) continue;
    const Member* member = lined_view_->Find(peer);
    life_lines_[ports_.control.Connect(member->control_address)] = {.peer =
                                                                        peer};
  }
}

void AgentLoop::SendWanted(absl::Time now) {
  const auto send = [this](ConnectionId client, const ValuesReply& reply) {
    const Bytes body = reply.Encode();
    if (body.size() > kControlFrameBytesMax) {
      return SendError(client,
                       absl::ResourceExhaustedError(absl::StrCat(
                           "one result has ", body.size(), " bytes; more than ",
                           kControlFrameBytesMax,
                           " go to no client: want it in smaller blocks")));
    }
    SendFrame(ports_.control, client, ControlType::kValues, body);
  };
  for (const JobId id : agent_.RunIds()) {
    for (const auto& [label, value] : agent_.TakeResults(id)) {
      deliveries_.Add(id, label, value, agent_.lending(), send);
      file_writes_.AddValue(id, label, value);
    }
  }
  file_writes_.SendDone([this](ConnectionId client, const WrittenReply& reply) {
    SendFrame(ports_.control, client, ControlType::kWritten, reply.Encode());
  });
  deliveries_.SendDue(now, send);
}

void AgentLoop::LogEvents() {
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
    const bool died = event.kind == MembershipEvent::Kind::kDied;
    if (!died && event.kind != MembershipEvent::Kind::kLeft) continue;
    Encoder encoder;
    MemberStatus{.member = event.member,
                 .state = died ? "dead" : "left",
                 .cause = died ? event.cause : ""}
        .EncodeTo(encoder);
    departed_.push_back(departed_memory_.CopyOf(encoder.view()));
    if (departed_.size() > kDepartedMax) departed_.pop_front();
  }
}

StatusReply AgentLoop::Status(const StatusRequest& request) const {
  StatusReply out;
  out.self = agent_.id();
  const Memory memory = ports_.memory();
  out.memory_bytes = memory.now;
  out.memory_bytes_peak = memory.peak;
  out.memory_limit = memory.limit;
  out.host_bytes = memory.host;
  out.messages_sent = agent_.messages_sent();
  out.bytes_sent = agent_.bytes_sent();
  out.refused = agent_.refused_count() + ports_.control.refused_count();
  out.dropped = agent_.dropped_count();
  out.keys = ports_.control.KeyIds();
  for (const Member& member : agent_.membership().view()->members()) {
    const bool suspect = agent_.membership().IsSuspect(member.id);
    out.members.push_back({.member = member,
                           .state = suspect ? "suspect" : "alive",
                           .cause = LinksDownOf(member.id)});
  }
  for (const std::pmr::string& encoded : departed_) {
    Decoder decoder(encoded);
    MemberStatus member = MemberStatus::DecodeFrom(decoder);
    if (member.state == "left") member.stats = agent_.StatsOf(member.member.id);
    out.members.push_back(std::move(member));
  }
  out.jobs = agent_.Jobs(request.jobs);
  out.jobs_known = agent_.job_index().job_count();
  out.sizes = agent_.job_index().SizesOf(request.text_hash);
  out.stored = agent_.StoredJobs(request.text_hash);
  out.reads_directory = agent_.ReadsDirectory();
  for (const Member& member : agent_.membership().view()->members()) {
    if (member.id == agent_.id()) continue;
    const auto round_trip = agent_.membership().RoundTrip(member.id);
    out.links.push_back(
        {.to = member.id,
         .bytes_per_second = agent_.LinkRate(member.id),
         .round_trip_seconds =
             round_trip.has_value() ? absl::ToDoubleSeconds(*round_trip) : -1});
  }
  return out;
}

std::string AgentLoop::LinksDownOf(AgentId id) const {
  std::vector<std::string> addresses;
  for (const AgentId other : agent_.membership().UnheardBy(id)) {
    const Member* member = agent_.membership().view()->Find(other);
    if (member != nullptr) addresses.push_back(member->control_address);
  }
  if (addresses.empty()) return "";
  return absl::StrCat("no direct link from ", absl::StrJoin(addresses, ", "));
}

void AgentLoop::SendError(ConnectionId connection, const absl::Status& status) {
  SendFrame(ports_.control, connection, ControlType::kError,
            EncodeError(status));
}

}  // namespace dogged
