#include "runtime/agent/loop/client_requests.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Bytes that wait for a client as frames; further results stay values until it
// takes more.
constexpr int64_t kClientBytesMax = 32 << 20;

// In words: the members that `id` does not hear directly.
std::string LinksDownOf(const Membership& membership, AgentId id) {
  std::vector<std::string> addresses;
  for (const AgentId other : membership.UnheardBy(id)) {
    const Member* const member = membership.view()->Find(other);
    if (member != nullptr) addresses.push_back(member->control_address);
  }
  if (addresses.empty()) return "";
  return absl::StrCat("no direct link from ", absl::StrJoin(addresses, ", "));
}

MemberStatus StatusOf(const Membership& membership, const Member& member) {
  return {.member = member,
          .state = membership.IsSuspect(member.id) ? "suspect" : "alive",
          .cause = LinksDownOf(membership, member.id)};
}

LinkStatus LinkTo(const Agent& agent, AgentId to) {
  const auto round_trip = agent.membership().RoundTrip(to);
  return {.to = to,
          .bytes_per_second = agent.LinkRate(to),
          .round_trip_seconds =
              round_trip.has_value() ? absl::ToDoubleSeconds(*round_trip) : -1};
}

}  // namespace

ClientRequests::ClientRequests(Agent& agent, ControlPort& control,
                               PartWriter& writer,
                               std::function<ProcessMemory()> memory,
                               bool is_waiting)
    : agent_(agent),
      control_(control),
      memory_(std::move(memory)),
      is_waiting_(is_waiting),
      file_writes_(writer),
      submissions_(agent) {
  deliveries_.SetRoom([this](ConnectionId client) {
    return control_.queued_bytes(client) < kClientBytesMax;
  });
}

ClientRequests::~ClientRequests() {
  for (const ConnectionId client : clients_) control_.Close(client);
}

void ClientRequests::Begin(absl::Time now) {
  is_waiting_ = false;
  for (const ControlEvent& event : std::exchange(put_off_, {})) {
    Answer(now, event);
  }
}

void ClientRequests::Take(absl::Time now, const ControlEvent& event) {
  if (event.kind == ControlEvent::Kind::kClosed) Forget(event.connection);
  if (event.kind != ControlEvent::Kind::kFrame) return;
  clients_.insert(event.connection);
  if (is_waiting_) {
    put_off_.push_back(event);
  } else {
    Answer(now, event);
  }
}

void ClientRequests::Answer(absl::Time now, const ControlEvent& event) {
  const absl::Status status = Handle(now, event);
  if (!status.ok()) {
    Send(event.connection, ControlType::kError, EncodeError(status));
  }
}

absl::Status ClientRequests::Handle(absl::Time now, const ControlEvent& event) {
  const ConnectionId from = event.connection;
  const absl::string_view body = event.body.view();
  switch (static_cast<ControlType>(event.type)) {
    case ControlType::kSubmit:
      if (auto taken = submissions_.Take(now, from, body); !taken.ok()) {
        return taken;
      }
      SendSubmissions(now);
      return absl::OkStatus();
    case ControlType::kConclude:
      if (auto taken = submissions_.Conclude(now, from, body); !taken.ok()) {
        return taken;
      }
      SendSubmissions(now);
      return absl::OkStatus();
    case ControlType::kChunk:
      return submissions_.TakeChunk(from, body);
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
    case ControlType::kReturned:
      return HandleReturned(from, body);
    // Between agents.
    case ControlType::kJoin:
    case ControlType::kLifeLine:
    case ControlType::kAdmit:
    // Answers.
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
      return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no request of type ", static_cast<int>(event.type)));
}

absl::Status ClientRequests::HandleStatus(ConnectionId from,
                                          absl::string_view body) {
  const auto request = StatusRequest::Decode(body);
  if (!request.ok()) return request.status();
  Send(from, ControlType::kStatusReply, Status(*request).Encode());
  return absl::OkStatus();
}

absl::Status ClientRequests::HandleWant(absl::Time now, ConnectionId from,
                                        absl::string_view body) {
  const auto request = WantRequest::Decode(body);
  if (!request.ok()) return request.status();
  const absl::Status status = agent_.Want(now, request->job, request->labels);
  if (status.ok()) deliveries_.Want(from, *request);
  return status;
}

absl::Status ClientRequests::HandleWatch(absl::Time now, ConnectionId from,
                                         absl::string_view body) {
  const auto request = WantRequest::Decode(body);
  if (!request.ok()) return request.status();
  // Before the value of one that is bound here comes out.
  deliveries_.Want(from, *request);
  return agent_.Watch(now, request->job, request->labels);
}

absl::Status ClientRequests::HandleWrite(absl::Time now, ConnectionId from,
                                         absl::string_view body) {
  auto request = WriteRequest::Decode(body);
  if (!request.ok()) return request.status();
  // A request that is refused has no labels made.
  absl::Status room = file_writes_.CheckRoom(from);
  if (!room.ok()) return room;
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
  if (!wanted.ok()) return wanted;
  return file_writes_.Add(from, *std::move(request));
}

absl::Status ClientRequests::HandleHeldWanted(ConnectionId from,
                                              absl::string_view body) {
  auto request = WantRequest::Decode(body);
  if (!request.ok()) return request.status();
  request->labels = agent_.HeldOf(request->job, request->labels);
  Send(from, ControlType::kHeld, request->Encode());
  return absl::OkStatus();
}

absl::Status ClientRequests::HandleJobWanted(ConnectionId from,
                                             absl::string_view body) {
  const auto job = DecodeId<JobId>(body);
  if (!job.ok()) return job.status();
  const Bytes encoded = agent_.EncodedJob(*job);
  if (encoded.empty()) {
    return absl::NotFoundError(
        absl::StrCat("job ", job->ToString(), " is not here"));
  }
  if (encoded.size() > kControlFrameBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "job ", job->ToString(), " has ", encoded.size(), " bytes"));
  }
  Send(from, ControlType::kJobValue, encoded);
  return absl::OkStatus();
}

absl::Status ClientRequests::HandleReturned(ConnectionId from,
                                            absl::string_view body) {
  const auto notice = ReturnedNotice::Decode(body);
  if (!notice.ok()) return notice.status();
  deliveries_.TakeBack(from, notice->number);
  return absl::OkStatus();
}

void ClientRequests::Forget(ConnectionId client) {
  clients_.erase(client);
  std::erase_if(put_off_, [client](const ControlEvent& event) {
    return event.connection == client;
  });
  deliveries_.Forget(client);
  file_writes_.Forget(client);
  submissions_.Forget(client);
}

void ClientRequests::SendDue(absl::Time now) {
  SendResults(now);
  SendSubmissions(now);
}

void ClientRequests::SendSubmissions(absl::Time now) {
  submissions_.SendDue(
      now, [this](ConnectionId client, ControlType type, const Bytes& body) {
        Send(client, type, body);
      });
}

void ClientRequests::SendResults(absl::Time now) {
  const auto send = [this](ConnectionId client, const ValuesReply& reply) {
    const Bytes body = reply.Encode();
    if (body.size() <= kControlFrameBytesMax) {
      return Send(client, ControlType::kValues, body);
    }
    Send(client, ControlType::kError,
         EncodeError(absl::ResourceExhaustedError(
             absl::StrCat("one result has ", body.size(), " bytes; more than ",
                          kControlFrameBytesMax,
                          " go to no client: want it in smaller blocks"))));
  };
  for (const JobId id : agent_.RunIds()) {
    for (const auto& [label, value] : agent_.TakeResults(id)) {
      deliveries_.Add(id, label, value, agent_.lending(), send);
      file_writes_.AddValue(id, label, value);
    }
  }
  file_writes_.SendDone([this](ConnectionId client, const WrittenReply& reply) {
    Send(client, ControlType::kWritten, reply.Encode());
  });
  deliveries_.SendDue(now, send);
}

StatusReply ClientRequests::Status(const StatusRequest& request) const {
  StatusReply out;
  out.self = agent_.id();
  const ProcessMemory memory = memory_();
  out.memory_bytes = memory.now;
  out.memory_bytes_peak = memory.peak;
  out.memory_limit = memory.limit;
  out.host_bytes = memory.host;
  out.messages_sent = agent_.messages_sent();
  out.bytes_sent = agent_.bytes_sent();
  out.refused = agent_.refused_count() + control_.refused_count();
  out.dropped = agent_.dropped_count();
  out.keys = control_.KeyIds();
  for (const Member& member : agent_.membership().view()->members()) {
    out.members.push_back(StatusOf(agent_.membership(), member));
    if (member.id == agent_.id()) continue;
    out.links.push_back(LinkTo(agent_, member.id));
  }
  for (MemberStatus& member : departed_.All()) {
    if (member.state == "left") member.stats = agent_.StatsOf(member.member.id);
    out.members.push_back(std::move(member));
  }
  out.jobs = agent_.Jobs(request.jobs);
  out.jobs_known = agent_.job_index().job_count();
  out.sizes = agent_.job_index().SizesOf(request.text_hash);
  out.stored = agent_.StoredJobs(request.text_hash);
  out.reads_directory = agent_.ReadsDirectory();
  return out;
}

void ClientRequests::Send(ConnectionId client, ControlType type,
                          const Bytes& body) {
  control_.Send(client, FrameType(type), body);
}

}  // namespace dogged
