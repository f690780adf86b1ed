// Transport over libfabric: reliable datagram endpoints (FI_EP_RDM), here
// through `tcp;ofi_rxm`, the provider that sleeps properly. Built as a module.
//
// libfabric says nothing of a peer's death: sends to it get EAGAIN for ever or
// never complete. So each peer has a window of operations and a bounded queue
// of its own, and an operation in flight keeps its buffer until it completes or
// the endpoint is closed. Addresses are never removed from the address vector:
// a send to a removed one crashes.
#include "routing/fabric/fabric_transport.h"

#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "routing/control/socket_address.h"
#include "routing/fabric/fabric_buffers.h"
#include "routing/fabric/providers.h"
#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/codec.h"

namespace dogged {
namespace {

constexpr int kReceivesPosted = 64;
constexpr int kWindow = 16;  // operations in flight to one peer
constexpr int kCompletionsPerRead = 32;
constexpr int kReadsPerPoll = 32;
// Bytes of a message beyond limits.segment_bytes, at most.
constexpr int64_t kHeadersBytesMax = 1024;
constexpr absl::Duration kRetryFirst = absl::Milliseconds(1);
constexpr absl::Duration kRetryMost = absl::Milliseconds(100);

// Leads each message: magic, length of the rest, source, target.
constexpr uint32_t kMagic = 0x46474f44;
constexpr int64_t kHeaderBytes = 24;

std::string HeaderOf(AgentId source, AgentId target, int64_t length) {
  Encoder encoder;
  encoder.PutU32(kMagic);
  encoder.PutU32(static_cast<uint32_t>(length));
  encoder.PutId(source);
  encoder.PutId(target);
  return encoder.Take();
}

std::string FabricError(absl::string_view what, ssize_t code) {
  return absl::StrCat(what, ": ", fi_strerror(static_cast<int>(-code)));
}

static_assert(sizeof(fi_context2) <= sizeof(FabricOperation::context));

struct FidCloser {
  template <typename F>
  void operator()(F* object) const {
    fi_close(&object->fid);
  }
};
template <typename F>
using FidPtr = std::unique_ptr<F, FidCloser>;

class FabricTransport : public Transport {
 public:
  explicit FabricTransport(const FabricOptions& options)
      : options_(options),
        pool_(std::make_shared<BufferPool>(options.limits.segment_bytes +
                                           kHeadersBytesMax + kHeaderBytes)) {}
  ~FabricTransport() override;

  // Empty, or the error in words.
  std::string Open();

  void Send(AgentId to, Bytes message) override;
  void Poll(std::vector<Arrival>& arrivals) override;
  void SetPeer(AgentId peer, absl::string_view fabric_address) override;
  void ForgetPeer(AgentId peer) override;
  std::string address() const override { return address_; }
  int64_t queued_bytes(AgentId peer) const override;
  int wait_fd() const override { return epoll_fd_; }
  bool PrepareToWait() override;
  void SetWaiting(bool is_waiting) override;
  bool HasArrivals() const override;
  int64_t dropped_count() const override { return dropped_count_; }

 private:
  struct Peer {
    fi_addr_t address = FI_ADDR_UNSPEC;
    int in_flight = 0;
    int64_t bytes = 0;  // queued and in flight
    std::deque<std::unique_ptr<SendOperation>> queue;
    // libfabric said "again": not before this.
    absl::Time retry_at = absl::InfinitePast();
    absl::Duration retry_after = kRetryFirst;
  };

  std::string FindProvider();
  std::string OpenEndpoint();
  std::string OpenWait();
  void PostReceives();
  void Complete(const fi_cq_msg_entry& entry, std::vector<Arrival>& arrivals);
  void CompleteWithError();
  void FinishSend(SendOperation* operation);
  void TakeMessage(std::unique_ptr<ReceiveBuffer> buffer, int64_t size,
                   std::vector<Arrival>& arrivals);
  void Push(Peer& peer, absl::Time now);
  void ArmTimer();
  void SetWatched(bool is_watched);

  FabricOptions options_;
  std::shared_ptr<BufferPool> pool_;
  SystemClock clock_;
  std::string address_;

  struct InfoFreer {
    void operator()(fi_info* info) const { fi_freeinfo(info); }
  };
  // Closed in the opposite order; buffers in flight go after the endpoint.
  std::map<SendOperation*, std::unique_ptr<SendOperation>> sending_;
  std::map<ReceiveBuffer*, std::unique_ptr<ReceiveBuffer>> receiving_;
  std::unique_ptr<fi_info, InfoFreer> info_;
  FidPtr<fid_fabric> fabric_;
  FidPtr<fid_domain> domain_;
  FidPtr<fid_av> av_;
  FidPtr<fid_cq> cq_;
  FidPtr<fid_ep> endpoint_;

  std::map<AgentId, Peer> peers_;
  std::map<std::string, fi_addr_t> addresses_;
  int epoll_fd_ = -1;
  int timer_fd_ = -1;
  bool is_armed_ = false;
  int cq_fd_ = -1;
  bool is_waiting_ = false;  // a thread, for epoll_fd_
  // Completions make epoll_fd_ readable. Not so while another thread than the
  // waiting one uses this, for that one polls.
  bool is_watched_ = true;
  int64_t dropped_count_ = 0;
};

FabricTransport::~FabricTransport() {
  endpoint_.reset();
  if (timer_fd_ >= 0) close(timer_fd_);
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

// --- Opening -------------------------------------------------------------

// Sets variables that the provider has no interface for, unless the user has
// set them. Whole messages travel eagerly, which takes 1.2 to 2 times less
// time; libfabric then holds two pools of 1024 buffers of that length.
void TuneProvider(int64_t message_bytes) {
  const std::string buffer_bytes =
      absl::StrCat((message_bytes + 8191) / 4096 * 4096);
  const std::pair<const char*, const char*> settings[] = {
      {"FI_OFI_RXM_BUFFER_SIZE", buffer_bytes.c_str()},
      {"FI_OFI_RXM_TX_SIZE", "256"},
      {"FI_OFI_RXM_RX_SIZE", "256"},
      {"FI_OFI_RXM_MSG_TX_SIZE", "32"},
      {"FI_OFI_RXM_MSG_RX_SIZE", "32"},
      {"FI_OFI_RXM_USE_SRX", "1"},
  };
  for (const auto& [name, text] : settings) setenv(name, text, 0);
}

std::string FabricTransport::Open() {
  TuneProvider(pool_->size());
  std::string error = FindProvider();
  if (error.empty()) error = OpenEndpoint();
  if (error.empty()) error = OpenWait();
  if (error.empty()) PostReceives();
  return error;
}

std::string FabricTransport::FindProvider() {
  std::vector<std::string> names(FabricProviders().begin(),
                                 FabricProviders().end());
  if (!options_.provider.empty()) names = {options_.provider};
  int code = -FI_ENODATA;
  for (const std::string& name : names) {
    fi_info* found = nullptr;
    code = FindFabricProvider(name, options_.host, options_.port, found);
    if (code == 0) {
      info_.reset(found);
      return "";
    }
  }
  return FabricError(
      absl::StrCat("no libfabric provider of reliable datagrams (tried ",
                   names.front(), ") at ", options_.host),
      code);
}

std::string FabricTransport::OpenEndpoint() {
  fid_fabric* fabric = nullptr;
  int code = fi_fabric(info_->fabric_attr, &fabric, nullptr);
  if (code != 0) return FabricError("fi_fabric", code);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  code = fi_domain(fabric, info_.get(), &domain, nullptr);
  if (code != 0) return FabricError("fi_domain", code);
  domain_.reset(domain);
  fi_av_attr av_attr{};
  fid_av* av = nullptr;
  code = fi_av_open(domain, &av_attr, &av, nullptr);
  if (code != 0) return FabricError("fi_av_open", code);
  av_.reset(av);
  fi_cq_attr cq_attr{};
  cq_attr.size = 4096;
  cq_attr.format = FI_CQ_FORMAT_MSG;
  cq_attr.wait_obj = FI_WAIT_FD;
  fid_cq* cq = nullptr;
  code = fi_cq_open(domain, &cq_attr, &cq, nullptr);
  if (code != 0) return FabricError("fi_cq_open", code);
  cq_.reset(cq);
  fid_ep* endpoint = nullptr;
  code = fi_endpoint(domain, info_.get(), &endpoint, nullptr);
  if (code != 0) return FabricError("fi_endpoint", code);
  endpoint_.reset(endpoint);
  code = fi_ep_bind(endpoint, &av->fid, 0);
  if (code == 0) code = fi_ep_bind(endpoint, &cq->fid, FI_SEND | FI_RECV);
  if (code == 0) code = fi_enable(endpoint);
  if (code != 0) return FabricError("fi_enable", code);
  SocketAddress at;
  size_t size = sizeof(at.storage);
  code = fi_getname(&endpoint->fid, &at.storage, &size);
  if (code != 0) return FabricError("fi_getname", code);
  if (at.family() != AF_INET && at.family() != AF_INET6) {
    return absl::StrCat("provider ", info_->fabric_attr->prov_name,
                        " has no IP addresses");
  }
  address_ = at.ToString();
  return "";
}

std::string FabricTransport::OpenWait() {
  const int code = fi_control(&cq_->fid, FI_GETWAIT, &cq_fd_);
  if (code != 0) return FabricError("fi_control(FI_GETWAIT)", code);
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  for (int fd : {cq_fd_, timer_fd_}) {
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

void FabricTransport::SetPeer(AgentId peer, absl::string_view fabric_address) {
  const std::string text(
      fabric_address.substr(0, fabric_address.find(kOtherWay)));
  auto [known, is_new] = addresses_.try_emplace(text, FI_ADDR_UNSPEC);
  if (is_new) {
    const absl::StatusOr<SocketAddress> at = ResolveAddress(text);
    if (!at.ok() || fi_av_insert(av_.get(), at->get(), 1, &known->second, 0,
                                 nullptr) != 1) {
      addresses_.erase(known);
      return;  // sends to it will be dropped and counted
    }
  }
  peers_[peer].address = known->second;
}

void FabricTransport::ForgetPeer(AgentId peer) {
  auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  dropped_count_ += std::ssize(it->second.queue);
  peers_.erase(it);
}

int64_t FabricTransport::queued_bytes(AgentId peer) const {
  auto it = peers_.find(peer);
  return it == peers_.end() ? 0 : it->second.bytes;
}

// --- Sending -------------------------------------------------------------

void FabricTransport::Send(AgentId to, Bytes message) {
  auto it = peers_.find(to);
  if (it == peers_.end() || message.size() > pool_->size() - kHeaderBytes ||
      it->second.bytes + message.size() > options_.limits.outbox_bytes_max) {
    ++dropped_count_;
    return;
  }
  if (is_waiting_) SetWatched(false);
  Peer& peer = it->second;
  auto operation = std::make_unique<SendOperation>();
  operation->is_send = true;
  operation->to = to;
  operation->header = HeaderOf(options_.self, to, message.size());
  operation->message = std::move(message);
  peer.bytes += operation->message.size();
  peer.queue.push_back(std::move(operation));
  if (peer.retry_at == absl::InfinitePast()) Push(peer, absl::InfinitePast());
}

// Hands over as much of the queue as the window and libfabric allow.
void FabricTransport::Push(Peer& peer, absl::Time now) {
  while (!peer.queue.empty() && peer.in_flight < kWindow) {
    SendOperation& operation = *peer.queue.front();
    operation.pieces[0] = {operation.header.data(), operation.header.size()};
    operation.pieces[1] = {const_cast<char*>(operation.message.data()),
                           static_cast<size_t>(operation.message.size())};
    const ssize_t code =
        fi_sendv(endpoint_.get(), operation.pieces.data(), nullptr,
                 operation.pieces.size(), peer.address, &operation.context);
    if (code == -FI_EAGAIN) {
      if (now == absl::InfinitePast()) now = clock_.Now();
      peer.retry_at = now + peer.retry_after;
      peer.retry_after = std::min(2 * peer.retry_after, kRetryMost);
      ArmTimer();
      return;
    }
    std::unique_ptr<SendOperation> front = std::move(peer.queue.front());
    peer.queue.pop_front();
    peer.retry_at = absl::InfinitePast();
    if (code != 0) {
      peer.bytes -= front->message.size();
      ++dropped_count_;
      continue;
    }
    peer.retry_after = kRetryFirst;
    ++peer.in_flight;
    SendOperation* key = front.get();
    sending_.emplace(key, std::move(front));
  }
}

void FabricTransport::FinishSend(SendOperation* operation) {
  auto it = sending_.find(operation);
  DOGGED_CHECK(it != sending_.end());
  auto peer = peers_.find(operation->to);
  if (peer != peers_.end() && peer->second.in_flight > 0) {
    --peer->second.in_flight;
    peer->second.bytes =
        std::max<int64_t>(0, peer->second.bytes - operation->message.size());
  }
  sending_.erase(it);
}

// Wakes the sleeper when the first peer is due for another try.
void FabricTransport::ArmTimer() {
  absl::Time first = absl::InfiniteFuture();
  for (const auto& [id, peer] : peers_) {
    if (!peer.queue.empty() && peer.retry_at != absl::InfinitePast()) {
      first = std::min(first, peer.retry_at);
    }
  }
  itimerspec when{};
  is_armed_ = first != absl::InfiniteFuture();
  const auto delay = std::max(first - clock_.Now(), absl::Microseconds(10));
  if (is_armed_) when.it_value = absl::ToTimespec(delay);
  timerfd_settime(timer_fd_, 0, &when, nullptr);
}

// --- Receiving -----------------------------------------------------------

void FabricTransport::PostReceives() {
  while (std::ssize(receiving_) < kReceivesPosted) {
    std::unique_ptr<ReceiveBuffer> buffer = pool_->Take();
    const ssize_t code = fi_recv(endpoint_.get(), buffer->bytes.get(),
                                 static_cast<size_t>(pool_->size()), nullptr,
                                 FI_ADDR_UNSPEC, &buffer->context);
    if (code != 0) {  // tried again at the next Poll
      pool_->Give(std::move(buffer));
      return;
    }
    ReceiveBuffer* key = buffer.get();
    receiving_.emplace(key, std::move(buffer));
  }
}

void FabricTransport::SetWatched(bool is_watched) {
  if (std::exchange(is_watched_, is_watched) == is_watched) return;
  epoll_event event{};
  event.events = is_watched ? uint32_t{EPOLLIN} : 0;
  event.data.fd = cq_fd_;
  DOGGED_CHECK(epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, cq_fd_, &event) == 0);
}

void FabricTransport::SetWaiting(bool is_waiting) {
  is_waiting_ = is_waiting;
  if (!is_waiting) SetWatched(true);
}

bool FabricTransport::HasArrivals() const {
  if (is_watched_) return false;
  fid* waited[] = {&cq_->fid};
  if (fi_trywait(fabric_.get(), waited, 1) != FI_SUCCESS) return true;
  pollfd fd{.fd = cq_fd_, .events = POLLIN, .revents = 0};
  return poll(&fd, 1, 0) > 0;
}

void FabricTransport::Poll(std::vector<Arrival>& arrivals) {
  if (is_waiting_) SetWatched(false);
  for (int i = 0; i < kReadsPerPoll; ++i) {
    fi_cq_msg_entry entries[kCompletionsPerRead];
    // Where a foreign connection ends after too few bytes, the provider goes
    // by errno: with an old EAGAIN it would keep it, readable for ever.
    errno = 0;
    const ssize_t count = fi_cq_read(cq_.get(), entries, kCompletionsPerRead);
    if (count == -FI_EAVAIL) {
      CompleteWithError();
      continue;
    }
    if (count <= 0) break;
    for (ssize_t k = 0; k < count; ++k) Complete(entries[k], arrivals);
    PostReceives();
  }
  PostReceives();
  uint64_t ignored = 0;
  if (is_armed_) (void)!read(timer_fd_, &ignored, sizeof(ignored));
  bool must_arm = is_armed_;
  absl::Time now = absl::InfinitePast();
  for (auto& [id, peer] : peers_) {
    if (peer.queue.empty()) continue;
    if (now == absl::InfinitePast()) now = clock_.Now();
    if (peer.retry_at <= now) Push(peer, now);
    must_arm = must_arm || !peer.queue.empty();
  }
  if (must_arm) ArmTimer();
}

void FabricTransport::Complete(const fi_cq_msg_entry& entry,
                               std::vector<Arrival>& arrivals) {
  auto* operation = static_cast<FabricOperation*>(entry.op_context);
  if (operation->is_send) {
    FinishSend(static_cast<SendOperation*>(operation));
    return;
  }
  auto it = receiving_.find(static_cast<ReceiveBuffer*>(operation));
  DOGGED_CHECK(it != receiving_.end());
  std::unique_ptr<ReceiveBuffer> buffer = std::move(it->second);
  receiving_.erase(it);
  TakeMessage(std::move(buffer), static_cast<int64_t>(entry.len), arrivals);
}

void FabricTransport::CompleteWithError() {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(cq_.get(), &entry, 0) <= 0) return;
  ++dropped_count_;
  auto* operation = static_cast<FabricOperation*>(entry.op_context);
  if (operation == nullptr) return;
  if (operation->is_send) {
    FinishSend(static_cast<SendOperation*>(operation));
    return;
  }
  auto it = receiving_.find(static_cast<ReceiveBuffer*>(operation));
  if (it == receiving_.end()) return;
  pool_->Give(std::move(it->second));
  receiving_.erase(it);
}

// Passes the message in `buffer` on, if it is for this incarnation.
void FabricTransport::TakeMessage(std::unique_ptr<ReceiveBuffer> buffer,
                                  int64_t size,
                                  std::vector<Arrival>& arrivals) {
  const absl::string_view all(buffer->bytes.get(), static_cast<size_t>(size));
  Decoder decoder(all);
  const uint32_t magic = decoder.GetU32();
  const int64_t length = decoder.GetU32();
  const auto source = decoder.GetId<AgentId>();
  const auto target = decoder.GetId<AgentId>();
  if (!decoder.ok() || magic != kMagic || target != options_.self ||
      source.IsNone() || length != decoder.remaining()) {
    ++dropped_count_;
    pool_->Give(std::move(buffer));
    return;
  }
  const absl::string_view message = all.substr(kHeaderBytes);
  // A short message is copied, so that it does not hold a long buffer.
  if (length < pool_->size() / 4) {
    arrivals.push_back({source, Bytes::CopyOf(message)});
    pool_->Give(std::move(buffer));
    return;
  }
  std::shared_ptr<const void> owner(
      buffer.release(), [pool = pool_](ReceiveBuffer* used) {
        pool->Give(std::unique_ptr<ReceiveBuffer>(used));
      });
  arrivals.push_back({source, Bytes(std::move(owner), message)});
}

bool FabricTransport::PrepareToWait() {
  SetWatched(true);
  fid* waited[] = {&cq_->fid};
  return fi_trywait(fabric_.get(), waited, 1) == FI_SUCCESS;
}

}  // namespace
}  // namespace dogged

extern "C" __attribute__((visibility("default"))) dogged::Transport*
dogged_make_fabric_transport(const dogged::FabricOptions& options,
                             std::string& error) {
  auto transport = std::make_unique<dogged::FabricTransport>(options);
  error = transport->Open();
  return error.empty() ? transport.release() : nullptr;
}
