// Aim: no stranger reaches a transport that keeps strangers out, and members
// that are admitted do.
// Method: transports in this process over loopback; this test carries their
// requests, where agents have their control ports. Strangers are sockets. Every
// wait is for a condition, with a deadline.
#include "routing/transport/admission.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "routing/control/poller.h"
#include "routing/control/socket_address.h"
#include "routing/fabric/fabric_module.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

constexpr char kModuleFolder[] = DOGGED_MODULE_FOLDER;
const AgentId kHere(1001);
const AgentId kThere(2002);

std::unique_ptr<FabricTransport> Open(
    AgentId self, absl::string_view host = "127.0.0.1",
    absl::Duration admitted_time = absl::Seconds(5)) {
  FabricOptions options;
  options.self = self;
  options.host = std::string(host);
  options.keeps_strangers_out = true;
  options.admitted_time = admitted_time;
  auto transport = LoadFabricTransport(kModuleFolder, options);
  if (!transport.ok()) {
    std::fprintf(stderr, "%s\n", transport.status().ToString().c_str());
    std::abort();
  }
  return *std::move(transport);
}

// Two transports, the first of which sends to the second.
class Admissions : public testing::TestWithParam<std::string> {
 protected:
  Admissions() {
    here_->SetPeer(kThere, there_->address());
    for (Transport* transport : {here_.get(), there_.get()}) {
      poller_->Watch(transport->wait_fd());
    }
  }

  // Polls both until `done`. False after ten seconds.
  bool PollUntil(const std::function<bool()>& done) {
    const absl::Time deadline = clock_.Now() + absl::Seconds(10);
    while (true) {
      here_->Poll(ignored_);
      there_->Poll(arrivals_);
      if (done()) return true;
      if (clock_.Now() > deadline) return false;
      if (here_->PrepareToWait() && there_->PrepareToWait()) {
        poller_->Wait(absl::Milliseconds(100));
      }
    }
  }
  // The address of both, as agents see it.
  std::string Host() const { return ResolveAddress(there_->address())->Host(); }
  void Send(absl::string_view text) {
    here_->Send(kThere, Bytes::CopyOf(text));
  }
  // The next request of the first transport.
  std::string Request() {
    std::vector<AdmissionRequest> requests;
    EXPECT_TRUE(PollUntil([&] {
      requests = here_->TakeRequests();
      return !requests.empty();
    }));
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].to, kThere);
    return requests[0].words;
  }
  // A socket that connects, as a stranger does.
  int Stranger() const {
    const auto at = ResolveAddress(there_->address());
    const int fd =
        socket(at->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    EXPECT_NE(connect(fd, at->get(), at->size), 0);
    return fd;
  }
  static bool IsConnected(int fd) {
    pollfd end{.fd = fd, .events = POLLOUT, .revents = 0};
    return poll(&end, 1, 0) > 0;
  }

  SystemClock clock_;
  std::unique_ptr<Poller> poller_ = *Poller::Create();
  std::unique_ptr<FabricTransport> here_ = Open(kHere, GetParam());
  std::unique_ptr<FabricTransport> there_ = Open(kThere, GetParam());
  std::vector<Arrival> arrivals_;
  std::vector<Arrival> ignored_;
};

INSTANTIATE_TEST_SUITE_P(Families, Admissions,
                         testing::Values("127.0.0.1", "::1"),
                         [](const auto& family) {
                           return std::string(family.param == "::1" ? "IPv6"
                                                                    : "IPv4");
                         });

TEST_P(Admissions, LetInWhomTheyAreFor) {
  ASSERT_EQ(there_->warning(), "");
  Send("hello");
  Send("world");
  EXPECT_TRUE(there_->Admit(Host(), Request()).ok());
  here_->Settle(kThere, true);
  ASSERT_TRUE(PollUntil([&] { return arrivals_.size() == 2; }));
  EXPECT_EQ(arrivals_[0].from, kHere);
  EXPECT_EQ(arrivals_[0].message.view(), "hello");
  EXPECT_EQ(arrivals_[1].message.view(), "world");
  // The same connection carries all further messages.
  Send("again");
  EXPECT_TRUE(PollUntil([&] { return arrivals_.size() == 3; }));
  EXPECT_TRUE(here_->TakeRequests().empty());
}

// Their packets are dropped by the kernel: before, while and after a member
// connects.
TEST_P(Admissions, KeepStrangersOut) {
  const int early = Stranger();
  Send("hello");
  EXPECT_TRUE(there_->Admit(Host(), Request()).ok());
  const int meanwhile = Stranger();
  here_->Settle(kThere, true);
  ASSERT_TRUE(PollUntil([&] { return arrivals_.size() == 1; }));
  const int late = Stranger();
  Send("again");
  ASSERT_TRUE(PollUntil([&] { return arrivals_.size() == 2; }));
  for (const int fd : {early, meanwhile, late}) {
    EXPECT_FALSE(IsConnected(fd));
    close(fd);
  }
}

// A stranger who knows the port of an admitted connection has not its token.
TEST_P(Admissions, WantTheToken) {
  Send("hello");
  std::string request = Request();
  // Behind magic, two ids and the length of the token.
  request[4 + 8 + 8 + 1] ^= 1;
  EXPECT_TRUE(there_->Admit(Host(), request).ok());
  here_->Settle(kThere, true);
  ASSERT_TRUE(PollUntil([&] { return there_->refused_count() == 1; }));
  EXPECT_TRUE(arrivals_.empty());
  // The message waits for the next connection.
  EXPECT_TRUE(there_->Admit(Host(), Request()).ok());
  here_->Settle(kThere, true);
  EXPECT_TRUE(PollUntil([&] { return arrivals_.size() == 1; }));
}

// Behind another address a connection has another port.
TEST_P(Admissions, KnowAConnectionBehindAnotherAddressByItsToken) {
  Send("hello");
  std::string request = Request();
  const size_t port = request.rfind(':');
  ASSERT_NE(port, std::string::npos);
  request[request.rfind('1', port)] = '3';  // of the address
  EXPECT_TRUE(there_->Admit(Host(), request).ok());
  here_->Settle(kThere, true);
  EXPECT_TRUE(PollUntil([&] { return arrivals_.size() == 1; }));
}

// A host with several addresses may ask from another one than it connects by.
TEST_P(Admissions, LetInWhoAsksFromAnotherAddress) {
  Send("hello");
  const std::string elsewhere = GetParam() == "::1" ? "[fe80::1]" : "10.9.9.9";
  EXPECT_TRUE(there_->Admit(elsewhere, Request()).ok());
  here_->Settle(kThere, true);
  EXPECT_TRUE(PollUntil([&] { return arrivals_.size() == 1; }));
}

// A look-up of a name waits for seconds, and an agent's loop with it.
TEST_P(Admissions, LookNoNameUp) {
  Send("hello");
  std::string request = Request();
  const size_t port = request.rfind(':');
  ASSERT_NE(port, std::string::npos);
  const size_t begin = request.rfind(GetParam() == "::1" ? '[' : '1', port);
  std::string name(port - begin, 'x');
  name.replace(0, 1, GetParam() == "::1" ? "y" : "z");
  request.replace(begin, name.size(), name);
  const absl::Time asked = clock_.Now();
  const absl::Status admitted = there_->Admit(Host(), request);
  EXPECT_EQ(admitted.code(), absl::StatusCode::kInvalidArgument) << admitted;
  EXPECT_EQ(admitted.message(),
            "a request to be admitted names its host by no number");
  EXPECT_LT(clock_.Now() - asked, absl::Milliseconds(100));
}

TEST_P(Admissions, AreAskedAgainAfterARefusal) {
  Send("hello");
  (void)Request();
  here_->Settle(kThere, false);
  EXPECT_TRUE(there_->Admit(Host(), Request()).ok());
  here_->Settle(kThere, true);
  EXPECT_TRUE(PollUntil([&] { return arrivals_.size() == 1; }));
}

TEST_P(Admissions, RefuseWhatIsNone) {
  Send("hello");
  const std::string request = Request();
  for (size_t size = 0; size < request.size(); ++size) {
    EXPECT_FALSE(there_->Admit(Host(), request.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(there_->Admit(Host(), request + "!").ok());
  EXPECT_FALSE(there_->Admit("", request).ok());
  std::string garbled = request;
  garbled[request.size() - 1] = ':';
  EXPECT_FALSE(there_->Admit(Host(), garbled).ok());
  const auto other = Open(AgentId(3003), GetParam());
  EXPECT_EQ(other->Admit(Host(), request).code(), absl::StatusCode::kNotFound);
}

// Requests without connections take no room for long.
TEST(Admission, Expires) {
  const auto here = Open(kHere);
  const auto there = Open(kThere, "127.0.0.1", absl::Milliseconds(50));
  here->SetPeer(kThere, there->address());
  here->Send(kThere, Bytes(std::string("hello")));
  std::string request = here->TakeRequests().at(0).words;
  char& token = request[4 + 8 + 8 + 1];
  const auto admit = [&] { return there->Admit("127.0.0.1", request); };
  int count = 0;
  for (; count < 256 && admit().ok(); ++count) ++token;
  EXPECT_EQ(count, 128);
  (&token)[1] ^= 1;
  SystemClock clock;
  const absl::Time deadline = clock.Now() + absl::Seconds(10);
  std::vector<Arrival> arrivals;
  absl::Status status;
  do {
    there->Poll(arrivals);
    status = admit();
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    }
  } while (!status.ok() && clock.Now() < deadline);
  EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace dogged
