// The rate of a link is learned from what waits for it.
#include "routing/transport/link_rates.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace dogged {
namespace {

const AgentId kPeer{7};

// A link behind buffers of `kBuffer` bytes that are as fast as memory.
class Link {
 public:
  explicit Link(double bytes_per_second) : rate_(bytes_per_second) {}

  // `bytes` more are sent every millisecond of `time`.
  void Run(absl::Duration time, int64_t bytes, LinkRates& rates) {
    for (const absl::Time end = now_ + time; now_ < end;
         now_ += absl::Milliseconds(1)) {
      sent_ += bytes;
      carried_ = std::min(static_cast<double>(sent_), carried_ + rate_ / 1e3);
      const auto taken =
          std::min(sent_, static_cast<int64_t>(carried_) + kBuffer);
      rates.Sample(now_, kPeer, sent_, sent_ - taken);
    }
  }

 private:
  static constexpr int64_t kBuffer = 4 << 20;

  const double rate_;
  absl::Time now_ = absl::UnixEpoch();
  int64_t sent_ = 0;
  double carried_ = 0;
};

TEST(LinkRates, AFullLinkShowsItsRate) {
  for (const double rate : {1.25e6, 12.5e6, 125e6, 1.25e9}) {
    LinkRates rates;
    Link link(rate);
    link.Run(absl::Seconds(5), static_cast<int64_t>(rate / 250), rates);
    EXPECT_NEAR(rates.BytesPerSecond(kPeer), rate, 0.05 * rate);
  }
}

TEST(LinkRates, ALinkThatIsNeverFullHasNone) {
  LinkRates rates;
  Link link(125e6);
  link.Run(absl::Seconds(2), 100'000, rates);
  EXPECT_EQ(rates.BytesPerSecond(kPeer), 0);
  EXPECT_EQ(rates.BytesPerSecond(AgentId{8}), 0);
}

// Short messages are on their way at each sample, and are not the last ones.
TEST(LinkRates, ALinkThatIsIdleInBetweenHasNone) {
  LinkRates rates;
  absl::Time now = absl::UnixEpoch();
  for (int64_t sent = 100; sent < 1'000'000; sent += 100) {
    now += absl::Milliseconds(1);
    rates.Sample(now, kPeer, sent, 100);
    EXPECT_EQ(rates.BytesPerSecond(kPeer), 0);
  }
}

// The peer computed, say; nothing shows that later, for an agent that believes
// the rate sends too little to fill the link.
TEST(LinkRates, ARateOfLongAgoIsNone) {
  LinkRates rates;
  Link link(1e3);
  link.Run(absl::Seconds(1), 100'000, rates);
  EXPECT_NEAR(rates.BytesPerSecond(kPeer), 1e3, 100);
  absl::Time now = absl::UnixEpoch() + absl::Seconds(1);
  int64_t sent = 100'000'000;
  const auto run = [&](absl::Duration time) {
    for (const absl::Time end = now + time; now < end;
         now += absl::Milliseconds(10)) {
      rates.Sample(now, kPeer, sent += 10, 0);
    }
  };
  run(absl::Seconds(4));
  EXPECT_GT(rates.BytesPerSecond(kPeer), 0);
  run(absl::Seconds(2));
  EXPECT_EQ(rates.BytesPerSecond(kPeer), 0);
}

TEST(LinkRates, ARateThatChangesIsLearnedAnew) {
  LinkRates rates;
  Link fast(125e6);
  fast.Run(absl::Seconds(1), 500'000, rates);
  EXPECT_NEAR(rates.BytesPerSecond(kPeer), 125e6, 10e6);
  rates.Forget(kPeer);
  EXPECT_EQ(rates.BytesPerSecond(kPeer), 0);
  Link slow(12.5e6);
  slow.Run(absl::Seconds(3), 50'000, rates);
  EXPECT_NEAR(rates.BytesPerSecond(kPeer), 12.5e6, 2e6);
}

}  // namespace
}  // namespace dogged
