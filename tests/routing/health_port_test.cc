// Aim: the health port answers GET and HEAD of two paths, as HTTP/1.1 has it,
// and nothing else; whatever strangers send or keep back, they have little room
// and little time, and a probe is answered beside them. Method: requests over
// loopback, byte by byte where that matters, and a clock of the test.
#include "routing/control/health_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "routing/control/socket_address.h"

namespace dogged {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class StillClock : public Clock {
 public:
  absl::Time Now() override { return now; }
  absl::Time now = absl::UnixEpoch();
};

// A connection to the port, which ends with it.
class Probe {
 public:
  explicit Probe(const std::string& address) {
    const SocketAddress to = *ResolveAddress(address);
    fd_ = socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd_, to.get(), to.size), 0);
  }
  ~Probe() { close(fd_); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  bool Say(absl::string_view words) {
    return send(fd_, words.data(), words.size(), MSG_NOSIGNAL) ==
           std::ssize(words);
  }
  // Takes what there is; true once the port has said all.
  bool HasEnded() {
    char bytes[4096];
    while (true) {
      const ssize_t size = recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno == ECONNRESET)) return true;
      if (size < 0) return false;
      heard_.append(bytes, static_cast<size_t>(size));
    }
  }
  const std::string& heard() const { return heard_; }

 private:
  int fd_ = -1;
  std::string heard_;
};

class HealthPortTest : public testing::Test {
 protected:
  HealthPortTest() : port_(*HealthPort::Listen("127.0.0.1:0", clock_)) {}

  // Polls until the port has nothing to do for the moment.
  void Settle() {
    pollfd waiting{.fd = port_->wait_fd(), .events = POLLIN, .revents = 0};
    do {
      port_->Poll(health_);
    } while (poll(&waiting, 1, 10) == 1);
  }
  // The answer to `request`.
  std::string Ask(absl::string_view request) {
    Probe probe(port_->address());
    EXPECT_TRUE(probe.Say(request));
    while (!probe.HasEnded()) port_->Poll(health_);
    return probe.heard();
  }
  std::string Get(absl::string_view path) {
    return Ask(absl::StrCat("GET ", path,
                            " HTTP/1.1\r\nHost: x\r\nUser-Agent: probe\r\n"
                            "Accept: */*\r\nConnection: close\r\n\r\n"));
  }

  StillClock clock_;
  Health health_;
  std::unique_ptr<HealthPort> port_;
};

TEST_F(HealthPortTest, SaysWhetherTheAgentIsAliveAndReady) {
  EXPECT_THAT(Get("/livez"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(Get("/readyz?verbose"), EndsWith("\r\n\r\nok\n"));
  health_.not_ready = "it starts";
  EXPECT_THAT(Get("/livez"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Get("/readyz"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Get("/readyz"), EndsWith("\r\n\r\nit starts\n"));
  health_.not_alive = "it hangs";
  EXPECT_THAT(Get("/livez"), EndsWith("\r\n\r\nit hangs\n"));
  EXPECT_THAT(Get("/readyz"), EndsWith("\r\n\r\nit hangs\n"));
  // HEAD has the same fields, and no body.
  const std::string head = Ask("HEAD /livez HTTP/1.1\r\nhost:\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(head, HasSubstr("\r\nContent-Length: 9\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
}

TEST_F(HealthPortTest, AnswersNothingElse) {
  const auto status = [this](absl::string_view request) {
    return Ask(request).substr(0, 12);
  };
  const char* const tail = " HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const char* const path :
       {"/", "/livez/", "/livezz", "/healthz", "/../livez", "*", "livez",
        "http://x/livez", "/%6civez"}) {
    EXPECT_EQ(status(absl::StrCat("GET ", path, tail)), "HTTP/1.1 404") << path;
  }
  for (const char* const method :
       {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", "G", ""}) {
    EXPECT_EQ(status(absl::StrCat(method, " /livez", tail)), "HTTP/1.1 405")
        << method;
  }
  EXPECT_THAT(Ask(absl::StrCat("POST /livez", tail)),
              HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  EXPECT_EQ(status("GET /livez HTTP/1.0\r\n\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(status("GET /livez HTTP/2.0\r\nHost: x\r\n\r\n"), "HTTP/1.1 505");
  for (const char* const wrong :
       {"GET /livez\r\n\r\n", "\r\n\r\n", "GET  /livez HTTP/1.1\r\n\r\n",
        "GET /livez HTTP/1.1\r\n\r\n", "GET /livez HTTP/1.1\r\nHost\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n"}) {
    EXPECT_EQ(status(wrong), "HTTP/1.1 400") << wrong;
  }
  // A second request of the same connection, or a body, is nothing.
  const std::string answer = Ask(absl::StrCat(
      "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
      "GET /livez",
      tail));
  EXPECT_EQ(answer.rfind("HTTP/1.1"), 0u);
  EXPECT_THAT(answer, EndsWith("ok\n"));
}

TEST_F(HealthPortTest, RequestsHaveABound) {
  const std::string begin = "GET /livez HTTP/1.1\r\nHost: x\r\nA: ";
  const std::string fits(HealthPort::kRequestBytesMax - begin.size(), 'a');
  EXPECT_THAT(Ask(begin + fits + "\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(begin + fits + "a\r\n\r\n"), StartsWith("HTTP/1.1 431"));
  // Nor does one that goes on for ever after its answer.
  Probe endless(port_->address());
  const std::string piece(1 << 14, 'x');
  for (int i = 0; i < 1000 && endless.Say(piece); ++i) Settle();
  Settle();
  EXPECT_EQ(port_->connection_count(), 0);
}

TEST_F(HealthPortTest, SlowOnesEndAndProbesAreAnsweredBesideThem) {
  Probe silent(port_->address());
  Probe slow(port_->address());
  Probe deaf(port_->address());
  EXPECT_TRUE(deaf.Say("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
  Settle();
  EXPECT_EQ(port_->connection_count(), 3);
  // A byte a second keeps no connection.
  for (int second = 0; second < 7; ++second) {
    clock_.now += absl::Seconds(1);
    slow.Say("G");
    Settle();
    EXPECT_THAT(Get("/livez"), StartsWith("HTTP/1.1 200"));
  }
  Settle();
  EXPECT_EQ(port_->connection_count(), 0);
  EXPECT_TRUE(silent.HasEnded());
  EXPECT_TRUE(slow.HasEnded());
  EXPECT_EQ(slow.heard(), "");
}

TEST_F(HealthPortTest, ManyOnesEndTheOldest) {
  std::deque<Probe> many;
  for (int i = 0; i < 3 * HealthPort::kConnectionsMax; ++i) {
    many.emplace_back(port_->address());
    EXPECT_TRUE(many.back().Say("GET /livez HTT"));
    Settle();
    EXPECT_LE(port_->connection_count(), HealthPort::kConnectionsMax);
  }
  EXPECT_THAT(Get("/livez"), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(many.front().HasEnded());
  EXPECT_FALSE(many.back().HasEnded());
}

TEST_F(HealthPortTest, BadAddressesAreErrors) {
  EXPECT_EQ(HealthPort::Listen("nowhere", clock_).status().code(),
            absl::StatusCode::kInvalidArgument);
  const absl::Status taken =
      HealthPort::Listen(port_->address(), clock_).status();
  EXPECT_EQ(taken.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(taken.message()), HasSubstr(port_->address()));
}

}  // namespace
}  // namespace dogged
