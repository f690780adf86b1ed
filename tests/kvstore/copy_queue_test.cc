// Which labels get their copies when: few at once by their age, many in cuts
// that are whole, and no more cuts than their share of the time.
#include "kvstore/replication/copy_queue.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CopyQueueTest : public testing::Test {
 protected:
  static Label At(int64_t i) { return {.array = 0, .index = {i}}; }

  void Add(int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) queue_.Add(now_, At(i));
  }
  // The first indices of what one pass takes, `time` later.
  std::vector<int64_t> Pass(absl::Duration time, int64_t bytes_each = 1) {
    now_ += time;
    queue_.BeginPass(now_, is_busy_, [this](const Label& label) {
      return !used_up_.contains(label.index[0]);
    });
    std::vector<int64_t> taken;
    while (const std::optional<Label> label = queue_.Take()) {
      taken.push_back(label->index[0]);
      queue_.NoteSent(bytes_each);
    }
    return taken;
  }
  // The first label of all makes a cut of its own.
  void MakeFirstCut() {
    Add(-1, 1);
    EXPECT_THAT(Pass(absl::ZeroDuration()), ElementsAre(-1));
  }

  const CopyLimits limits_{.delay = absl::Milliseconds(10),
                           .bytes_max = 1000,
                           .labels_max = 4,
                           .cut_labels = 400};
  CopyQueue queue_{limits_};
  absl::Time now_ = absl::UnixEpoch();
  bool is_busy_ = true;
  std::set<int64_t> used_up_;
};

TEST_F(CopyQueueTest, FewGoWhenTheyAreOldEnough) {
  EXPECT_EQ(queue_.NextPass(), absl::InfiniteFuture());
  MakeFirstCut();
  Add(0, 3);
  used_up_ = {1};
  EXPECT_THAT(Pass(absl::Milliseconds(9)), IsEmpty());
  EXPECT_EQ(queue_.NextPass(), now_ + absl::Milliseconds(1));
  EXPECT_THAT(Pass(absl::Milliseconds(1)), ElementsAre(0, 2));
  EXPECT_EQ(queue_.NextPass(), absl::InfiniteFuture());
}

// A part of them would be worth nothing.
TEST_F(CopyQueueTest, ManyWaitForACut) {
  MakeFirstCut();
  Add(0, 399);
  used_up_ = {7};
  EXPECT_THAT(Pass(absl::Milliseconds(10)), SizeIs(398));
  Add(400, 40);
  // 398 labels take 1.6 ms, so the next cut is 16 ms later.
  EXPECT_THAT(Pass(absl::Milliseconds(10)), IsEmpty());
  EXPECT_THAT(Pass(absl::Milliseconds(10)), SizeIs(40));
}

TEST_F(CopyQueueTest, ManyLabelsMakeACutToo) {
  MakeFirstCut();
  Add(0, 399);
  EXPECT_THAT(Pass(absl::ZeroDuration()), IsEmpty());
  Add(399, 1);
  EXPECT_THAT(Pass(absl::ZeroDuration()), SizeIs(400));
  // The next one after 16 times as many as it copied.
  Add(400, 6399);
  EXPECT_THAT(Pass(absl::ZeroDuration()), IsEmpty());
  Add(6799, 1);
  EXPECT_THAT(Pass(absl::ZeroDuration()), testing::Not(IsEmpty()));
}

TEST_F(CopyQueueTest, AnIdleAgentNeedNotWait) {
  MakeFirstCut();
  Add(0, 399);
  EXPECT_THAT(Pass(absl::Milliseconds(10)), SizeIs(399));
  Add(400, 50);
  EXPECT_THAT(Pass(absl::Milliseconds(10)), IsEmpty());
  is_busy_ = false;
  EXPECT_THAT(Pass(absl::ZeroDuration()), SizeIs(50));
}

// Where bytes are bounded a cut takes several periods; labels used up meanwhile
// belong to it, labels that come meanwhile do not.
TEST_F(CopyQueueTest, CutsAreWhole) {
  MakeFirstCut();
  Add(0, 30);
  EXPECT_THAT(Pass(absl::Milliseconds(10), 100), SizeIs(10));
  used_up_ = {10, 11, 12};
  Add(100, 5);
  EXPECT_THAT(Pass(absl::Milliseconds(5), 100), IsEmpty());
  EXPECT_THAT(Pass(absl::Milliseconds(5), 100),
              ElementsAre(10, 11, 12, 13, 14, 15, 16, 17, 18, 19));
  EXPECT_THAT(Pass(absl::Milliseconds(10), 100), SizeIs(10));
  EXPECT_THAT(Pass(absl::Milliseconds(20), 100),
              ElementsAre(100, 101, 102, 103, 104));
}

TEST_F(CopyQueueTest, OthersHaveTheirTurnWithinACut) {
  MakeFirstCut();
  Add(0, 10000);
  const std::vector<int64_t> first = Pass(absl::Milliseconds(10), 0);
  EXPECT_LT(first.size(), 1000);
  EXPECT_LE(queue_.NextPass(), now_);
  size_t taken = first.size();
  while (queue_.NextPass() <= now_) {
    taken += Pass(absl::ZeroDuration(), 0).size();
  }
  EXPECT_EQ(taken, 10000);
}

}  // namespace
}  // namespace dogged
