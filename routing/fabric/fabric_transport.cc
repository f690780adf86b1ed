// Transport over libfabric: connected endpoints (FI_EP_MSG), here of the
// provider `tcp`, one connection for each way between two agents, made when the
// first message wants it. Built as a module.
//
// libfabric says nothing of a peer's death, and late of a connection's: each
// peer has a window of messages in libfabric's hands and a bounded queue of its
// own. A connection that ends loses what it carried; the next message makes
// another one.
//
// The provider believes what it reads: with `keeps_strangers_out` only
// connections reach it that their agents have announced (Admission). The one
// that connects binds its end first, so its port is known; the other one's
// kernel lets that port in, for some seconds; and the token that came with the
// announcement comes again with the connection.
#include "routing/fabric/fabric_transport.h"

#include <poll.h>
#include <rdma/fi_errno.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "routing/control/socket_address.h"
#include "routing/fabric/fabric_buffers.h"
#include "routing/fabric/fabric_domain.h"
#include "routing/fabric/fabric_link.h"
#include "routing/fabric/port_filter.h"
#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int kWindow = 16;  // messages in libfabric's hands, to one peer
constexpr int kCompletionsPerRead = 32;
constexpr int kReadsPerPoll = 32;
// Bytes of a message beyond limits.segment_bytes, at most.
constexpr int64_t kHeadersBytesMax = 1024;
constexpr absl::Duration kRetryFirst = absl::Milliseconds(1);
constexpr absl::Duration kRetryMost = absl::Seconds(1);
// A connection is admitted, and then made, within this.
constexpr absl::Duration kConnectTimeMax = absl::Seconds(3);
// Connections' events are looked at so often, if nothing calls for it.
constexpr absl::Duration kEventsWithin = absl::Milliseconds(1);

// Introduces a connection to the agent that it goes to: its source and target,
// and a token (zero where all connections are admitted).
struct Greeting {
  static constexpr uint32_t kMagic = 0x31674464;  // "dDg1"
  static constexpr size_t kTokenBytes = 16;

  AgentId source;
  AgentId target;
  std::string token = std::string(kTokenBytes, '\0');

  std::string Encode() const {
    Encoder encoder;
    encoder.PutU32(kMagic);
    encoder.PutId(source);
    encoder.PutId(target);
    encoder.PutString(token);
    return encoder.Take();
  }
  // Errors: kInvalidArgument.
  static absl::StatusOr<Greeting> DecodeFrom(Decoder& decoder) {
    Greeting greeting;
    const uint32_t magic = decoder.GetU32();
    greeting.source = decoder.GetId<AgentId>();
    greeting.target = decoder.GetId<AgentId>();
    greeting.token = std::string(decoder.GetString());
    if (!decoder.ok() || magic != kMagic || greeting.source.IsNone() ||
        greeting.token.size() != kTokenBytes) {
      return absl::InvalidArgumentError("no greeting of an agent");
    }
    return greeting;
  }
};

class LibfabricTransport : public FabricTransport {
 public:
  explicit LibfabricTransport(const FabricOptions& options)
      : options_(options),
        pool_(std::make_shared<BufferPool>(options.limits.segment_bytes +
                                           kHeadersBytesMax)) {}
  ~LibfabricTransport() override;

  // Empty, or the error in words.
  std::string Open();

  void Send(AgentId to, Bytes message) override {
    SendParts(to, message, Bytes());
  }
  void SendParts(AgentId to, const Bytes& head, const Bytes& body) override;
  void Poll(std::vector<Arrival>& arrivals) override;
  void SetPeer(AgentId peer, absl::string_view fabric_address) override;
  void DropQueued(AgentId peer) override;
  void ForgetPeer(AgentId peer) override;
  std::string address() const override { return fabric_.address.ToString(); }
  int64_t queued_bytes(AgentId peer) const override;
  int wait_fd() const override { return epoll_fd_; }
  bool PrepareToWait() override;
  void SetWaiting(bool is_waiting) override;
  bool HasArrivals() const override;
  int64_t dropped_count() const override { return dropped_count_; }
  int64_t refused_count() const override { return refused_count_; }

  std::vector<AdmissionRequest> TakeRequests() override {
    return std::exchange(requests_, {});
  }
  void Settle(AgentId to, bool is_admitted) override;
  absl::Status Admit(absl::string_view host, absl::string_view words) override;
  std::string warning() const override { return fabric_.warning; }

 private:
  struct Peer {
    enum class State { kApart, kAsking, kConnecting, kConnected };
    std::string address_text;
    SocketAddress address;
    State state = State::kApart;
    // The port that a connection comes from is not the one announced.
    bool is_translated = false;
    FabricLink* link = nullptr;  // but for kApart
    std::string token;
    int64_t bytes = 0;  // queued, and in libfabric's hands
    std::list<std::pair<Bytes, Bytes>> queue;  // none takes no memory
    // The end of the present state: nothing is tried before, or it has failed.
    absl::Time due = absl::InfinitePast();
    absl::Duration retry_after = kRetryFirst;
  };
  // A connection that may come.
  struct Expected {
    AgentId source;
    std::vector<FilteredSource> from;
    absl::Time until;
  };

  // Goes on with what `peer` has to do at `now`.
  void Advance(AgentId id, Peer& peer, absl::Time now);
  void Begin(AgentId id, Peer& peer, absl::Time now);
  void Connect(AgentId id, Peer& peer, absl::Time now);
  void Push(Peer& peer, absl::Time now);
  // Its connection is of no use, or could not be made.
  void Part(Peer& peer, absl::Time now);
  FabricLink* AddLink(AgentId peer, FabricLink::Way way);
  void CloseLink(FabricLink* link);
  void EraseIfDone(FabricLink* link);
  void EndLink(FabricLink* link, absl::Time now);
  void ReadEvents(absl::Time now);
  void TakeConnection(fi_info* info, absl::string_view words);
  absl::Status CheckGreeting(absl::string_view words, Greeting& greeting);
  absl::Status FilterExpected();
  // False if there may be more.
  bool ReadCompletions(std::vector<Arrival>& arrivals);
  void Complete(const fi_cq_msg_entry& entry, std::vector<Arrival>& arrivals);
  void CompleteWithError();
  void ArmTimer();
  void SetWatched(bool is_watched);
  absl::Time Now() { return clock_.Now(); }

  const FabricOptions options_;
  const std::shared_ptr<BufferPool> pool_;
  SystemClock clock_;
  FabricDomain fabric_;
  // Links' connections are closed before fabric_ is.
  std::map<const FabricLink*, std::unique_ptr<FabricLink>> links_;
  std::map<AgentId, Peer> peers_;
  std::vector<AdmissionRequest> requests_;
  std::map<std::string, Expected> expected_;  // by token
  int epoll_fd_ = -1;
  int timer_fd_ = -1;
  bool is_armed_ = false;
  absl::Time events_due_ = absl::InfinitePast();
  bool is_waiting_ = false;  // a thread, for epoll_fd_
  // Completions and events make epoll_fd_ readable. Not so while another thread
  // than the waiting one uses this, for that one polls.
  bool is_watched_ = true;
  int64_t dropped_count_ = 0;
  int64_t refused_count_ = 0;
};

LibfabricTransport::~LibfabricTransport() {
  for (const auto& [key, link] : links_) link->Close();
  if (timer_fd_ >= 0) close(timer_fd_);
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

std::string LibfabricTransport::Open() {
  std::string error = fabric_.Open(options_);
  if (!error.empty()) return error;
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  for (const int fd : {fabric_.completions_fd, fabric_.events_fd, timer_fd_}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
      return ErrorText("waiting descriptor of the fabric", errno);
    }
  }
  return "";
}

// --- Peers ---------------------------------------------------------------

void LibfabricTransport::SetPeer(AgentId peer,
                                 absl::string_view fabric_address) {
  const std::string text(
      fabric_address.substr(0, fabric_address.find(kOtherWay)));
  Peer& known = peers_[peer];
  if (known.address_text == text) return;
  known.address_text = text;
  // Without an address sends to it will be dropped and counted.
  known.address = ResolveAddress(text).value_or(SocketAddress());
}

void LibfabricTransport::DropQueued(AgentId peer) {
  const auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  Peer& known = it->second;
  if (known.link != nullptr) CloseLink(known.link);
  for (const auto& [head, body] : known.queue) {
    known.bytes -= head.size() + body.size();
    ++dropped_count_;
  }
  known.queue.clear();
}

void LibfabricTransport::ForgetPeer(AgentId peer) {
  DropQueued(peer);
  peers_.erase(peer);
  // Also of an agent that nothing was sent to.
  std::vector<FabricLink*> incoming;
  for (const auto& [key, link] : links_) {
    if (link->peer() == peer && !link->IsClosed()) {
      incoming.push_back(link.get());
    }
  }
  for (FabricLink* link : incoming) CloseLink(link);
}

int64_t LibfabricTransport::queued_bytes(AgentId peer) const {
  const auto it = peers_.find(peer);
  return it == peers_.end() ? 0 : it->second.bytes;
}

FabricLink* LibfabricTransport::AddLink(AgentId peer, FabricLink::Way way) {
  auto link = std::make_unique<FabricLink>(peer, way);
  FabricLink* const key = link.get();
  links_.emplace(key, std::move(link));
  return key;
}

void LibfabricTransport::CloseLink(FabricLink* link) {
  const FabricLink::Lost lost = link->Close();
  dropped_count_ += lost.messages;
  if (const auto it = peers_.find(link->peer());
      it != peers_.end() && it->second.link == link) {
    it->second.bytes -= lost.bytes;
    it->second.link = nullptr;
    it->second.state = Peer::State::kApart;
  }
  EraseIfDone(link);
}

void LibfabricTransport::EraseIfDone(FabricLink* link) {
  if (link->IsClosed() && !link->HasOperations()) links_.erase(link);
}

// --- Connecting ----------------------------------------------------------

void LibfabricTransport::Advance(AgentId id, Peer& peer, absl::Time now) {
  switch (peer.state) {
    case Peer::State::kApart:
      if (!peer.queue.empty() && now >= peer.due) Begin(id, peer, now);
      return;
    case Peer::State::kAsking:
    case Peer::State::kConnecting:
      if (now >= peer.due) Part(peer, now);
      return;
    case Peer::State::kConnected:
      if (!peer.queue.empty() && now >= peer.due) Push(peer, now);
      return;
  }
}

void LibfabricTransport::Begin(AgentId id, Peer& peer, absl::Time now) {
  peer.link = AddLink(id, FabricLink::Way::kOut);
  SocketAddress source;
  std::string error;
  FidPtr<fid_ep> endpoint = fabric_.MakeOutgoing(
      peer.link, options_.keeps_strangers_out ? &source : nullptr, error);
  if (endpoint == nullptr) return Part(peer, now);
  peer.link->Open(std::move(endpoint));
  Greeting greeting{.source = options_.self, .target = id};
  if (!options_.keeps_strangers_out) {
    peer.token = greeting.token;
    return Connect(id, peer, now);
  }
  DOGGED_CHECK(getrandom(greeting.token.data(), greeting.token.size(), 0) ==
               static_cast<ssize_t>(greeting.token.size()));
  peer.token = greeting.token;
  peer.state = Peer::State::kAsking;
  peer.due = now + kConnectTimeMax;
  Encoder words;
  words.PutRaw(greeting.Encode());
  words.PutString(peer.is_translated ? "" : source.ToString());
  requests_.push_back({id, words.Take()});
}

void LibfabricTransport::Connect(AgentId id, Peer& peer, absl::Time now) {
  const std::string words =
      Greeting{.source = options_.self, .target = id, .token = peer.token}
          .Encode();
  peer.state = Peer::State::kConnecting;
  peer.due = now + kConnectTimeMax;
  if (fi_connect(peer.link->endpoint(), peer.address.get(), words.data(),
                 words.size()) != 0) {
    Part(peer, now);
  }
}

void LibfabricTransport::Part(Peer& peer, absl::Time now) {
  // It may have been admitted from another port than it had when it got there.
  if (peer.state == Peer::State::kConnecting && now >= peer.due) {
    peer.is_translated = !peer.is_translated;
  }
  CloseLink(peer.link);
  peer.due = now + peer.retry_after;
  peer.retry_after = std::min(2 * peer.retry_after, kRetryMost);
}

void LibfabricTransport::Settle(AgentId to, bool is_admitted) {
  const auto it = peers_.find(to);
  if (it == peers_.end() || it->second.state != Peer::State::kAsking) return;
  const absl::Time now = Now();
  if (is_admitted) {
    Connect(to, it->second, now);
  } else {
    Part(it->second, now);
  }
  ArmTimer();
}

// --- Being connected to --------------------------------------------------

absl::Status LibfabricTransport::Admit(absl::string_view host,
                                       absl::string_view words) {
  Decoder decoder(words);
  DOGGED_ASSIGN_OR_RETURN(const Greeting greeting,
                          Greeting::DecodeFrom(decoder));
  const std::string source(decoder.GetString());
  DOGGED_RETURN_IF_ERROR(decoder.Finish("request to be admitted"));
  if (greeting.target != options_.self) {
    return absl::NotFoundError("another incarnation was at this address");
  }
  if (std::ssize(expected_) >= kFilteredSourcesMax / 2) {
    return absl::ResourceExhaustedError("many connections are expected");
  }
  // Its own address and port, or nothing. Where the control connection is from
  // elsewhere, a host has several addresses, or they are translated on the way:
  // then the port may be another, too.
  std::vector<FilteredSource> from;
  absl::string_view port = "0";
  if (!source.empty()) {
    // To look up a name takes seconds, and the loop waits for this.
    if (!IsNumeric(source)) {
      return absl::InvalidArgumentError(
          "a request to be admitted names its host by no number");
    }
    DOGGED_ASSIGN_OR_RETURN(const SocketAddress own, ResolveAddress(source));
    if (own.IsWildcard() || own.Host() == host) {
      port = absl::string_view(source).substr(source.rfind(':') + 1);
    } else {
      from.push_back({own.storage});
    }
  }
  DOGGED_ASSIGN_OR_RETURN(const SocketAddress seen,
                          ResolveAddress(absl::StrCat(host, ":", port)));
  from.push_back({seen.storage});
  expected_[greeting.token] = {.source = greeting.source,
                               .from = std::move(from),
                               .until = Now() + options_.admitted_time};
  ArmTimer();
  const absl::Status filtered = FilterExpected();
  if (!filtered.ok()) {
    expected_.erase(greeting.token);
    (void)FilterExpected();
  }
  return filtered;
}

// Errors: kResourceExhausted if the kernel takes no filter for so many; none is
// let in then.
absl::Status LibfabricTransport::FilterExpected() {
  std::vector<FilteredSource> sources;
  for (const auto& [token, expected] : expected_) {
    sources.insert(sources.end(), expected.from.begin(), expected.from.end());
  }
  return fabric_.Admit(sources);
}

absl::Status LibfabricTransport::CheckGreeting(absl::string_view words,
                                               Greeting& greeting) {
  Decoder decoder(words);
  DOGGED_ASSIGN_OR_RETURN(greeting, Greeting::DecodeFrom(decoder));
  DOGGED_RETURN_IF_ERROR(decoder.Finish("greeting"));
  if (greeting.target != options_.self) {
    return absl::NotFoundError("for another incarnation");
  }
  if (!options_.keeps_strangers_out) return absl::OkStatus();
  const auto expected = expected_.find(greeting.token);
  if (expected == expected_.end() ||
      expected->second.source != greeting.source) {
    return absl::PermissionDeniedError("not admitted");
  }
  expected_.erase(expected);
  (void)FilterExpected();  // fewer than before fit, too
  return absl::OkStatus();
}

void LibfabricTransport::TakeConnection(fi_info* info,
                                        absl::string_view words) {
  const auto reject = [&] {
    ++refused_count_;
    fi_reject(fabric_.port.get(), info->handle, nullptr, 0);
  };
  Greeting greeting;
  if (!CheckGreeting(words, greeting).ok()) return reject();
  // An agent connects again when it has lost its connection.
  std::vector<FabricLink*> former;
  for (const auto& [key, link] : links_) {
    if (link->way() == FabricLink::Way::kIn && !link->IsClosed() &&
        link->peer() == greeting.source) {
      former.push_back(link.get());
    }
  }
  for (FabricLink* link : former) CloseLink(link);
  FabricLink* const link = AddLink(greeting.source, FabricLink::Way::kIn);
  std::string error;
  link->Open(fabric_.MakeIncoming(info, link, error));
  if (!link->IsClosed() && link->Receive(*pool_) == 0 &&
      fi_accept(link->endpoint(), nullptr, 0) == 0) {
    return;
  }
  CloseLink(link);
  reject();
}

void LibfabricTransport::EndLink(FabricLink* link, absl::Time now) {
  const auto it = peers_.find(link->peer());
  if (it != peers_.end() && it->second.link == link) {
    Part(it->second, now);
  } else {
    CloseLink(link);
  }
}

void LibfabricTransport::ReadEvents(absl::Time now) {
  events_due_ = now + kEventsWithin;
  // A fi_eq_cm_entry and the words of a connection.
  alignas(fi_eq_cm_entry) std::array<char, 512> buffer;
  auto* const entry = reinterpret_cast<fi_eq_cm_entry*>(buffer.data());
  constexpr ssize_t kEntryBytes = sizeof(fi_eq_cm_entry);
  while (true) {
    uint32_t event = 0;
    // Where a foreign connection ends after too few bytes, the provider goes
    // by errno: with an old EAGAIN it would keep it, readable for ever.
    errno = 0;
    const ssize_t size = fi_eq_read(fabric_.events.get(), &event, buffer.data(),
                                    buffer.size(), 0);
    if (size == -FI_EAVAIL) {
      fi_eq_err_entry error{};
      if (fi_eq_readerr(fabric_.events.get(), &error, 0) <= 0) return;
      if (error.fid != nullptr && error.fid->context != nullptr) {
        EndLink(static_cast<FabricLink*>(error.fid->context), now);
      }
      continue;
    }
    if (size < kEntryBytes) return;
    if (event == FI_CONNREQ) {
      const InfoPtr info(entry->info);
      TakeConnection(info.get(), {buffer.data() + kEntryBytes,
                                  static_cast<size_t>(size - kEntryBytes)});
      continue;
    }
    auto* const link = static_cast<FabricLink*>(entry->fid->context);
    if (link == nullptr) continue;
    if (event == FI_SHUTDOWN) {
      EndLink(link, now);
    } else if (event == FI_CONNECTED && link->way() == FabricLink::Way::kOut) {
      const auto it = peers_.find(link->peer());
      if (it == peers_.end() || it->second.link != link) continue;
      it->second.state = Peer::State::kConnected;
      it->second.retry_after = kRetryFirst;
      it->second.due = absl::InfinitePast();
    }
  }
}

// --- Sending -------------------------------------------------------------

void LibfabricTransport::SendParts(AgentId to, const Bytes& head,
                                   const Bytes& body) {
  const int64_t size = head.size() + body.size();
  const auto it = peers_.find(to);
  if (it == peers_.end() || it->second.address.size == 0 ||
      size > pool_->buffer_bytes() ||
      it->second.bytes + size > options_.limits.outbox_bytes_max) {
    ++dropped_count_;
    return;
  }
  if (is_waiting_) SetWatched(false);
  Peer& peer = it->second;
  peer.bytes += size;
  peer.queue.emplace_back(head, body);
  if (peer.state == Peer::State::kConnected) {
    if (peer.due == absl::InfinitePast()) Push(peer, absl::InfinitePast());
  } else if (peer.state == Peer::State::kApart) {
    Advance(to, peer, Now());
    ArmTimer();
  }
}

// Hands over as much of the queue as the window and libfabric allow.
void LibfabricTransport::Push(Peer& peer, absl::Time now) {
  FabricLink& link = *peer.link;
  while (!peer.queue.empty() && link.unsent_count() < kWindow) {
    auto& [head, body] = peer.queue.front();
    link.Add(std::move(head), std::move(body));
    peer.queue.pop_front();
  }
  const FabricLink::Handed handed = link.HandOver();
  if (handed == FabricLink::Handed::kAll) {
    peer.due = absl::InfinitePast();
    peer.retry_after = kRetryFirst;
    return;
  }
  if (now == absl::InfinitePast()) now = Now();
  if (handed == FabricLink::Handed::kBroken) {
    Part(peer, now);
  } else {
    peer.due = now + peer.retry_after;
    peer.retry_after = std::min(2 * peer.retry_after, kRetryMost);
  }
  ArmTimer();
}

// Wakes the sleeper when there is something to try, or to give up.
void LibfabricTransport::ArmTimer() {
  absl::Time first = absl::InfiniteFuture();
  for (const auto& [id, peer] : peers_) {
    const bool is_at_rest = peer.state == Peer::State::kApart
                                ? peer.queue.empty()
                                : peer.state == Peer::State::kConnected &&
                                      peer.due == absl::InfinitePast();
    if (!is_at_rest) first = std::min(first, peer.due);
  }
  for (const auto& [token, expected] : expected_) {
    first = std::min(first, expected.until);
  }
  itimerspec when{};
  is_armed_ = first != absl::InfiniteFuture();
  const auto delay = std::max(first - Now(), absl::Microseconds(10));
  if (is_armed_) when.it_value = absl::ToTimespec(delay);
  timerfd_settime(timer_fd_, 0, &when, nullptr);
}

// --- Receiving -----------------------------------------------------------

void LibfabricTransport::SetWatched(bool is_watched) {
  if (std::exchange(is_watched_, is_watched) == is_watched) return;
  // The events' descriptor tells of data on sockets, too, from libfabric 2 on.
  for (const int fd : {fabric_.completions_fd, fabric_.events_fd}) {
    epoll_event event{};
    event.events = is_watched ? uint32_t{EPOLLIN} : 0;
    event.data.fd = fd;
    DOGGED_CHECK(epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event) == 0);
  }
}

void LibfabricTransport::SetWaiting(bool is_waiting) {
  is_waiting_ = is_waiting;
  if (!is_waiting) SetWatched(true);
}

bool LibfabricTransport::HasArrivals() const {
  if (is_watched_) return false;
  fid* waited[] = {&fabric_.completions->fid};
  if (fi_trywait(fabric_.fabric.get(), waited, 1) != FI_SUCCESS) return true;
  pollfd fds[] = {
      {.fd = fabric_.completions_fd, .events = POLLIN, .revents = 0},
      {.fd = fabric_.events_fd, .events = POLLIN, .revents = 0}};
  return poll(fds, std::size(fds), 0) > 0;
}

bool LibfabricTransport::PrepareToWait() {
  SetWatched(true);
  events_due_ = absl::InfinitePast();
  fid* waited[] = {&fabric_.completions->fid, &fabric_.events->fid};
  return fi_trywait(fabric_.fabric.get(), waited, std::size(waited)) ==
         FI_SUCCESS;
}

void LibfabricTransport::Poll(std::vector<Arrival>& arrivals) {
  if (is_waiting_) SetWatched(false);
  const bool has_all = ReadCompletions(arrivals);
  const absl::Time now = Now();
  if (is_armed_) {
    uint64_t ignored = 0;
    (void)!read(timer_fd_, &ignored, sizeof(ignored));
    events_due_ = absl::InfinitePast();
  }
  // The end of a connection comes after all that it carried.
  if (has_all && now >= events_due_) ReadEvents(now);
  if (std::erase_if(expected_, [now](const auto& one) {
        return one.second.until <= now;
      }) > 0) {
    (void)FilterExpected();
  }
  for (auto& [id, peer] : peers_) {
    if (!peer.queue.empty() || peer.due > absl::InfinitePast()) {
      Advance(id, peer, now);
    }
  }
  if (is_armed_) ArmTimer();
}

bool LibfabricTransport::ReadCompletions(std::vector<Arrival>& arrivals) {
  for (int i = 0; i < kReadsPerPoll; ++i) {
    fi_cq_msg_entry entries[kCompletionsPerRead];
    const ssize_t count =
        fi_cq_read(fabric_.completions.get(), entries, kCompletionsPerRead);
    if (count == -FI_EAVAIL) {
      CompleteWithError();
      continue;
    }
    if (count <= 0) return true;
    for (ssize_t k = 0; k < count; ++k) Complete(entries[k], arrivals);
  }
  return false;
}

void LibfabricTransport::Complete(const fi_cq_msg_entry& entry,
                                  std::vector<Arrival>& arrivals) {
  const auto* operation = static_cast<FabricOperation*>(entry.op_context);
  FabricLink* const link = operation->link;
  FabricLink::Completed completed =
      link->Complete(Now(), operation, static_cast<int64_t>(entry.len), pool_);
  if (completed.sent_bytes.has_value()) {
    const auto it = peers_.find(link->peer());
    if (it != peers_.end()) it->second.bytes -= *completed.sent_bytes;
  }
  if (completed.message.has_value()) {
    arrivals.push_back({link->peer(), *std::move(completed.message)});
  }
  if (!completed.is_sound) {
    ++refused_count_;
    CloseLink(link);
    return;
  }
  EraseIfDone(link);
}

void LibfabricTransport::CompleteWithError() {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(fabric_.completions.get(), &entry, 0) <= 0) return;
  const auto* operation = static_cast<FabricOperation*>(entry.op_context);
  if (operation == nullptr) return;
  FabricLink* const link = operation->link;
  link->NoteFailed();
  // A connection with a failed operation is of no use.
  if (!link->IsClosed()) return EndLink(link, Now());
  EraseIfDone(link);
}

}  // namespace
}  // namespace dogged

extern "C" __attribute__((visibility("default"))) dogged::FabricTransport*
dogged_make_fabric_transport(const dogged::FabricOptions& options,
                             std::string& error) {
  auto transport = std::make_unique<dogged::LibfabricTransport>(options);
  error = transport->Open();
  return error.empty() ? transport.release() : nullptr;
}
