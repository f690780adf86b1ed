// Aim: messages between processes of one host go through shared memory, whole
// and in order, wake sleepers, and go through the far transport where that
// can't be. Method: two transports in one process, over a far one that keeps
// what it gets; a reader that blocks for real.
#include "routing/memory/host_transport.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace dogged {
namespace {

constexpr AgentId kA(1);
constexpr AgentId kB(2);

// Keeps what is sent.
class FarTransport : public Transport {
 public:
  ~FarTransport() override { close(fd_); }
  void Send(AgentId, Bytes message) override { sent.push_back(message); }
  void Poll(std::vector<Arrival>&) override { ++poll_count; }
  void SetPeer(AgentId, absl::string_view address) override {
    known = std::string(address);
  }
  void ForgetPeer(AgentId) override {}
  std::string address() const override { return "127.0.0.1:1"; }
  int64_t queued_bytes(AgentId) const override { return 0; }
  int wait_fd() const override { return fd_; }

  std::vector<Bytes> sent;
  std::string known;
  int poll_count = 0;

 private:
  const int fd_ = eventfd(0, EFD_CLOEXEC);
};

class HostTransportTest : public testing::Test {
 protected:
  HostTransportTest() {
    auto far = std::make_unique<FarTransport>();
    far_ = far.get();
    a_ = HostTransport::Wrap(kA, std::move(far), clock_);
    b_ = HostTransport::Wrap(kB, std::make_unique<FarTransport>(), clock_);
  }
  void Meet() {
    a_->SetPeer(kB, b_->address());
    b_->SetPeer(kA, a_->address());
  }
  std::vector<std::string> Arrived() {
    std::vector<Arrival> arrivals;
    b_->Poll(arrivals);
    std::vector<std::string> out;
    for (const Arrival& arrival : arrivals) {
      EXPECT_EQ(arrival.from, kA);
      out.emplace_back(arrival.message.view());
    }
    return out;
  }

  class StillClock : public Clock {
   public:
    absl::Time Now() override { return now; }
    absl::Time now = absl::UnixEpoch();
  };

  StillClock clock_;
  FarTransport* far_ = nullptr;
  std::unique_ptr<Transport> a_;
  std::unique_ptr<Transport> b_;
};

TEST_F(HostTransportTest, SmallMessagesArriveInOrder) {
  Meet();
  EXPECT_EQ(far_->known, "127.0.0.1:1");
  std::vector<std::string> expected;
  // Many times around the ring, in all lengths.
  for (int round = 0; round < 300; ++round) {
    expected.clear();
    for (int i = 0; i < 5; ++i) {
      expected.push_back(
          std::string(static_cast<size_t>((round * 37 + i * 911) % 8000),
                      static_cast<char>('a' + round % 26)));
      a_->Send(kB, Bytes(std::string(expected.back())));
    }
    EXPECT_EQ(Arrived(), expected) << "round " << round;
  }
  EXPECT_TRUE(far_->sent.empty());
}

TEST_F(HostTransportTest, WhatDoesNotFitGoesTheOtherWay) {
  Meet();
  a_->Send(kB, Bytes(std::string(1 << 20, 'x')));
  EXPECT_EQ(far_->sent.size(), 1u);
}

// A sleeper also waits for the other transport: that one is only polled where
// it may have work that does not wake the sleeper.
TEST_F(HostTransportTest, TheOtherWayIsLeftToWhoWaits) {
  Meet();
  std::vector<Arrival> arrivals;
  const auto polls = [&] {
    const int before = far_->poll_count;
    a_->Poll(arrivals);
    return far_->poll_count > before;
  };
  EXPECT_TRUE(polls());
  ASSERT_TRUE(a_->PrepareToWait());
  EXPECT_TRUE(polls()) << "nobody waits yet";
  ASSERT_TRUE(a_->PrepareToWait());
  a_->SetWaiting(true);
  EXPECT_FALSE(polls());
  ASSERT_TRUE(a_->PrepareToListen());
  EXPECT_FALSE(polls());
  a_->Send(kB, Bytes(std::string(1 << 20, 'x')));
  EXPECT_TRUE(polls()) << "what was sent may want to be moved";
  EXPECT_TRUE(polls()) << "nobody has prepared since";
  ASSERT_TRUE(a_->PrepareToListen());
  EXPECT_FALSE(polls());
  a_->SetWaiting(false);
  EXPECT_TRUE(polls());
}

TEST_F(HostTransportTest, ASleeperIsRungOnceASleep) {
  Meet();
  EXPECT_TRUE(Arrived().empty());  // b_ has found its place in a_'s region
  const auto rings = [&] {
    int bytes = 0;
    EXPECT_EQ(ioctl(b_->listen_fd(), FIONREAD, &bytes), 0);
    return bytes;
  };
  for (int sleep = 0; sleep < 3; ++sleep) {
    ASSERT_TRUE(b_->PrepareToListen());
    EXPECT_EQ(rings(), 0);
    for (int i = 0; i < 5; ++i) a_->Send(kB, Bytes("x"));
    EXPECT_EQ(rings(), 1);
    EXPECT_EQ(Arrived().size(), 5u);
  }
  // As soon as a message is on its way, and again if it was too early.
  ASSERT_TRUE(b_->PrepareToListen());
  a_->WakeEarly(kB);
  EXPECT_EQ(rings(), 1);
  a_->Send(kB, Bytes("x"));
  EXPECT_EQ(rings(), 1);
  EXPECT_EQ(Arrived().size(), 1u);
  ASSERT_TRUE(b_->PrepareToListen());
  a_->WakeEarly(kB);
  EXPECT_TRUE(Arrived().empty());
  a_->WakeEarly(kB);
  EXPECT_EQ(rings(), 0) << "it is awake";
  ASSERT_TRUE(b_->PrepareToListen());
  a_->Send(kB, Bytes("x"));
  EXPECT_EQ(rings(), 1);
  EXPECT_EQ(Arrived().size(), 1u);
  a_->WakeEarly(AgentId(99));  // of which nothing is known
}

// Rings a sender that waits for room, which then goes on; in order.
TEST_F(HostTransportTest, WhatFindsNoRoomIsHeldUntilThereIsSome) {
  Meet();
  std::vector<Arrival> none;
  a_->Poll(none);
  std::vector<std::string> expected;
  int64_t bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back(absl::StrCat(i, std::string(4000, 'y')));
    bytes += std::ssize(expected.back());
    a_->Send(kB, Bytes(expected.back()));
  }
  EXPECT_GT(a_->queued_bytes(kB), bytes - (300 << 10));
  ASSERT_TRUE(a_->PrepareToWait());
  std::vector<std::string> arrived;
  while (arrived.size() < expected.size()) {
    const std::vector<std::string> some = Arrived();
    ASSERT_FALSE(some.empty());
    arrived.insert(arrived.end(), some.begin(), some.end());
    pollfd bell{.fd = a_->wait_fd(), .events = POLLIN, .revents = 0};
    if (arrived.size() < expected.size()) {
      ASSERT_EQ(poll(&bell, 1, 0), 1) << "nobody rang for room";
    }
    a_->Poll(none);
    (void)a_->PrepareToWait();
  }
  EXPECT_EQ(arrived, expected);
  EXPECT_EQ(a_->queued_bytes(kB), 0);
  EXPECT_TRUE(far_->sent.empty());
  // Beyond some megabytes the other way has its own bounds.
  const std::string large(60 << 10, 'z');
  for (int i = 0; i < 200; ++i) a_->Send(kB, Bytes(large));
  EXPECT_FALSE(far_->sent.empty());
}

// As an agent does that was stopped, counted as dead, and goes on.
TEST_F(HostTransportTest, OneWhoWasForgottenHearsNothingThatIsForOthers) {
  Meet();
  a_->Send(kB, Bytes("to b"));
  EXPECT_THAT(Arrived(), testing::ElementsAre("to b"));
  a_->ForgetPeer(kB);
  const AgentId c(3);
  const auto newcomer =
      HostTransport::Wrap(c, std::make_unique<FarTransport>(), clock_);
  a_->SetPeer(c, newcomer->address());
  newcomer->SetPeer(kA, a_->address());
  a_->Send(c, Bytes("to c"));
  EXPECT_TRUE(far_->sent.empty());
  EXPECT_FALSE(b_->HasArrivals());
  EXPECT_THAT(Arrived(), testing::IsEmpty());
  std::vector<Arrival> arrivals;
  newcomer->Poll(arrivals);
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].message.view(), "to c");
  // Known again, it hears again.
  a_->SetPeer(kB, b_->address());
  EXPECT_THAT(Arrived(), testing::IsEmpty());
  a_->Send(kB, Bytes("to b again"));
  EXPECT_THAT(Arrived(), testing::ElementsAre("to b again"));
}

// The first messages often come before the peer knows of this one.
TEST_F(HostTransportTest, OneWhoMapsSoonIsWaitedFor) {
  a_->SetPeer(kB, b_->address());
  a_->Send(kB, Bytes("x"));
  a_->Send(kB, Bytes("y"));
  clock_.now += absl::Milliseconds(400);
  std::vector<Arrival> none;
  a_->Poll(none);
  ASSERT_TRUE(a_->PrepareToWait());
  b_->SetPeer(kA, a_->address());
  pollfd bell{.fd = a_->wait_fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&bell, 1, 0), 1) << "nobody rang";
  a_->Poll(none);
  EXPECT_THAT(Arrived(), testing::ElementsAre("x", "y"));
  EXPECT_TRUE(far_->sent.empty());
}

// The last of the two to go to sleep is rung, once, and alone.
TEST_F(HostTransportTest, AListenerIsWokenInPlaceOfTheLoop) {
  Meet();
  const auto is_rung = [](int fd) {
    pollfd bell{.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&bell, 1, 0) == 1;
  };
  ASSERT_TRUE(b_->PrepareToWait());
  EXPECT_THAT(Arrived(), testing::IsEmpty());  // takes the bell of meeting
  for (const bool listens : {true, false, true}) {
    ASSERT_TRUE(listens ? b_->PrepareToListen() : b_->PrepareToWait());
    EXPECT_FALSE(is_rung(b_->listen_fd()));
    EXPECT_FALSE(is_rung(b_->wait_fd()));
    a_->Send(kB, Bytes("x"));
    EXPECT_EQ(is_rung(b_->listen_fd()), listens);
    EXPECT_EQ(is_rung(b_->wait_fd()), !listens);
    EXPECT_THAT(Arrived(), testing::ElementsAre("x"));
  }
  // A worker that stops listening hands back; messages that came meanwhile are
  // seen.
  ASSERT_TRUE(b_->PrepareToListen());
  a_->Send(kB, Bytes("y"));
  EXPECT_FALSE(b_->PrepareToWait());
  EXPECT_THAT(Arrived(), testing::ElementsAre("y"));
}

TEST_F(HostTransportTest, OneWhoDoesNotMapIsReachedTheOtherWay) {
  a_->SetPeer(kB, b_->address());  // and b knows nothing of a
  a_->Send(kB, Bytes("x"));
  EXPECT_EQ(far_->sent.size(), 0u);
  clock_.now += absl::Seconds(1);
  std::vector<Arrival> none;
  a_->Poll(none);
  EXPECT_EQ(far_->sent.size(), 1u);
  far_->sent.clear();
  a_->Send(kB, Bytes("x"));  // without waiting any more
  EXPECT_EQ(far_->sent.size(), 1u);
  for (const char* address :
       {"127.0.0.1:2", "127.0.0.1:2;", "127.0.0.1:2;x;y", "127.0.0.1:2;1;y"}) {
    a_->SetPeer(AgentId(3), address);
    EXPECT_EQ(far_->known, "127.0.0.1:2");
    a_->Send(AgentId(3), Bytes("x"));
  }
  EXPECT_EQ(far_->sent.size(), 5u);
}

TEST_F(HostTransportTest, APeerThatIsForgottenIsNotReadAnyMore) {
  Meet();
  b_->ForgetPeer(kA);
  a_->Send(kB, Bytes("x"));
  EXPECT_THAT(Arrived(), testing::IsEmpty());
  a_->ForgetPeer(kB);
  a_->Send(kB, Bytes("x"));
  EXPECT_FALSE(far_->sent.empty());
}

// A process of its own with a transport, which says one word and is killed.
class ShortLife {
 public:
  ShortLife(AgentId id, Transport& to, AgentId to_id, Clock& clock) {
    int up[2];
    int down[2];
    EXPECT_EQ(pipe(up) + pipe(down), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const std::unique_ptr<Transport> own =
          HostTransport::Wrap(id, std::make_unique<FarTransport>(), clock);
      own->SetPeer(to_id, to.address());
      Say(up[1], absl::StrCat(own->address(), "\n"));
      Line(down[0]);  // now this one is known there
      own->Send(to_id, Bytes("word"));
      Say(up[1], "\n");
      while (true) pause();
    }
    to.SetPeer(id, Line(up[0]));
    Say(down[1], "\n");
    Line(up[0]);
    for (const int end : {up[0], up[1], down[0], down[1]}) close(end);
  }
  ~ShortLife() { Kill(); }
  void Kill() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  static void Say(int fd, const std::string& line) {
    if (write(fd, line.data(), line.size()) < 0) abort();
  }
  static std::string Line(int fd) {
    std::string text;
    char letter = 0;
    while (read(fd, &letter, 1) == 1 && letter != '\n') text += letter;
    return text;
  }

  pid_t pid_ = 0;
};

// However many die before the first of them is forgotten: each has a ring, what
// it said in it is heard, and none keeps descriptors or memory here.
TEST_F(HostTransportTest, OneWhoseProcessHasEndedKeepsNothingHere) {
  const auto count = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  const auto descriptors = count("/proc/self/fd");
  const auto mappings = count("/proc/self/map_files");
  for (uint64_t i = 0; i < 40; ++i) {
    const AgentId id(100 + i);
    ShortLife peer(id, *a_, kA, clock_);
    peer.Kill();
    clock_.now += absl::Seconds(1);
    std::vector<Arrival> arrivals;
    a_->Poll(arrivals);
    ASSERT_EQ(arrivals.size(), 1u) << "from the peer number " << i;
    EXPECT_EQ(arrivals[0].from, id);
    const int64_t dropped = a_->dropped_count();
    a_->Send(id, Bytes("x"));
    EXPECT_EQ(a_->dropped_count(), dropped + 1);
  }
  EXPECT_THAT(far_->sent, testing::IsEmpty());
  EXPECT_EQ(count("/proc/self/fd"), descriptors);
  EXPECT_LE(count("/proc/self/map_files"), mappings + 2);
}

// An agent that has announced its sleep is woken, also by a message that came
// between its last look and its sleep.
TEST_F(HostTransportTest, SleepersAreWoken) {
  Meet();
  constexpr int kCount = 20000;
  std::thread reader([this] {
    for (int got = 0; got < kCount;) {
      const std::vector<std::string> arrived = Arrived();
      got += static_cast<int>(arrived.size());
      if (!arrived.empty() || !b_->PrepareToWait()) continue;
      pollfd bell{.fd = b_->wait_fd(), .events = POLLIN, .revents = 0};
      if (got < kCount) {
        EXPECT_EQ(poll(&bell, 1, 20000), 1) << "nobody rang at " << got;
        if (HasFailure()) return;
      }
    }
  });
  std::vector<Arrival> none;
  for (int i = 0; i < kCount; ++i) a_->Send(kB, Bytes(absl::StrCat(i)));
  while (a_->queued_bytes(kB) > 0) {
    a_->Poll(none);
    std::this_thread::yield();
  }
  reader.join();
  EXPECT_TRUE(far_->sent.empty());
}

}  // namespace
}  // namespace dogged
