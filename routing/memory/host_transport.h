// HostTransport: messages between agents of one host through memory that both
// map; all other messages through another transport (`far`). Each agent writes
// its own region only: rings with its messages, and how far it has read the
// rings of its peers. Doorbells, pipes, wake agents that sleep.
//
// A message that finds no room in a ring is held until the reader has made
// some, and for a moment where the peer has yet to map this region: the first
// message through `far` makes a connection. A peer that does not map it, and
// messages longer than a quarter of a ring, go through `far`;
// messages may overtake each other then, as the port allows. Messages of a ring
// are copied before they are looked at, and checked like all. A peer whose
// process has ended gives its ring and its doorbells back within a second, long
// before it is forgotten: agents may die faster than that. Messages to it are
// dropped.
#ifndef DOGGED_ROUTING_MEMORY_HOST_TRANSPORT_H_
#define DOGGED_ROUTING_MEMORY_HOST_TRANSPORT_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "routing/memory/shared_file.h"
#include "routing/transport/transport.h"
#include "runtime/base/clock.h"

namespace dogged {

class HostTransport : public Transport {
 public:
  // `far` itself if memory can't be shared here. `clock` outlives it.
  static std::unique_ptr<Transport> Wrap(AgentId self,
                                         std::unique_ptr<Transport> far,
                                         Clock& clock);
  ~HostTransport() override;
  HostTransport(const HostTransport&) = delete;
  HostTransport& operator=(const HostTransport&) = delete;

  void Send(AgentId to, Bytes message) override;
  void SendParts(AgentId to, const Bytes& head, const Bytes& body) override;
  int64_t message_bytes_max(AgentId to) const override;
  void WakeEarly(AgentId to) override;
  void Poll(std::vector<Arrival>& arrivals) override;
  void SetPeer(AgentId peer, absl::string_view fabric_address) override;
  void DropQueued(AgentId peer) override;
  void ForgetPeer(AgentId peer) override;
  std::string address() const override { return address_; }
  int64_t queued_bytes(AgentId peer) const override;
  int wait_fd() const override {
    return epoll_fd_ >= 0 ? epoll_fd_ : far_->wait_fd();
  }
  bool PrepareToWait() override { return PrepareFor(kWaiter); }
  void SetWaiting(bool is_waiting) override {
    is_waiting_ = is_waiting;
    far_->SetWaiting(is_waiting);
  }
  int listen_fd() const override { return bells_[kListener - 1].read; }
  bool PrepareToListen() override { return PrepareFor(kListener); }
  bool HasArrivals() const override;
  int64_t dropped_count() const override {
    return dropped_count_ + far_->dropped_count();
  }
  int64_t refused_count() const override { return far_->refused_count(); }
  // Messages that went through a ring.
  int64_t ring_count() const { return ring_count_; }

 private:
  struct Region;
  struct Peer;
  // The threads that may sleep and have a bell.
  enum Sleeper : uint32_t { kNobody = 0, kWaiter = 1, kListener = 2 };
  static constexpr uint32_t kSleepStep = 4;  // leaves two bits for a Sleeper
  struct Bell {
    int read = -1;
    int write = -1;
    bool may_ring = false;  // since it was read
  };
  using Bells = std::array<Bell, 2>;

  HostTransport(AgentId self, std::unique_ptr<Transport> far, Clock& clock,
                std::unique_ptr<SharedFile> file, const Bells& bells,
                int epoll_fd);
  static void CloseAll(const Bells& bells);
  bool PrepareFor(Sleeper sleeper);
  // far_, for a call after which it has to be polled or prepared again.
  Transport& UseFar() {
    is_far_prepared_ = false;
    return *far_;
  }
  bool HasRingArrivals() const;
  // Messages to `to` go through a ring, or nowhere as its process has ended.
  bool UsesRing(AgentId to) const;
  // False if there is no room, or no ring.
  bool Push(Peer& peer, const Bytes& message);
  // Pushes held messages that can go now, and sends by `far` those that have
  // waited for too long.
  void PushHeld(AgentId to, Peer& peer);
  void Pull(AgentId from, Peer& peer, std::vector<Arrival>& arrivals);
  // Takes the last messages of peers whose processes have ended, and frees
  // rings and bells kept to reach them.
  void ReleaseEnded(std::vector<Arrival>& arrivals);
  void Release(Peer& peer);

  const AgentId self_;
  const std::unique_ptr<Transport> far_;
  bool is_far_prepared_ = false;  // to be waited for, and not used since
  bool is_waiting_ = false;
  absl::Time far_due_ = absl::InfinitePast();  // whatever has come by rings
  absl::Time next_release_ = absl::InfinitePast();
  uint32_t sleep_count_ = 0;
  Clock& clock_;
  const std::unique_ptr<SharedFile> file_;
  Region& region_;
  Bells bells_;         // by sleeper
  const int epoll_fd_;  // -1: the far one's
  std::string address_;
  std::map<AgentId, std::unique_ptr<Peer>> peers_;
  int64_t dropped_count_ = 0;
  int64_t ring_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMORY_HOST_TRANSPORT_H_
