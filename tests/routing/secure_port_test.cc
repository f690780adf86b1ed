// Aim: with keys the control port speaks to members alone: both ends prove a
// key that they share, others are told so in words at once and have no other
// effect, and nothing that was said can be read, changed or said again. Method:
// channels that hand each other bytes, which the test records, flips and
// repeats; ports and clients over loopback, with a clock of the test where time
// matters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "routing/control/control_client.h"
#include "routing/control/control_frame.h"
#include "routing/control/control_socket.h"
#include "routing/control/poller.h"
#include "routing/control/secure_channel.h"
#include "routing/control/socket_address.h"
#include "routing/trust/credentials.h"
#include "runtime/base/clock.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using Kind = ControlEvent::Kind;
using Side = SecureChannel::Side;
using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const KeyRing> Ring(absl::string_view digits) {
  std::unique_ptr<KeyRing> out;
  for (const char digit : digits) {
    const Key key = *Key::Parse(std::string(2 * Key::kBytes, digit));
    if (out == nullptr) {
      out = std::make_unique<KeyRing>(key);
    } else {
      EXPECT_TRUE(out->Add(key).ok());
    }
  }
  return out;
}

// Two ends of a connection, and all that went from each to the other.
struct Ends {
  explicit Ends(const std::shared_ptr<const KeyRing>& from = Ring("1"),
                const std::shared_ptr<const KeyRing>& to = Ring("1"))
      : context(*SecureContext::Create()),
        client(context, Side::kConnects, from, "there"),
        server(context, Side::kAccepts, to, "here") {}

  absl::Status Carry(SecureChannel& from, SecureChannel& to, std::string& all,
                     std::string& said) {
    const std::string bytes(from.unsent());
    all += bytes;
    from.NoteSent(bytes.size());
    return to.Take(bytes, said);
  }
  // Until both are quiet; the first error of either end.
  absl::Status Settle() {
    absl::Status out;
    while (!client.unsent().empty() || !server.unsent().empty()) {
      out.Update(Carry(client, server, to_server, server_heard));
      out.Update(Carry(server, client, to_client, client_heard));
      if (!out.ok() && client.unsent().empty()) return out;
    }
    return out;
  }

  std::shared_ptr<const SecureContext> context;
  SecureChannel client;
  SecureChannel server;
  std::string to_server;
  std::string to_client;
  std::string server_heard;
  std::string client_heard;
};

TEST(SecureChannel, MembersHearEachOtherAndNobodyElseDoes) {
  Ends ends;
  ASSERT_TRUE(ends.Settle().ok());
  ASSERT_TRUE(ends.client.is_open());
  ASSERT_TRUE(ends.server.is_open());
  const std::string secret = "phi(3)(7) is a label";
  const std::string bulk(1'000'000, 'b');
  ends.client.Seal(secret);
  ends.server.Seal(bulk);
  ends.client.Seal("");
  ASSERT_TRUE(ends.Settle().ok());
  EXPECT_EQ(ends.server_heard, secret);
  EXPECT_EQ(ends.client_heard, bulk);
  for (const std::string& wire : {ends.to_server, ends.to_client}) {
    // Eight bytes at least: fewer are in a megabyte of random ones by chance.
    EXPECT_FALSE(absl::StrContains(wire, "phi(3)(7)"));
    EXPECT_FALSE(absl::StrContains(wire, "bbbbbbbb"));
    EXPECT_FALSE(absl::StrContains(wire, std::string(8, '\x11')));  // the key
  }
}

// A member's first words may be long, and come with the end of its handshake.
TEST(SecureChannel, LongWordsMayComeWithTheHandshake) {
  Ends ends;
  ASSERT_TRUE(
      ends.Carry(ends.client, ends.server, ends.to_server, ends.server_heard)
          .ok());
  ASSERT_TRUE(
      ends.Carry(ends.server, ends.client, ends.to_client, ends.client_heard)
          .ok());
  ASSERT_TRUE(ends.client.is_open());
  ASSERT_FALSE(ends.server.is_open());
  const std::string words(60'000, 'w');
  ends.client.Seal(words);
  ASSERT_TRUE(
      ends.Carry(ends.client, ends.server, ends.to_server, ends.server_heard)
          .ok());
  EXPECT_EQ(ends.server_heard, words);
}

TEST(SecureChannel, EachConnectionHasKeysOfItsOwn) {
  Ends first;
  Ends second;
  ASSERT_TRUE(first.Settle().ok());
  ASSERT_TRUE(second.Settle().ok());
  const std::string here = first.server.Export("dogged test", 32);
  EXPECT_EQ(here, first.client.Export("dogged test", 32));
  EXPECT_NE(here, first.client.Export("dogged tesu", 32));
  EXPECT_NE(here, second.client.Export("dogged test", 32));
}

TEST(SecureChannel, EndsAreToldWhichKeysDiffer) {
  Ends ends(Ring("1"), Ring("23"));
  const absl::Status refused = ends.Settle();
  EXPECT_FALSE(ends.client.is_open());
  EXPECT_FALSE(ends.server.is_open());
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  std::string ignored;
  const absl::Status told = ends.client.Take(ends.to_client, ignored);
  EXPECT_THAT(
      told.ToString(),
      HasSubstr(absl::StrCat("there does not take our key (theirs ",
                             Ring("23")->Ids(), ", ours ", Ring("1")->Ids())));
}

TEST(SecureChannel, AnyAcceptedKeyWillDo) {
  for (const char* from : {"12", "2", "31"}) {
    Ends ends(Ring(from), Ring("123"));
    EXPECT_TRUE(ends.Settle().ok()) << from;
    EXPECT_TRUE(ends.client.is_open() && ends.server.is_open()) << from;
  }
  Ends ends(Ring("31"), Ring("12"));
  EXPECT_FALSE(ends.Settle().ok());
  EXPECT_FALSE(ends.client.is_open());
}

// Another key with the same id, which anybody may know.
TEST(SecureChannel, AnIdIsNoKey) {
  const std::string id = Ring("1")->used().id();
  absl::StatusOr<Key> forged = Key::Make();
  for (int64_t i = 0; forged->id() != id; ++i) {
    ASSERT_LT(i, 10'000'000);
    forged = Key::Make();
  }
  for (const bool is_client : {true, false}) {
    const auto other = std::make_shared<const KeyRing>(*forged);
    Ends ends(is_client ? other : Ring("1"), is_client ? Ring("1") : other);
    EXPECT_FALSE(ends.Settle().ok());
    EXPECT_FALSE(ends.client.is_open());
    EXPECT_FALSE(ends.server.is_open());
  }
}

TEST(SecureChannel, RecordedBytesOpenNothing) {
  Ends first;
  ASSERT_TRUE(first.Settle().ok());
  first.client.Seal("submit");
  first.server.Seal("values");
  ASSERT_TRUE(first.Settle().ok());
  std::string heard;
  SecureChannel server(first.context, Side::kAccepts, Ring("1"), "here");
  EXPECT_FALSE(server.Take(first.to_server, heard).ok());
  EXPECT_FALSE(server.is_open());
  SecureChannel client(first.context, Side::kConnects, Ring("1"), "there");
  EXPECT_FALSE(client.Take(first.to_client, heard).ok());
  EXPECT_FALSE(client.is_open());
  EXPECT_EQ(heard, "");
  // Nor are they heard twice within their connection.
  EXPECT_FALSE(
      first.server
          .Take(first.to_server.substr(first.to_server.size() - 28), heard)
          .ok());
  EXPECT_EQ(heard, "");
}

TEST(SecureChannel, ChangedBytesAreNotHeard) {
  for (size_t at = 0; at < 45; ++at) {
    Ends ends;
    ASSERT_TRUE(ends.Settle().ok());
    ends.client.Seal("a frame of 23 bytes, yes");
    std::string record(ends.client.unsent());
    ASSERT_GT(record.size(), 45);
    record[at] = static_cast<char>(record[at] ^ 4);
    std::string heard;
    const absl::Status taken = ends.server.Take(record, heard);
    // A record that is said to be longer waits for its end, and fails then.
    if (taken.ok()) {
      EXPECT_FALSE(ends.server.Take(std::string(20'000, 'x'), heard).ok())
          << at;
    }
    EXPECT_EQ(heard, "") << at;
  }
}

TEST(SecureChannel, ChangedHandshakesDoNotOpen) {
  Ends whole;
  ASSERT_TRUE(whole.Settle().ok());
  const size_t size =
      SecureChannel(whole.context, Side::kConnects, Ring("1"), "")
          .unsent()
          .size();
  for (size_t at = 0; at < size; ++at) {
    if (at == 1 || at == 2) continue;  // a version that nobody reads
    Ends ends;
    std::string hello(ends.client.unsent());
    ends.client.NoteSent(hello.size());
    hello[at] = static_cast<char>(hello[at] ^ 1);
    // Some bytes are for others to judge, such as the ends' randomness: that
    // the two heard different ones shows in the end.
    (void)ends.server.Take(hello, ends.server_heard);
    (void)ends.Settle();
    EXPECT_FALSE(ends.client.is_open() && ends.server.is_open()) << at;
  }
}

TEST(SecureChannel, LongHandshakesEnd) {
  Ends ends;
  std::string heard;
  absl::Status taken = ends.server.Take(std::string("\x16\3\1\x3f\xff"), heard);
  for (int i = 0; taken.ok() && i < 100; ++i) {
    taken = ends.server.Take(std::string(1000, '\1'), heard);
  }
  EXPECT_FALSE(taken.ok());
}

class TestClock : public Clock {
 public:
  absl::Time Now() override { return now; }
  absl::Time now = absl::UnixEpoch();
};

std::string WordsOf(const absl::Status& status) {
  return std::string(status.message());
}

// A port with keys, polled by a thread of its own, that echoes.
class SecurePort : public testing::Test {
 protected:
  // Keys as Ring() has them, the first of which is used.
  void StartWith(absl::string_view digits) {
    WriteKeys(digits);
    file_ = std::make_unique<Credentials>(*KeyFile::Open(folder_ / "key"));
    Start({.credentials = file_.get()});
  }
  void Start(ControlPort::Options options) {
    port_ = *ControlPort::Listen("127.0.0.1:0", options);
    address_ = port_->address();
    thread_ = std::thread([this] {
      const std::unique_ptr<Poller> poller = *Poller::Create();
      poller->Watch(port_->wait_fd());
      while (!ends_) {
        std::vector<ControlEvent> events;
        port_->Poll(events);
        for (const ControlEvent& event : events) {
          ++events_;
          if (event.kind == Kind::kFrame) {
            port_->Send(event.connection, event.type, event.body);
          }
        }
        connections_ = port_->connection_count();
        refused_ = port_->refused_count();
        poller->Wait(absl::Milliseconds(5));
      }
    });
  }
  void TearDown() override {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void WriteKeys(absl::string_view digits) {
    const std::string path = folder_.Write("new", Ring(digits)->Encode());
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    ASSERT_EQ(rename(path.c_str(), (folder_ / "key").c_str()), 0);
  }
  absl::StatusOr<std::unique_ptr<ControlClient>> Connect(
      absl::string_view digits) {
    return ControlClient::Connect(address_, absl::Seconds(10),
                                  digits.empty() ? nullptr : Ring(digits));
  }
  // A connection of somebody else.
  int RawConnect() {
    const absl::StatusOr<SocketAddress> at = ResolveAddress(address_);
    const int fd = socket(at->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, at->get(), at->size), 0);
    return fd;
  }
  static void RawSend(int fd, absl::string_view bytes) {
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Until the port ends it.
  static std::string RawReceive(int fd) {
    std::string out;
    char bytes[4096];
    for (ssize_t got; (got = recv(fd, bytes, sizeof(bytes), 0)) > 0;) {
      out.append(bytes, static_cast<size_t>(got));
    }
    return out;
  }
  static bool Await(const std::function<bool()>& done) {
    SystemClock clock;
    const absl::Time deadline = clock.Now() + absl::Seconds(20);
    while (!done()) {
      if (clock.Now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Credentials> file_;
  std::unique_ptr<ControlPort> port_;
  std::string address_;
  std::thread thread_;
  std::atomic<bool> ends_ = false;
  std::atomic<int> events_ = 0;
  std::atomic<int64_t> connections_ = 0;
  std::atomic<int64_t> refused_ = 0;
};

TEST_F(SecurePort, AnswersFramesOfAllSizes) {
  StartWith("1");
  const auto client = Connect("1");
  ASSERT_TRUE(client.ok()) << client.status();
  for (const size_t size : {0, 1, 1000, 16'384, 70'000, 20'000'000}) {
    std::string body(size, 'x');
    for (size_t i = 0; i < size; i += 1001) body[i] = static_cast<char>(i);
    const auto answer = (*client)->Call(7, body, absl::Seconds(60));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->type, 7);
    EXPECT_TRUE(answer->body.view() == body) << size;
  }
  EXPECT_EQ(refused_, 0);
}

TEST_F(SecurePort, OthersAreToldAtOnce) {
  StartWith("12");
  SystemClock clock;
  const absl::Time begun = clock.Now();
  const absl::Status other = Connect("3").status();
  EXPECT_EQ(other.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(WordsOf(other),
            absl::StrCat(address_, " does not take our key (theirs ",
                         Ring("12")->Ids(), ", ours ", Ring("3")->Ids(),
                         "): copy its key file, or let both accept both, with "
                         "`dogged key add`"));
  // Plain, and much of it: its words must not get lost among it.
  for (const size_t size : {0, 10'000'000}) {
    const auto plain = Connect("");
    ASSERT_TRUE(plain.ok()) << plain.status();
    const absl::Status none =
        (*plain)->Call(7, std::string(size, 'x'), absl::Seconds(10)).status();
    EXPECT_EQ(none.code(), absl::StatusCode::kPermissionDenied) << none;
    EXPECT_THAT(WordsOf(none),
                HasSubstr(absl::StrCat(address_,
                                       " takes nobody without its key "
                                       "(theirs ",
                                       Ring("12")->Ids(), ", ours none)")));
  }
  EXPECT_LT(clock.Now() - begun, absl::Seconds(5));
  EXPECT_TRUE(Await([&] { return connections_ == 0; }));
  EXPECT_EQ(events_, 0);
  EXPECT_EQ(refused_, 3);
}

TEST_F(SecurePort, PortsWithoutKeysSaySo) {
  Start({});
  const absl::Status status = Connect("1").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(WordsOf(status),
            absl::StrCat(address_, " has no key (theirs none, ours ",
                         Ring("1")->Ids(),
                         "): start it with --key-file, or say --insecure "
                         "here"));
  EXPECT_TRUE(Await([&] { return connections_ == 0 && refused_ == 1; }));
}

TEST_F(SecurePort, GarbageHasNoOtherEffect) {
  StartWith("1");
  const auto member = Connect("1");
  ASSERT_TRUE(member.ok());
  const SecureChannel hello(*SecureContext::Create(), Side::kConnects,
                            Ring("1"), "");
  std::vector<int> fds;
  std::vector<std::string> texts = {
      "GET / HTTP/1.1\r\n\r\n", std::string(100'000, '\0'),
      std::string("\x16\3\1\2\0\1\0", 7) + std::string(600, '\1'),
      std::string("\x15\3\3\0\2\2\x28", 7)};
  for (const std::string& text : texts) {
    fds.push_back(RawConnect());
    RawSend(fds.back(), text);
    EXPECT_THAT(RawReceive(fds.back()), Not(HasSubstr("dgd2"))) << text;
  }
  EXPECT_TRUE(Await([&] { return connections_ == 1; }));
  EXPECT_EQ(refused_, std::ssize(texts));
  EXPECT_TRUE((*member)->Call(7, "still here", absl::Seconds(10)).ok());
  for (const int fd : fds) close(fd);
}

TEST_F(SecurePort, ManyStrangersKeepNoMemberOut) {
  StartWith("1");
  const auto member = Connect("1");
  ASSERT_TRUE(member.ok());
  std::vector<int> fds;
  for (int i = 0; i < 400; ++i) {
    fds.push_back(RawConnect());
    RawSend(fds.back(), "\x16");
  }
  EXPECT_TRUE(Await([&] { return refused_ >= 400 - 256; }));
  const auto later = Connect("1");
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_TRUE((*later)->Call(7, "", absl::Seconds(10)).ok());
  EXPECT_TRUE((*member)->Call(7, "", absl::Seconds(10)).ok());
  EXPECT_LE(connections_, 258);
  for (const int fd : fds) close(fd);
}

TEST_F(SecurePort, KeysChangeWhileItRuns) {
  StartWith("1");
  const auto old = Connect("1");
  ASSERT_TRUE(old.ok());
  WriteKeys("21");
  EXPECT_TRUE(Await([&] { return Connect("2").ok(); }));
  EXPECT_TRUE(Connect("1").ok());
  WriteKeys("2");
  EXPECT_TRUE(Await([&] { return !Connect("1").ok(); }));
  EXPECT_TRUE(Connect("2").ok());
  EXPECT_TRUE((*old)->Call(7, "goes on", absl::Seconds(10)).ok());
}

// Silent strangers end after five seconds that the port has seen; members
// don't.
TEST(SecurePortTime, SilentStrangersEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("key", Ring("1")->Encode());
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  Credentials file(*KeyFile::Open(path));
  TestClock clock;
  for (Credentials* const keys : {&file, static_cast<Credentials*>(nullptr)}) {
    const auto port = *ControlPort::Listen(
        "127.0.0.1:0", {.credentials = keys, .clock = &clock});
    std::vector<ControlEvent> events;
    const absl::StatusOr<SocketAddress> at = ResolveAddress(port->address());
    const int fd = socket(at->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(fd, at->get(), at->size), 0);
    // A first byte is not enough.
    ASSERT_EQ(send(fd, keys != nullptr ? "\x16" : "d", 1, MSG_NOSIGNAL), 1);
    while (port->connection_count() == 0) port->Poll(events);
    // A process that was stopped for an hour has not seen it.
    clock.now += absl::Hours(1);
    port->Poll(events);
    const int seconds = keys != nullptr ? 3 : 28;
    for (int i = 0; i < seconds; ++i) {
      clock.now += absl::Seconds(1);
      port->Poll(events);
      EXPECT_EQ(port->connection_count(), 1);
    }
    for (int i = 0; i < 2; ++i) {
      clock.now += absl::Seconds(1);
      port->Poll(events);
    }
    EXPECT_EQ(port->connection_count(), 0);
    EXPECT_EQ(port->refused_count(), 1);
    EXPECT_EQ(events.empty(), keys != nullptr);
    close(fd);
  }
}

// Polls both until `done`, or twenty seconds.
bool Serve(ControlPort& one, ControlPort& other,
           const std::function<void(ControlPort&, const ControlEvent&)>& handle,
           const std::function<bool()>& done) {
  SystemClock clock;
  const absl::Time deadline = clock.Now() + absl::Seconds(20);
  while (!done()) {
    if (clock.Now() > deadline) return false;
    for (ControlPort* const port : {&one, &other}) {
      std::vector<ControlEvent> events;
      port->Poll(events);
      for (const ControlEvent& event : events) handle(*port, event);
    }
  }
  return true;
}

class SecurePorts : public testing::Test {
 protected:
  // Null for "".
  Credentials* Keys(const std::string& digits) {
    if (digits.empty()) return nullptr;
    const std::string path =
        folder_.Write("key" + digits, Ring(digits)->Encode());
    EXPECT_EQ(chmod(path.c_str(), 0600), 0);
    files_.push_back(std::make_unique<Credentials>(*KeyFile::Open(path)));
    return files_.back().get();
  }
  std::unique_ptr<ControlPort> Listen(const std::string& digits) {
    return *ControlPort::Listen("127.0.0.1:0", {.credentials = Keys(digits)});
  }

  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Credentials>> files_;
};

TEST_F(SecurePorts, LifeLinesConnectAndEnd) {
  const auto here = Listen("1");
  auto there = Listen("21");
  const ConnectionId line = here->Connect(there->address());
  std::string heard;
  std::string cause;
  const auto handle = [&](ControlPort& port, const ControlEvent& event) {
    if (event.kind == Kind::kFrame) heard = std::string(event.body.view());
    if (event.kind == Kind::kClosed) cause = event.cause;
    if (event.kind == Kind::kConnected) {
      EXPECT_EQ(&port, here.get());
      EXPECT_EQ(event.connection, line);
      port.Send(event.connection, 4, Bytes(std::string("my id")));
    }
  };
  EXPECT_TRUE(Serve(*here, *there, handle, [&] { return heard == "my id"; }));
  there.reset();
  const auto nobody = Listen("");
  EXPECT_TRUE(Serve(*here, *nobody, handle, [&] { return !cause.empty(); }));
  EXPECT_EQ(cause, "connection closed");
}

TEST_F(SecurePorts, RefusalsAreEvents) {
  for (const auto& [from, to, words] :
       {std::tuple("1", "2", "does not take our key"),
        std::tuple("1", "", "has no key"),
        std::tuple("", "2", "takes nobody without its key")}) {
    const auto here = Listen(from);
    const auto there = Listen(to);
    const ConnectionId line = here->Connect(there->address());
    int closed = 0;
    const auto handle = [&, words = words](ControlPort& port,
                                           const ControlEvent& event) {
      if (&port != here.get()) return;
      // Without keys the connection is there, and ends with the first frame.
      if (event.kind == Kind::kConnected) port.Send(line, 2, {});
      if (event.kind != Kind::kClosed) return;
      ++closed;
      EXPECT_TRUE(event.is_refusal);
      EXPECT_THAT(event.cause, HasSubstr(words));
      EXPECT_THAT(event.cause, HasSubstr(there->address()));
    };
    EXPECT_TRUE(
        Serve(*here, *there, handle,
              [&] { return closed == 1 && there->connection_count() == 0; }))
        << from << to;
    EXPECT_EQ(there->refused_count(), 1);
  }
}

// Bytes that the other end does not take wait here, once, and are counted.
TEST_F(SecurePorts, UnreadBytesAreCounted) {
  const auto here = Listen("1");
  const auto there = Listen("1");
  const ConnectionId line = here->Connect(there->address());
  bool is_connected = false;
  int64_t heard = 0;
  const auto handle = [&](ControlPort&, const ControlEvent& event) {
    if (event.kind == Kind::kConnected) is_connected = true;
    if (event.kind == Kind::kFrame) heard += event.body.size();
  };
  ASSERT_TRUE(Serve(*here, *there, handle, [&] { return is_connected; }));
  constexpr int64_t kBytes = int64_t{40} << 20;
  here->Send(line, 9, Bytes(std::string(kBytes, 'x')));
  std::vector<ControlEvent> none;
  for (int i = 0; i < 20; ++i) here->Poll(none);
  EXPECT_GT(here->queued_bytes(line), kBytes / 2);
  EXPECT_LE(here->queued_bytes(line), kBytes + (512 << 10));
  EXPECT_TRUE(Serve(*here, *there, handle, [&] { return heard == kBytes; }));
  EXPECT_EQ(here->queued_bytes(line), 0);
  // All that was said before Close() arrives.
  here->Send(line, 9, Bytes(std::string(kBytes, 'y')));
  here->Close(line);
  EXPECT_TRUE(
      Serve(*here, *there, handle, [&] { return heard == 2 * kBytes; }));
}

}  // namespace
}  // namespace dogged
