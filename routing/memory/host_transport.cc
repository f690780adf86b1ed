#include "routing/memory/host_transport.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

constexpr size_t kPeersMax = 32;            // of one host; `far` serves more
constexpr uint64_t kRingBytes = 256 << 10;  // a power of two
// Longer messages would fill a ring; they go by `far`.
constexpr int64_t kMessageBytesMax = kRingBytes / 4;
// So that several find room.
constexpr int64_t kCutBytes = kRingBytes / 8;
// Bytes held for a peer, and how long they are held while it has not mapped
// this region: on a busy host a newcomer takes a while.
constexpr int64_t kHeldBytesMax = 8 << 20;
constexpr absl::Duration kMapTime = absl::Milliseconds(500);
// While rings have messages, `far` is polled at this interval.
constexpr absl::Duration kFarWithin = absl::Microseconds(50);
// Interval of looking for processes that have ended, some microseconds a peer.
constexpr absl::Duration kReleaseInterval = absl::Seconds(1);

uint64_t Padded(uint64_t bytes) { return (bytes + 15) / 8 * 8; }

}  // namespace

// Region: memory that an agent writes and its peers read.
struct HostTransport::Region {
  struct Ring {
    std::atomic<uint64_t> reader;  // an AgentId; 0: free
    // The writer holds messages: its bell is to be rung when there is room.
    std::atomic<uint32_t> is_full;
    alignas(64) std::atomic<uint64_t> written;  // bytes, ever
    alignas(64) char bytes[kRingBytes];         // u64 length, the message
  };
  struct Mark {
    std::atomic<uint64_t> writer;            // an AgentId; 0: free
    alignas(64) std::atomic<uint64_t> read;  // bytes of its ring, ever
  };
  // The Sleeper that is about to sleep, or sleeps: its bell is to be rung, once
  // for each sleep. Above its two bits is the number of the sleep.
  alignas(64) std::atomic<uint32_t> sleeps;
  std::array<Mark, kPeersMax> marks;
  std::array<Ring, kPeersMax> rings;
};

struct HostTransport::Peer {
  ~Peer() { CloseBells(); }
  void CloseBells() {
    for (int& bell : bells) {
      if (bell >= 0) close(bell);
      bell = -1;
    }
  }
  std::unique_ptr<PeerFile> file;  // null: the other way only
  bool has_ended = false;          // no way leads there any more
  const Region* region = nullptr;
  std::array<int, 2> bells = {-1, -1};  // by its sleeper
  // Slots in the own region.
  size_t ring = 0;
  size_t mark = 0;
  // Slots in the peer's; none until it has set them up.
  const Region::Ring* theirs = nullptr;
  const Region::Mark* their_mark = nullptr;
  std::list<Bytes> held;  // none takes no memory
  int64_t held_bytes = 0;
  uint32_t rung = 0;  // the sleep from which it was woken last
  // Without a slot in its region by then it is reached the other way.
  absl::Time map_deadline;

  void Ring(Sleeper sleeper) const { (void)!write(bells[sleeper - 1], "!", 1); }

  // Rings for its sleeper, if it has one that was not rung yet.
  void Wake() {
    const uint32_t sleep = region->sleeps.load(std::memory_order_seq_cst);
    const auto sleeper = static_cast<Sleeper>(sleep % kSleepStep);
    if (sleeper != kNobody && std::exchange(rung, sleep) != sleep) {
      Ring(sleeper == kListener ? kListener : kWaiter);
    }
  }

  // The peer maps this region, or may yet.
  bool HasRing(Clock& clock) const {
    return their_mark != nullptr || clock.Now() < map_deadline;
  }

  // Finds them anew if the peer has given them to another: it took this agent
  // for dead. `own` is this agent's region.
  void Find(AgentId self, Region& own) {
    if (theirs == nullptr || theirs->reader.load() != self.value()) {
      theirs = nullptr;
      for (const Region::Ring& one : region->rings) {
        if (one.reader.load() == self.value()) theirs = &one;
      }
      own.marks[mark].read.store(0);
    }
    if (their_mark == nullptr || their_mark->writer.load() != self.value()) {
      their_mark = nullptr;
      for (const Region::Mark& one : region->marks) {
        if (one.writer.load() == self.value()) their_mark = &one;
      }
    }
  }
};

std::unique_ptr<Transport> HostTransport::Wrap(AgentId self,
                                               std::unique_ptr<Transport> far,
                                               Clock& clock) {
  const int64_t bytes = SharedFile::kHeaderBytes + sizeof(Region);
  std::unique_ptr<SharedFile> file = SharedFile::Create(bytes, self.value());
  if (file == nullptr || far->wait_fd() < 0) return far;
  Bells bells;
  for (Bell& bell : bells) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
      CloseAll(bells);
      return far;
    }
    bell = {.read = ends[0], .write = ends[1]};
  }
  // Descriptors of epoll nest only so deep: if the other way waits on one, the
  // bell goes in there.
  epoll_event event{};
  event.events = EPOLLIN;
  int epoll_fd = -1;
  const int bell = bells[kWaiter - 1].read;
  if (epoll_ctl(far->wait_fd(), EPOLL_CTL_ADD, bell, &event) != 0) {
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int fd : {bell, far->wait_fd()}) {
      DOGGED_CHECK(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
          << "waiting descriptor of the host's agents: error " << errno;
    }
  }
  return std::unique_ptr<Transport>(new HostTransport(
      self, std::move(far), clock, std::move(file), bells, epoll_fd));
}

HostTransport::HostTransport(AgentId self, std::unique_ptr<Transport> far,
                             Clock& clock, std::unique_ptr<SharedFile> file,
                             const Bells& bells, int epoll_fd)
    : self_(self),
      far_(std::move(far)),
      clock_(clock),
      file_(std::move(file)),
      region_(*new (file_->memory() + SharedFile::kHeaderBytes) Region),
      bells_(bells),
      epoll_fd_(epoll_fd),
      address_(absl::StrJoin({far_->address(), absl::StrCat(bells[0].write),
                              absl::StrCat(bells[1].write), file_->address()},
                             std::string(1, kOtherWay))) {}

HostTransport::~HostTransport() {
  if (epoll_fd_ >= 0) close(epoll_fd_);
  CloseAll(bells_);
}

void HostTransport::CloseAll(const Bells& bells) {
  for (const Bell& bell : bells) {
    if (bell.read < 0) continue;
    close(bell.read);
    close(bell.write);
  }
}

void HostTransport::SetPeer(AgentId peer, absl::string_view fabric_address) {
  const size_t first = fabric_address.find(kOtherWay);
  UseFar().SetPeer(peer, fabric_address.substr(0, first));
  if (first == absl::string_view::npos || peers_.contains(peer)) return;
  absl::string_view rest = fabric_address.substr(first + 1);
  std::array<int64_t, 2> bells;
  for (int64_t& bell : bells) {
    const size_t end = rest.find(kOtherWay);
    if (end == absl::string_view::npos ||
        !absl::SimpleAtoi(rest.substr(0, end), &bell)) {
      return;
    }
    rest.remove_prefix(end + 1);
  }
  auto& entry = peers_[peer];
  entry = std::make_unique<Peer>();
  auto file = PeerFile::Map(rest);
  if (!file.ok() ||
      (*file)->bytes() !=
          SharedFile::kHeaderBytes + static_cast<int64_t>(sizeof(Region))) {
    return;
  }
  for (size_t i = 0; i < bells.size(); ++i) {
    entry->bells[i] = (*file)->OpenPipe(bells[i]);
    if (entry->bells[i] < 0) return;
  }
  size_t slot = 0;
  while (slot < kPeersMax && region_.rings[slot].reader.load() != 0) ++slot;
  if (slot == kPeersMax) return;
  entry->ring = slot;
  entry->mark = slot;
  region_.marks[slot].read.store(0);
  region_.rings[slot].written.store(0);
  region_.rings[slot].is_full.store(0);
  region_.marks[slot].writer.store(peer.value());
  region_.rings[slot].reader.store(peer.value());
  entry->Ring(kWaiter);  // it may hold messages for this moment
  entry->map_deadline = clock_.Now() + kMapTime;
  entry->region = reinterpret_cast<const Region*>((*file)->memory() +
                                                  SharedFile::kHeaderBytes);
  entry->file = *std::move(file);
}

void HostTransport::DropQueued(AgentId peer) { UseFar().DropQueued(peer); }

void HostTransport::ForgetPeer(AgentId peer) {
  UseFar().ForgetPeer(peer);
  const auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  Release(*it->second);
  peers_.erase(it);
}

void HostTransport::Release(Peer& peer) {
  if (peer.file == nullptr) return;
  dropped_count_ += std::ssize(peer.held);
  peer.held.clear();
  peer.held_bytes = 0;
  region_.rings[peer.ring].reader.store(0);
  region_.marks[peer.mark].writer.store(0);
  peer.CloseBells();
  peer.region = nullptr;
  peer.theirs = nullptr;
  peer.their_mark = nullptr;
  peer.file = nullptr;
}

void HostTransport::ReleaseEnded(std::vector<Arrival>& arrivals) {
  for (auto& [id, peer] : peers_) {
    if (peer->file == nullptr || !peer->file->HasEnded()) continue;
    Pull(id, *peer, arrivals);
    Release(*peer);
    peer->has_ended = true;
  }
}

bool HostTransport::Push(Peer& peer, const Bytes& message) {
  peer.Find(self_, region_);
  if (peer.their_mark == nullptr) return false;
  Region::Ring& ring = region_.rings[peer.ring];
  const uint64_t written = ring.written.load(std::memory_order_relaxed);
  const auto length = static_cast<uint64_t>(message.size());
  const auto has_room = [&] {
    const uint64_t read = peer.their_mark->read.load(std::memory_order_seq_cst);
    return written - read <= kRingBytes &&
           kRingBytes - (written - read) >= Padded(length);
  };
  // Before the second look, as the reader makes room before it looks at that.
  if (!has_room()) {
    ring.is_full.store(1, std::memory_order_seq_cst);
    if (!has_room()) return false;
  }
  const auto put = [&](uint64_t at, const void* from, uint64_t size) {
    at %= kRingBytes;
    const uint64_t head = std::min(size, kRingBytes - at);
    std::memcpy(ring.bytes + at, from, head);
    std::memcpy(ring.bytes, static_cast<const char*>(from) + head, size - head);
  };
  put(written, &length, sizeof(length));
  put(written + sizeof(length), message.data(), length);
  // Before the look at `sleeps`, as the sleeper says that before its last look
  // at this.
  ring.written.store(written + Padded(length), std::memory_order_seq_cst);
  peer.Wake();
  ++ring_count_;
  return true;
}

void HostTransport::Send(AgentId to, Bytes message) {
  const auto it = peers_.find(to);
  if (it != peers_.end() && it->second->has_ended) {
    ++dropped_count_;
    return;
  }
  if (it == peers_.end() || it->second->file == nullptr ||
      message.size() > kMessageBytesMax) {
    return UseFar().Send(to, std::move(message));
  }
  Peer& peer = *it->second;
  if (peer.held.empty() && Push(peer, message)) return;
  if (!peer.HasRing(clock_) ||
      peer.held_bytes + message.size() > kHeldBytesMax) {
    return UseFar().Send(to, std::move(message));
  }
  peer.held_bytes += message.size();
  peer.held.push_back(std::move(message));
}

void HostTransport::SendParts(AgentId to, const Bytes& head,
                              const Bytes& body) {
  if (UsesRing(to)) return Transport::SendParts(to, head, body);
  UseFar().SendParts(to, head, body);
}

int64_t HostTransport::message_bytes_max(AgentId to) const {
  return UsesRing(to) ? kCutBytes : far_->message_bytes_max(to);
}

bool HostTransport::UsesRing(AgentId to) const {
  const auto it = peers_.find(to);
  return it != peers_.end() &&
         (it->second->file != nullptr || it->second->has_ended);
}

void HostTransport::WakeEarly(AgentId to) {
  const auto it = peers_.find(to);
  if (it != peers_.end() && it->second->region != nullptr) it->second->Wake();
}

void HostTransport::PushHeld(AgentId to, Peer& peer) {
  while (!peer.held.empty()) {
    Bytes& message = peer.held.front();
    if (!Push(peer, message)) {
      if (peer.HasRing(clock_)) return;
      UseFar().Send(to, message);
    }
    peer.held_bytes -= message.size();
    peer.held.pop_front();
  }
  region_.rings[peer.ring].is_full.store(0, std::memory_order_relaxed);
}

int64_t HostTransport::queued_bytes(AgentId peer) const {
  const auto it = peers_.find(peer);
  const int64_t held = it == peers_.end() ? 0 : it->second->held_bytes;
  return held + far_->queued_bytes(peer);
}

void HostTransport::Pull(AgentId from, Peer& peer,
                         std::vector<Arrival>& arrivals) {
  peer.Find(self_, region_);
  if (peer.theirs == nullptr) return;
  const size_t before = arrivals.size();
  std::atomic<uint64_t>& mark = region_.marks[peer.mark].read;
  uint64_t read = mark.load(std::memory_order_relaxed);
  const uint64_t written = peer.theirs->written.load(std::memory_order_acquire);
  const auto get = [&](uint64_t at, void* to, uint64_t size) {
    at %= kRingBytes;
    const uint64_t head = std::min(size, kRingBytes - at);
    std::memcpy(to, peer.theirs->bytes + at, head);
    std::memcpy(static_cast<char*>(to) + head, peer.theirs->bytes, size - head);
  };
  while (read != written) {
    uint64_t length = 0;
    get(read, &length, sizeof(length));
    // Push() never writes this: the rest of the ring is not trusted.
    if (written - read > kRingBytes || length > kMessageBytesMax ||
        Padded(length) > written - read) {
      ++dropped_count_;
      read = written;
      break;
    }
    std::string message(length, '\0');
    get(read + sizeof(length), message.data(), length);
    read += Padded(length);
    arrivals.push_back({from, Bytes(std::move(message))});
  }
  // The ring was given to another reader meanwhile: the messages were for that
  // one.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (peer.theirs->reader.load() != self_.value()) {
    arrivals.resize(before);
    return;
  }
  if (read == mark.load(std::memory_order_relaxed)) return;
  mark.store(read, std::memory_order_seq_cst);
  if (peer.theirs->is_full.load(std::memory_order_seq_cst) != 0) {
    peer.Ring(kWaiter);
  }
}

bool HostTransport::HasArrivals() const {
  return HasRingArrivals() || far_->HasArrivals();
}

bool HostTransport::HasRingArrivals() const {
  for (const auto& [id, peer] : peers_) {
    if (peer->theirs == nullptr ||
        peer->theirs->reader.load() != self_.value()) {
      continue;
    }
    if (peer->theirs->written.load(std::memory_order_seq_cst) !=
        region_.marks[peer->mark].read.load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void HostTransport::Poll(std::vector<Arrival>& arrivals) {
  region_.sleeps.store(kNobody, std::memory_order_relaxed);
  char rings[64];
  for (Bell& bell : bells_) {
    if (!std::exchange(bell.may_ring, false)) continue;
    while (read(bell.read, rings, sizeof(rings)) == sizeof(rings)) {
    }
  }
  const size_t before = arrivals.size();
  for (auto& [id, peer] : peers_) {
    if (peer->file == nullptr) continue;
    Pull(id, *peer, arrivals);
    if (!peer->held.empty()) PushHeld(id, *peer);
  }
  if (is_waiting_ && is_far_prepared_) return;
  // Some system calls, which arrived messages need not wait for.
  const absl::Time now = clock_.Now();
  if (arrivals.size() > before && now < far_due_) return;
  far_due_ = now + kFarWithin;
  if (now >= next_release_) {
    next_release_ = now + kReleaseInterval;
    ReleaseEnded(arrivals);
  }
  UseFar().Poll(arrivals);
}

bool HostTransport::PrepareFor(Sleeper sleeper) {
  // The store comes before the look: a writer first writes, then looks whether
  // to ring.
  region_.sleeps.store(++sleep_count_ * kSleepStep + sleeper,
                       std::memory_order_seq_cst);
  bells_[sleeper - 1].may_ring = true;
  for (auto& [id, peer] : peers_) {
    if (peer->file != nullptr) peer->Find(self_, region_);
  }
  if (!HasRingArrivals()) {
    is_far_prepared_ = is_far_prepared_ || far_->PrepareToWait();
    if (is_far_prepared_) return true;
  }
  region_.sleeps.store(kNobody, std::memory_order_relaxed);
  return false;
}

}  // namespace dogged
