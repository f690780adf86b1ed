#include "routing/host_transport.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

constexpr size_t kPeersMax = 32;  // of one host; others go the other way
constexpr uint64_t kRingBytes = 256 << 10;  // a power of two
// Longer messages would fill a ring; they go the other way.
constexpr int64_t kMessageBytesMax = kRingBytes / 4;
// So much is held for a peer, and so long while it has not mapped this region.
constexpr int64_t kHeldBytesMax = 8 << 20;
constexpr absl::Duration kMapTime = absl::Milliseconds(50);

uint64_t Padded(uint64_t bytes) { return (bytes + 15) / 8 * 8; }

}  // namespace

// What an agent writes and its peers read.
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
  // It is about to sleep, or sleeps: its bell is to be rung.
  alignas(64) std::atomic<uint32_t> sleeps;
  std::array<Mark, kPeersMax> marks;
  std::array<Ring, kPeersMax> rings;
};

struct HostTransport::Peer {
  ~Peer() {
    if (bell >= 0) close(bell);
  }
  std::unique_ptr<PeerFile> file;  // null: the other way only
  const Region* region = nullptr;
  int bell = -1;
  // Slots in the own region.
  size_t ring = 0;
  size_t mark = 0;
  // Slots in the peer's; none until it has set them up.
  const Region::Ring* theirs = nullptr;
  const Region::Mark* their_mark = nullptr;
  std::deque<Bytes> held;
  int64_t held_bytes = 0;
  // Without a slot in its region by then it is reached the other way.
  absl::Time map_deadline;

  // It maps this region, or may yet.
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
  int bell[2] = {-1, -1};
  if (file == nullptr || far->wait_fd() < 0 ||
      pipe2(bell, O_CLOEXEC | O_NONBLOCK) != 0) {
    return far;
  }
  // Descriptors of epoll nest only so deep: if the other way waits on one, the
  // bell goes in there.
  epoll_event event{};
  event.events = EPOLLIN;
  int epoll_fd = -1;
  if (epoll_ctl(far->wait_fd(), EPOLL_CTL_ADD, bell[0], &event) != 0) {
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int fd : {bell[0], far->wait_fd()}) {
      DOGGED_CHECK(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
          << "waiting descriptor of the host's agents: error " << errno;
    }
  }
  return std::unique_ptr<Transport>(
      new HostTransport(self, std::move(far), clock, std::move(file),
                        {bell[0], bell[1]}, epoll_fd));
}

HostTransport::HostTransport(AgentId self, std::unique_ptr<Transport> far,
                             Clock& clock, std::unique_ptr<SharedFile> file,
                             std::pair<int, int> bell, int epoll_fd)
    : self_(self),
      far_(std::move(far)),
      clock_(clock),
      file_(std::move(file)),
      region_(*new (file_->memory() + SharedFile::kHeaderBytes) Region),
      bell_read_(bell.first),
      bell_write_(bell.second),
      epoll_fd_(epoll_fd),
      address_(absl::StrCat(far_->address(), std::string(1, kOtherWay),
                            bell_write_, std::string(1, kOtherWay),
                            file_->address())) {}

HostTransport::~HostTransport() {
  if (epoll_fd_ >= 0) close(epoll_fd_);
  close(bell_read_);
  close(bell_write_);
}

void HostTransport::SetPeer(AgentId peer, absl::string_view fabric_address) {
  const size_t first = fabric_address.find(kOtherWay);
  far_->SetPeer(peer, fabric_address.substr(0, first));
  if (first == absl::string_view::npos || peers_.contains(peer)) return;
  absl::string_view rest = fabric_address.substr(first + 1);
  const size_t second = rest.find(kOtherWay);
  int64_t bell = -1;
  if (second == absl::string_view::npos ||
      !absl::SimpleAtoi(rest.substr(0, second), &bell)) {
    return;
  }
  auto& entry = peers_[peer];
  entry = std::make_unique<Peer>();
  auto file = PeerFile::Map(rest.substr(second + 1));
  if (!file.ok() ||
      (*file)->bytes() !=
          SharedFile::kHeaderBytes + static_cast<int64_t>(sizeof(Region))) {
    return;
  }
  entry->bell = (*file)->OpenPipe(bell);
  if (entry->bell < 0) return;
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
  (void)!write(entry->bell, "!", 1);  // it may hold messages for this moment
  entry->map_deadline = clock_.Now() + kMapTime;
  entry->region = reinterpret_cast<const Region*>((*file)->memory() +
                                                  SharedFile::kHeaderBytes);
  entry->file = *std::move(file);
}

void HostTransport::ForgetPeer(AgentId peer) {
  far_->ForgetPeer(peer);
  const auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  dropped_count_ += std::ssize(it->second->held);
  if (it->second->file != nullptr) {
    region_.rings[it->second->ring].reader.store(0);
    region_.marks[it->second->mark].writer.store(0);
  }
  peers_.erase(it);
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
  if (peer.region->sleeps.load(std::memory_order_seq_cst) != 0) {
    (void)!write(peer.bell, "!", 1);
  }
  ++ring_count_;
  return true;
}

void HostTransport::Send(AgentId to, Bytes message) {
  const auto it = peers_.find(to);
  if (it == peers_.end() || it->second->file == nullptr ||
      message.size() > kMessageBytesMax) {
    return far_->Send(to, std::move(message));
  }
  Peer& peer = *it->second;
  if (peer.held.empty() && Push(peer, message)) return;
  if (!peer.HasRing(clock_) ||
      peer.held_bytes + message.size() > kHeldBytesMax) {
    return far_->Send(to, std::move(message));
  }
  peer.held_bytes += message.size();
  peer.held.push_back(std::move(message));
}

void HostTransport::PushHeld(AgentId to, Peer& peer) {
  while (!peer.held.empty()) {
    Bytes& message = peer.held.front();
    if (!Push(peer, message)) {
      if (peer.HasRing(clock_)) return;
      far_->Send(to, message);
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
    // Not what Push() writes: nothing more is believed of this ring.
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
  // Given to another meanwhile: that was for him.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (peer.theirs->reader.load() != self_.value()) {
    arrivals.resize(before);
    return;
  }
  if (read == mark.load(std::memory_order_relaxed)) return;
  mark.store(read, std::memory_order_seq_cst);
  if (peer.theirs->is_full.load(std::memory_order_seq_cst) != 0) {
    (void)!write(peer.bell, "!", 1);
  }
}

bool HostTransport::HasArrivals() const {
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
  region_.sleeps.store(0, std::memory_order_relaxed);
  char rings[64];
  if (rang_) {
    while (read(bell_read_, rings, sizeof(rings)) == sizeof(rings)) {
    }
    rang_ = false;
  }
  for (auto& [id, peer] : peers_) {
    if (peer->file == nullptr) continue;
    Pull(id, *peer, arrivals);
    if (!peer->held.empty()) PushHeld(id, *peer);
  }
  far_->Poll(arrivals);
}

bool HostTransport::PrepareToWait() {
  // First said, then looked: whoever writes looks after that whether to ring.
  region_.sleeps.store(1, std::memory_order_seq_cst);
  rang_ = true;
  for (auto& [id, peer] : peers_) {
    if (peer->file != nullptr) peer->Find(self_, region_);
  }
  if (!HasArrivals() && far_->PrepareToWait()) return true;
  region_.sleeps.store(0, std::memory_order_relaxed);
  return false;
}

}  // namespace dogged
