// Aim: clients get each result that they want, once, in few messages: results
// that come singly are sent together, and the last one at once. Method: the
// data structure alone, with a clock that the test moves.
#include "runtime/agent/loop/deliveries.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const ConnectionId kClient(1);
const ConnectionId kOther(2);
const JobId kJob(7);
const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1);

class DeliveriesTest : public testing::Test {
 protected:
  static Label At(int64_t i) { return {.array = 0, .index = {i}}; }
  void Want(ConnectionId client, int64_t begin, int64_t end) {
    WantRequest request{.job = kJob};
    for (int64_t i = begin; i < end; ++i) request.labels.push_back(At(i));
    deliveries_.Want(client, request);
  }
  void Add(int64_t i, int64_t doubles = 1) {
    Value value = Value::Allocate(ElementType::kDouble, {doubles});
    value.Seal();
    deliveries_.Add(kJob, At(i), value, nullptr, send());
  }
  // Frames: each with its client and labels.
  using Frames = std::vector<std::pair<ConnectionId, std::vector<int64_t>>>;
  Frames SentAt(absl::Time now) {
    deliveries_.SendDue(now, send());
    return std::exchange(frames_, {});
  }
  std::function<void(ConnectionId, const ValuesReply&)> send() {
    return [this](ConnectionId client, const ValuesReply& reply) {
      EXPECT_EQ(reply.job, kJob);
      std::vector<int64_t> which;
      for (const auto& [label, value] : reply.values) {
        which.push_back(label.index[0]);
      }
      frames_.emplace_back(client, which);
    };
  }

  Deliveries deliveries_;
  Frames frames_;
};

TEST_F(DeliveriesTest, WhatComesOneByOneGoesTogether) {
  Want(kClient, 0, 10);
  Add(0);
  EXPECT_THAT(SentAt(kStart),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{0})));
  EXPECT_EQ(deliveries_.next_due(), absl::InfiniteFuture());
  Add(1);
  EXPECT_THAT(SentAt(kStart + absl::Milliseconds(1)), IsEmpty());
  Add(2);
  const absl::Time due = deliveries_.next_due();
  EXPECT_EQ(due, kStart + Deliveries::kTogether);
  EXPECT_THAT(SentAt(due - absl::Nanoseconds(1)), IsEmpty());
  EXPECT_THAT(SentAt(due),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{1, 2})));
  // None for a while: nothing to wait for.
  Add(3);
  EXPECT_THAT(SentAt(due + absl::Seconds(1)),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{3})));
}

TEST_F(DeliveriesTest, TheLastTakesAllAlong) {
  Want(kClient, 0, 3);
  Add(2);
  (void)SentAt(kStart);
  Add(0);
  EXPECT_THAT(SentAt(kStart), IsEmpty());
  Add(1);
  EXPECT_THAT(SentAt(kStart),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{0, 1})));
  EXPECT_THAT(deliveries_.Clients(), IsEmpty());
  EXPECT_EQ(deliveries_.next_due(), absl::InfiniteFuture());
}

TEST_F(DeliveriesTest, ManyBytesDoNotWait) {
  Want(kClient, 0, 4);
  Add(0);
  (void)SentAt(kStart);
  Add(1, /*doubles=*/1 << 20);
  EXPECT_THAT(SentAt(kStart),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{1})));
}

TEST_F(DeliveriesTest, EachClientHearsOfWhatItWants) {
  Want(kClient, 0, 2);
  Want(kOther, 1, 4);
  Add(1);
  EXPECT_THAT(SentAt(kStart),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{1}),
                          std::pair(kOther, std::vector<int64_t>{1})));
  Add(0);
  Add(2);
  EXPECT_THAT(SentAt(kStart),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{0})));
  Add(1);  // nobody waits for it any more
  deliveries_.Forget(kOther);
  EXPECT_THAT(SentAt(kStart + absl::Seconds(1)), IsEmpty());
  EXPECT_THAT(deliveries_.Clients(), IsEmpty());
}

// A client holds a frame and its values at a time: that is little, unless one
// value is much.
TEST_F(DeliveriesTest, AFrameHasAMegabyteOrOneValue) {
  bool has_room = false;
  deliveries_.SetRoom([&](ConnectionId) { return has_room; });
  Want(kClient, 0, 6);
  for (int64_t i = 0; i < 3; ++i) Add(i, 50'000);  // 0.4 MB
  Add(3, 200'000);
  for (int64_t i = 4; i < 6; ++i) Add(i, 50'000);
  EXPECT_THAT(SentAt(kStart), IsEmpty());
  has_room = true;
  EXPECT_THAT(SentAt(kStart + Deliveries::kTogether),
              ElementsAre(std::pair(kClient, std::vector<int64_t>{0, 1}),
                          std::pair(kClient, std::vector<int64_t>{2}),
                          std::pair(kClient, std::vector<int64_t>{3}),
                          std::pair(kClient, std::vector<int64_t>{4, 5})));
}

// A client that does not read holds up no other and gets all in the end; its
// waiting results are offered again by time.
TEST_F(DeliveriesTest, WhatAClientDoesNotTakeWaits) {
  bool has_room = false;
  deliveries_.SetRoom(
      [&](ConnectionId client) { return client != kClient || has_room; });
  Want(kClient, 0, 40);
  Want(kOther, 40, 41);
  for (int64_t i = 0; i < 41; ++i) Add(i, 100'000);
  EXPECT_THAT(SentAt(kStart),
              ElementsAre(std::pair(kOther, std::vector<int64_t>{40})));
  EXPECT_EQ(deliveries_.next_due(), kStart + Deliveries::kTogether);
  has_room = true;
  const Frames frames = SentAt(kStart + Deliveries::kTogether);
  EXPECT_GT(frames.size(), 5);
  int64_t next = 0;
  for (const auto& [client, which] : frames) {
    EXPECT_EQ(client, kClient);
    for (const int64_t i : which) EXPECT_EQ(i, next++);
  }
  EXPECT_EQ(next, 40);
  EXPECT_EQ(deliveries_.next_due(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace dogged
