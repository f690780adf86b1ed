// Aim: a client finds the agent that lives among addresses that say nothing, in
// a moment, and says of each why not if none does. Method: sockets of this
// process on loopback; silent ones have a filter that drops all packets.
#include "routing/control/first_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "routing/control/socket_address.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Listener {
 public:
  enum class Kind { kAnswers, kSilent, kRefuses };
  explicit Listener(Kind kind)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto any = ResolveAddress("127.0.0.1:0");
    EXPECT_EQ(bind(fd_, any->get(), any->size), 0);
    sock_filter drop = {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
    const sock_fprog filter = {.len = 1, .filter = &drop};
    if (kind == Kind::kSilent) {
      EXPECT_EQ(setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
                           sizeof(filter)),
                0);
    }
    if (kind != Kind::kRefuses) {
      EXPECT_EQ(listen(fd_, 8), 0);
    }
    address_ = LocalAddress(fd_).ToString();
  }
  ~Listener() { close(fd_); }
  const std::string& address() const { return address_; }

 private:
  const int fd_;
  std::string address_;
};

TEST(FirstAnswer, SilentAddressesCostAMomentEach) {
  const Listener silent1(Listener::Kind::kSilent);
  const Listener refuses(Listener::Kind::kRefuses);
  const Listener silent2(Listener::Kind::kSilent);
  const Listener answers(Listener::Kind::kAnswers);
  const Listener other(Listener::Kind::kAnswers);
  SystemClock clock;
  const absl::Time begin = clock.Now();
  const auto order =
      FirstAnswer({silent1.address(), refuses.address(), silent2.address(),
                   answers.address(), other.address()},
                  {.stagger = absl::Milliseconds(50)});
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_THAT(*order,
              ElementsAre(answers.address(), other.address(), refuses.address(),
                          silent1.address(), silent2.address()));
  // In turn they would take a second each, or more.
  EXPECT_GE(clock.Now() - begin, absl::Milliseconds(100));
  EXPECT_LT(clock.Now() - begin, absl::Seconds(4));
}

TEST(FirstAnswer, TheFirstThatAnswersIsTakenAtOnce) {
  const Listener first(Listener::Kind::kAnswers);
  const Listener second(Listener::Kind::kAnswers);
  const auto order = FirstAnswer({first.address(), second.address()},
                                 {.stagger = absl::Seconds(60)});
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_THAT(*order, ElementsAre(first.address(), second.address()));
}

TEST(FirstAnswer, HasAnEndOfItsOwnAndWordsForIt) {
  const Listener silent(Listener::Kind::kSilent);
  const Listener refuses(Listener::Kind::kRefuses);
  std::vector<std::string> addresses = {refuses.address(), "nonsense"};
  for (int i = 0; i < 50; ++i) addresses.push_back(silent.address());
  SystemClock clock;
  const absl::Time begin = clock.Now();
  const auto order = FirstAnswer(
      addresses,
      {.stagger = absl::Milliseconds(1), .timeout = absl::Milliseconds(300)});
  EXPECT_EQ(order.status().code(), absl::StatusCode::kUnavailable);
  const std::string words(order.status().message());
  EXPECT_THAT(words, HasSubstr("none of 52 addresses answers: "));
  EXPECT_THAT(words, HasSubstr(refuses.address() + ": Connection refused"));
  EXPECT_THAT(words, HasSubstr("nonsense"));
  EXPECT_THAT(words, HasSubstr(silent.address() + ": silent for 300ms"));
  EXPECT_LT(clock.Now() - begin, absl::Seconds(4));
  // Without a silent one nothing is waited for.
  const auto none =
      FirstAnswer({refuses.address()}, {.timeout = absl::Hours(1)});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace dogged
