// Aim: all is written as long as the disk keeps up; where it does not, whole
// generations are, of the same versions everywhere, and the rest in the end.
// Method: labels, time and the engine's working time by hand.
#include "kvstore/storage/write_queue.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kvstore/fake_labels.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Row(i)(t) is made of row(i)(t - distance).
FakeLabels Rows(int64_t distance) {
  return FakeLabels({.steps = 999, .distance = distance});
}

class WriteQueueTest : public testing::Test {
 protected:
  static Label Row(int64_t i, int64_t t) {
    return {.array = 0, .index = {i, t}};
  }
  static Label End(int64_t i) { return FakeLabels::Part(i); }

  void Add(int64_t i, int64_t first, int64_t last) {
    for (int64_t t = first; t <= last; ++t) {
      queue_.Add(Row(i, t), /*must_go=*/false);
    }
  }
  // `time` later, of which the engine has worked for `share`.
  void Pass(absl::Duration time, double share) {
    now_ += time;
    busy_ += share * time;
    queue_.BeginPass(now_, busy_);
  }
  // The versions, or first indices, of all that is to be written now.
  std::vector<int64_t> TakeAll() {
    Pass(absl::ZeroDuration(), 0);
    std::vector<int64_t> out;
    while (const std::optional<Label> label = queue_.Take()) {
      out.push_back(label->index[label->index.size() - 1]);
    }
    return out;
  }
  // Until the stride is this.
  void Double() {
    Add(9, 0, queue_.stride());
    TakeAll();
  }

  const FakeLabels labels_ = Rows(1);
  WriteQueue queue_{labels_};
  absl::Time now_ = absl::UnixEpoch();
  absl::Duration busy_;
};

TEST_F(WriteQueueTest, AllIsWrittenInOrderWhereTheDiskKeepsUp) {
  for (int64_t t = 0; t < 5; ++t) {
    Add(0, t, t);
    Add(1, t, t);
    EXPECT_THAT(TakeAll(), ElementsAre(t, t));
  }
  EXPECT_EQ(queue_.stride(), 1);
}

TEST_F(WriteQueueTest, ARowWhoseFormerVersionStillWaitsDoublesTheStride) {
  Add(0, 0, 1);
  Pass(absl::Milliseconds(1), 0);
  EXPECT_EQ(queue_.stride(), 2);
  // Labels that waited are written all the same: they are whole generations.
  Add(0, 2, 3);
  EXPECT_THAT(TakeAll(), ElementsAre(0, 1, 2));
  Add(0, 4, 5);
  EXPECT_THAT(TakeAll(), ElementsAre(4));
  EXPECT_EQ(queue_.stride(), 2);
}

TEST_F(WriteQueueTest, OtherRowsMayBeBehind) {
  Add(0, 7, 7);
  Add(1, 3, 3);
  Add(2, 9, 9);
  EXPECT_THAT(TakeAll(), ElementsAre(7, 3, 9));
  EXPECT_EQ(queue_.stride(), 1);
}

TEST_F(WriteQueueTest, TheStrideFollowsTheEnginesWork) {
  Pass(absl::ZeroDuration(), 0);
  for (int i = 0; i < 100; ++i) Pass(absl::Milliseconds(100), 0.4);
  EXPECT_EQ(queue_.stride(), 1);
  for (int i = 0; i < 100; ++i) Pass(absl::Milliseconds(100), 0.9);
  const int64_t busy_stride = queue_.stride();
  EXPECT_GE(busy_stride, 4);
  for (int i = 0; i < 100; ++i) Pass(absl::Milliseconds(100), 0.3);
  EXPECT_EQ(queue_.stride(), busy_stride);
  for (int i = 0; i < 1000; ++i) Pass(absl::Milliseconds(100), 0.01);
  EXPECT_EQ(queue_.stride(), 1);
}

TEST_F(WriteQueueTest, ResultsAndWhatHasNoVersionsAlwaysGo) {
  Double();
  Double();
  ASSERT_EQ(queue_.stride(), 4);
  queue_.Add(Row(0, 5), /*must_go=*/true);
  queue_.Add(Row(0, 6), /*must_go=*/false);
  queue_.Add(End(3), /*must_go=*/false);
  EXPECT_THAT(TakeAll(), ElementsAre(5, 3));
}

// Else a path over the odd versions would come to nothing that is written.
TEST_F(WriteQueueTest, NoDependencePassesOverAGeneration) {
  const FakeLabels labels = Rows(2);
  WriteQueue queue(labels);
  for (int64_t t = 0; t < 3; ++t) queue.Add(Row(0, t), false);
  queue.BeginPass(now_, busy_);
  ASSERT_EQ(queue.stride(), 2);
  while (queue.Take()) {
  }
  for (int64_t t = 3; t < 8; ++t) queue.Add(Row(0, t), false);
  queue.BeginPass(now_, busy_);
  ASSERT_EQ(queue.stride(), 4);
  while (queue.Take()) {
  }
  std::vector<int64_t> written;
  for (int64_t t = 8; t < 16; ++t) {
    queue.Add(Row(0, t), false);
    while (const auto label = queue.Take()) written.push_back(label->index[1]);
  }
  EXPECT_THAT(written, ElementsAre(8, 9, 12, 13));
}

TEST_F(WriteQueueTest, WhatIsLeftFarBehindIsWrittenAfterAll) {
  Double();
  Add(0, 3, 3);
  EXPECT_THAT(TakeAll(), IsEmpty());
  queue_.Add(Row(1, 10), false);
  EXPECT_THAT(TakeAll(), ElementsAre(10));
  queue_.Add(Row(1, 11), false);
  EXPECT_THAT(TakeAll(), ElementsAre(3));
}

TEST_F(WriteQueueTest, LeavesOutNoMoreThanItCanRemember) {
  Double();
  for (int64_t i = 0; i < (1 << 18) + 2; ++i) queue_.Add(Row(i, 3), false);
  EXPECT_EQ(TakeAll().size(), 2u);
}

TEST_F(WriteQueueTest, WhatWasLeftOutGoesAtTheEnd) {
  Double();
  Add(1, 1, 3);
  EXPECT_THAT(TakeAll(), ElementsAre(2));
  EXPECT_FALSE(queue_.IsEmpty());
  queue_.AddLeftOut();
  EXPECT_THAT(TakeAll(), ElementsAre(1, 3));
  EXPECT_TRUE(queue_.IsEmpty());
}

}  // namespace
}  // namespace dogged
