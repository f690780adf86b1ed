// Aim: the control port moves frames, reports ends, and shrugs off garbage;
// clients get clear errors within their deadlines.
// Method: a port polled by this thread, clients in threads of their own or
// raw sockets, over loopback; waits are for conditions, with a deadline.
#include "routing/control/control_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/control/control_client.h"
#include "routing/control/control_frame.h"
#include "routing/control/polled_deadlines.h"
#include "routing/control/poller.h"
#include "routing/control/socket_address.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

using Kind = ControlEvent::Kind;

std::unique_ptr<ControlPort> Listen() {
  absl::StatusOr<std::unique_ptr<ControlPort>> port =
      ControlPort::Listen("127.0.0.1:0");
  EXPECT_TRUE(port.ok()) << port.status().ToString();
  return *std::move(port);
}

// Polls `ports`, handing each event to `handle`, until `done` or ten seconds.
bool Serve(const std::vector<ControlPort*>& ports,
           const std::function<void(ControlPort&, const ControlEvent&)>& handle,
           const std::function<bool()>& done) {
  SystemClock clock;
  const absl::Time deadline = clock.Now() + absl::Seconds(10);
  std::unique_ptr<Poller> poller = *Poller::Create();
  for (ControlPort* port : ports) poller->Watch(port->wait_fd());
  while (clock.Now() < deadline) {
    for (ControlPort* port : ports) {
      std::vector<ControlEvent> events;
      port->Poll(events);
      for (const ControlEvent& event : events) handle(*port, event);
    }
    if (done()) return true;
    poller->Wait(absl::Milliseconds(20));
  }
  return false;
}

void Echo(ControlPort& port, const ControlEvent& event) {
  if (event.kind == Kind::kFrame) {
    port.Send(event.connection, static_cast<uint8_t>(event.type + 1),
              event.body);
  }
}

int RawConnect(const ControlPort& port) {
  const absl::StatusOr<SocketAddress> at = ResolveAddress(port.address());
  const int fd = socket(at->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(fd, at->get(), at->size), 0);
  return fd;
}

void RawSend(int fd, const std::string& text) {
  EXPECT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

TEST(ControlSocket, CallsOfAllSizesAreAnswered) {
  std::unique_ptr<ControlPort> port = Listen();
  std::atomic<bool> done = false;
  std::thread client([&] {
    auto connected = ControlClient::Connect(port->address(), absl::Seconds(10));
    EXPECT_TRUE(connected.ok()) << connected.status().ToString();
    for (size_t size : {0, 1, 1000, 70'000, 20'000'000}) {
      const std::string body(size, 'x');
      absl::StatusOr<ControlFrame> answer =
          (*connected)->Call(7, body, absl::Seconds(10));
      EXPECT_TRUE(answer.ok()) << answer.status().ToString();
      if (!answer.ok()) break;
      EXPECT_EQ(answer->type, 8);
      EXPECT_EQ(answer->body.view(), body);
    }
    done = true;
  });
  EXPECT_TRUE(Serve({port.get()}, Echo, [&] { return done.load(); }));
  client.join();
  EXPECT_EQ(port->refused_count(), 0);
}

TEST(ControlSocket, LifeLineEndsAreReported) {
  std::unique_ptr<ControlPort> here = Listen();
  std::unique_ptr<ControlPort> there = Listen();
  const ConnectionId line = here->Connect(there->address());
  bool accepted = false;
  bool connected = false;
  bool closed = false;
  const auto handle = [&](ControlPort& port, const ControlEvent& event) {
    if (&port == there.get() && event.kind == Kind::kFrame) accepted = true;
    if (&port != here.get()) return;
    EXPECT_EQ(event.connection, line);
    if (event.kind == Kind::kConnected) {
      connected = true;
      port.Send(line, 4, Bytes());
    }
    if (event.kind == Kind::kClosed) {
      closed = true;
      EXPECT_EQ(event.cause, "connection closed");
    }
  };
  EXPECT_TRUE(Serve({here.get(), there.get()}, handle,
                    [&] { return accepted && connected; }));
  there.reset();
  EXPECT_TRUE(Serve({here.get()}, handle, [&] { return closed; }));
  EXPECT_EQ(here->connection_count(), 0);
}

TEST(ControlSocket, ConnectToNobodyIsReported) {
  std::unique_ptr<ControlPort> port = Listen();
  const std::string free_address = Listen()->address();
  std::vector<std::string> causes;
  port->Connect(free_address);
  port->Connect("no address");
  EXPECT_TRUE(Serve(
      {port.get()},
      [&](ControlPort&, const ControlEvent& event) {
        EXPECT_EQ(event.kind, Kind::kClosed);
        causes.push_back(event.cause);
      },
      [&] { return causes.size() == 2; }));
  EXPECT_EQ(port->connection_count(), 0);
}

TEST(ControlSocket, GarbageClosesOnlyItsConnection) {
  std::unique_ptr<ControlPort> port = Listen();
  std::vector<int> fds;
  // Foreign; ours, then foreign; a frame that is too long.
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\n\r\n"),
        FrameHeader::Encode(5, "") + "rubbish",
        std::string("dgd2\377\377\377\377\1....", 13)}) {
    fds.push_back(RawConnect(*port));
    RawSend(fds.back(), text);
  }
  // A byte that changed on its way.
  fds.push_back(RawConnect(*port));
  RawSend(fds.back(), FrameHeader::Encode(5, "abc") + "abd");
  // A promise of a gigabyte takes no memory and hurts nobody.
  const int slow = RawConnect(*port);
  RawSend(slow, std::string("dgd2\0\0\0\100\1....", 13));
  int closed = 0;
  int frames = 0;
  std::atomic<bool> done = false;
  std::thread client([&] {
    auto connected = ControlClient::Connect(port->address(), absl::Seconds(10));
    EXPECT_TRUE((*connected)->Call(1, "hello", absl::Seconds(10)).ok());
    done = true;
  });
  EXPECT_TRUE(Serve(
      {port.get()},
      [&](ControlPort& at, const ControlEvent& event) {
        if (event.kind == Kind::kClosed) ++closed;
        if (event.kind == Kind::kFrame) ++frames;
        Echo(at, event);
      },
      [&] { return closed >= 4 && done; }));
  client.join();
  EXPECT_EQ(port->refused_count(), 4);
  EXPECT_EQ(frames, 2);
  for (int fd : fds) close(fd);
  close(slow);
}

bool HasEnded(int client) {
  char byte = 0;
  return recv(client, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

bool IsReadable(int fd) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, 0) == 1;
}

// The hello of another release, which says more than today's.
std::string HelloOf(int oldest, int newest) {
  const std::string body = absl::StrCat(
      WireHello{.range = {oldest, newest}, .release = "99.0"}.Encode(), "more");
  return absl::StrCat(FrameHeader::Encode(kHelloType, body), body);
}

// Bytes until the other end ends, or as many as are wanted.
std::string RawReceive(int fd, size_t most) {
  std::string out(most, '\0');
  size_t size = 0;
  while (size < most) {
    const ssize_t got = recv(fd, out.data() + size, most - size, 0);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  return out.substr(0, size);
}

TEST(ControlSocket, AnEndOfANeighbouringVersionIsHeard) {
  std::unique_ptr<ControlPort> port = Listen();
  const int fd = RawConnect(*port);
  RawSend(fd, HelloOf(1, 2) + FrameHeader::Encode(5, ""));
  int frames = 0;
  EXPECT_TRUE(Serve(
      {port.get()},
      [&](ControlPort&, const ControlEvent& event) {
        if (event.kind != Kind::kFrame) return;
        EXPECT_EQ(event.type, 5);
        ++frames;
      },
      [&] { return frames > 0; }));
  const std::string hello = FrameHeader::EncodeHello();
  EXPECT_EQ(RawReceive(fd, hello.size()), hello);
  EXPECT_EQ(port->refused_count(), 0);
  close(fd);
}

TEST(ControlSocket, AnEndOfTooFarAVersionIsToldSoAndNotHeard) {
  std::unique_ptr<ControlPort> port = Listen();
  const int fd = RawConnect(*port);
  RawSend(fd, HelloOf(3, 4) + FrameHeader::Encode(5, ""));
  EXPECT_TRUE(Serve(
      {port.get()},
      [&](ControlPort&, const ControlEvent& event) {
        EXPECT_NE(event.kind, Kind::kFrame);
      },
      [&] { return HasEnded(fd) || IsReadable(fd); }));
  const std::string hello = FrameHeader::EncodeHello();
  EXPECT_EQ(RawReceive(fd, hello.size() + 1), hello);
  EXPECT_EQ(port->refused_count(), 1);
  close(fd);
}

// Accepts a connection, as an agent of another release.
class OtherRelease {
 public:
  OtherRelease() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto at = ResolveAddress("127.0.0.1:0");
    EXPECT_EQ(bind(fd_, at->get(), at->size), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
  }
  ~OtherRelease() {
    close(fd_);
    if (client_ >= 0) close(client_);
  }
  std::string address() const { return LocalAddress(fd_).ToString(); }
  void Answer(const std::string& bytes) {
    client_ = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    RawSend(client_, bytes);
  }
  void Send(const std::string& bytes) { RawSend(client_, bytes); }

 private:
  int fd_;
  int client_ = -1;
};

TEST(ControlSocket, ItsOwnConnectionsEndAtTooFarAVersion) {
  OtherRelease far;
  std::unique_ptr<ControlPort> port = Listen();
  port->Connect(far.address());
  far.Answer(HelloOf(3, 4));
  std::string cause;
  EXPECT_TRUE(Serve(
      {port.get()},
      [&](ControlPort&, const ControlEvent& event) {
        if (event.kind != Kind::kClosed) return;
        EXPECT_TRUE(event.is_far);
        cause = event.cause;
      },
      [&] { return !cause.empty(); }));
  EXPECT_THAT(
      cause,
      testing::AllOf(testing::HasSubstr(far.address()),
                     testing::HasSubstr("3 to 4 of the wire (dogged 99.0)"),
                     testing::HasSubstr("this program 1 (dogged "),
                     testing::HasSubstr("use a release here that is as new")));
}

TEST(ControlSocket, AClientOfTooFarAVersionIsToldSo) {
  OtherRelease far;
  auto client = ControlClient::Connect(far.address(), absl::Seconds(5));
  ASSERT_TRUE(client.ok()) << client.status();
  ASSERT_TRUE((*client)->Send(5, "", absl::Seconds(5)).ok());
  far.Answer(HelloOf(3, 4));
  const absl::Status told = (*client)->Receive(absl::Seconds(5)).status();
  EXPECT_TRUE(absl::IsUnimplemented(told)) << told;
  EXPECT_THAT(told.message(), testing::HasSubstr("3 to 4 of the wire"));
  OtherRelease near;
  client = ControlClient::Connect(near.address(), absl::Seconds(5));
  ASSERT_TRUE(client.ok()) << client.status();
  ASSERT_TRUE((*client)->Send(5, "", absl::Seconds(5)).ok());
  near.Answer(HelloOf(1, 2) + FrameHeader::Encode(6, ""));
  const auto frame = (*client)->Receive(absl::Seconds(5));
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_EQ(frame->type, 6);
}

// Sanitizers take addresses of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int64_t DataBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  for (int field = 0; field < 6; ++field) statm >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST(ControlSocket, AFrameTakesItsOwnBytesOfAClientAlone) {
  constexpr int64_t kBytes = 64 << 20;
  OtherRelease agent;
  const std::string body(kBytes, 'x');
  const std::string header = FrameHeader::Encode(6, body);
  auto client = ControlClient::Connect(agent.address(), absl::Seconds(5));
  ASSERT_TRUE(client.ok()) << client.status();
  std::thread sender([&] {
    agent.Answer(header);
    agent.Send(body);
  });
  rlimit before{};
  getrlimit(RLIMIT_DATA, &before);
  rlimit limit = before;
  limit.rlim_cur = static_cast<rlim_t>(DataBytes() + kBytes + (16 << 20));
  setrlimit(RLIMIT_DATA, &limit);
  auto frame = (*client)->Receive(absl::Seconds(10));
  const int64_t with_frame = DataBytes();
  setrlimit(RLIMIT_DATA, &before);
  sender.join();
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_TRUE(frame->body.view() == body);
  frame->body = Bytes();
  EXPECT_LT(DataBytes(), with_frame - kBytes / 2) << "the client keeps it";
}
#endif

TEST(ControlSocket, FramesInPiecesAreAssembled) {
  std::unique_ptr<ControlPort> port = Listen();
  const int fd = RawConnect(*port);
  std::string text;
  for (int i = 0; i < 3; ++i) text += FrameHeader::Encode(5, "abc") + "abc";
  size_t sent = 0;
  int frames = 0;
  EXPECT_TRUE(Serve(
      {port.get()},
      [&](ControlPort&, const ControlEvent& event) {
        if (event.kind != Kind::kFrame) return;
        ++frames;
        EXPECT_EQ(event.type, 5);
        EXPECT_EQ(event.body.view(), "abc");
      },
      [&] {
        if (sent < text.size()) {
          RawSend(fd, text.substr(sent++, 1));
        }
        return frames == 3;
      }));
  close(fd);
}

TEST(ControlSocket, ClosedByUsAfterTheLastWord) {
  std::unique_ptr<ControlPort> port = Listen();
  const std::string last(5'000'000, 'z');
  std::atomic<bool> done = false;
  std::thread client([&] {
    auto connected = ControlClient::Connect(port->address(), absl::Seconds(10));
    absl::StatusOr<ControlFrame> answer =
        (*connected)->Call(1, "", absl::Seconds(10));
    EXPECT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ((*connected)->Receive(absl::Seconds(10)).status().code(),
              absl::StatusCode::kUnavailable);
    done = true;
  });
  EXPECT_TRUE(Serve(
      {port.get()},
      [&](ControlPort& at, const ControlEvent& event) {
        if (event.kind != Kind::kFrame) return;
        at.Send(event.connection, 2, Bytes(last));
        at.Close(event.connection);
      },
      [&] { return done.load(); }));
  client.join();
  EXPECT_EQ(port->connection_count(), 0);
}

// The number of descriptors that this process may have, while it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t count) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit now = before_;
    now.rlim_cur = count;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

// The lowest that is free.
int FreeDescriptor() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(fd);
  return fd;
}

// If there are more clients than descriptors, the last ones and the one to be
// kept are heard.
TEST(ControlSocket, WithoutDescriptorsTheSilentEnd) {
  std::unique_ptr<ControlPort> port = Listen();
  std::vector<int> clients = {RawConnect(*port)};
  std::vector<ControlEvent> events;
  while (events.empty()) port->Poll(events);
  port->Keep(events[0].connection);
  for (int i = 0; i < 10; ++i) clients.push_back(RawConnect(*port));
  const DescriptorLimit limit(static_cast<rlim_t>(FreeDescriptor() + 3));
  const auto count = [&](Kind kind) {
    return std::count_if(events.begin(), events.end(),
                         [&](const auto& event) { return event.kind == kind; });
  };
  while (count(Kind::kAccepted) < 11) port->Poll(events);
  EXPECT_EQ(count(Kind::kClosed), 7);
  for (size_t i = 0; i < clients.size(); ++i) {
    EXPECT_EQ(HasEnded(clients[i]), i > 0 && i < 8) << i;
  }
  const std::string frame = FrameHeader::Encode(1, "");
  for (const int client : {clients.front(), clients.back()}) {
    RawSend(client, frame);
  }
  while (count(Kind::kFrame) < 2) port->Poll(events);
  for (const int client : clients) close(client);
}

// However many clients come, a quarter of the descriptors stays for others.
TEST(ControlSocket, LeavesDescriptorsToOthers) {
  constexpr int kLimit = 200;
  const DescriptorLimit limit(kLimit);
  std::unique_ptr<ControlPort> port = Listen();
  std::vector<int> clients;
  std::vector<ControlEvent> events;
  for (int i = 0; i < 110; ++i) clients.push_back(RawConnect(*port));
  port->Poll(events);
  EXPECT_LE(FreeDescriptor(), kLimit * 3 / 4);
  RawSend(clients.back(), FrameHeader::Encode(1, ""));
  while (events.empty() || events.back().kind != Kind::kFrame) {
    port->Poll(events);
  }
  for (const int client : clients) close(client);
}

// No client can be taken in, nor turned away: waiting ones do not keep the port
// busy, and are taken once they can be.
TEST(ControlSocket, WithoutAnyDescriptorItRests) {
  std::unique_ptr<ControlPort> port = Listen();
  const int client = RawConnect(*port);
  std::vector<ControlEvent> events;
  {
    const DescriptorLimit limit(0);
    port->Poll(events);
    EXPECT_TRUE(events.empty());
    EXPECT_FALSE(IsReadable(port->wait_fd()));
  }
  SystemClock clock;
  const absl::Time deadline = clock.Now() + absl::Seconds(10);
  while (events.empty() && clock.Now() < deadline) port->Poll(events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Kind::kAccepted);
  close(client);
}

TEST(ControlSocket, ErrorsNameTheAddress) {
  std::unique_ptr<ControlPort> port = Listen();
  const absl::Status taken = ControlPort::Listen(port->address()).status();
  EXPECT_EQ(taken.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(taken.message(), absl::StrCat("cannot listen at ", port->address(),
                                          ": Address already in use"));
  const absl::Status bad = ControlPort::Listen("nonsense").status();
  EXPECT_EQ(bad.code(), absl::StatusCode::kInvalidArgument);
  const std::string free_address = Listen()->address();
  const absl::Status nobody =
      ControlClient::Connect(free_address, absl::Seconds(5)).status();
  EXPECT_EQ(nobody.message(), absl::StrCat("no agent answers at ", free_address,
                                           ": Connection refused"));
  // Accepted by the system, but nobody answers.
  auto silent = ControlClient::Connect(port->address(), absl::Seconds(5));
  ASSERT_TRUE(silent.ok());
  EXPECT_EQ((*silent)->Call(1, "", absl::Milliseconds(30)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

// A client that was stopped, or whose computer slept, has not listened.
TEST(PolledPatience, TimeWhileStoppedCountsForLittle) {
  absl::Time now = absl::UnixEpoch();
  PolledPatience patience(now, absl::Seconds(10));
  EXPECT_EQ(patience.Left(now += absl::Milliseconds(300)),
            absl::Milliseconds(9700));
  EXPECT_EQ(patience.Left(now += absl::Hours(1)), absl::Milliseconds(9200));
  for (int i = 0; i < 92; ++i) {
    EXPECT_GT(patience.Left(now), absl::ZeroDuration());
    now += absl::Milliseconds(100);
  }
  EXPECT_EQ(patience.Left(now), absl::ZeroDuration());
}

TEST(Poller, WakesWhenTheLastAlarmSaysSo) {
  std::unique_ptr<Poller> poller = *Poller::Create();
  poller->WakeAfter(absl::Hours(1));
  poller->WakeAfter(absl::ZeroDuration());
  EXPECT_FALSE(poller->Wait(absl::InfiniteDuration()));  // that was time
  EXPECT_FALSE(poller->Wait(absl::ZeroDuration()));
}

TEST(Poller, WakesFromAnotherThread) {
  std::unique_ptr<Poller> poller = *Poller::Create();
  EXPECT_FALSE(poller->Wait(absl::Milliseconds(1)));
  std::thread waker([&] { poller->Wake(); });
  EXPECT_TRUE(poller->Wait(absl::Seconds(10)));
  waker.join();
  EXPECT_FALSE(poller->Wait(absl::ZeroDuration()));
}

}  // namespace
}  // namespace dogged
