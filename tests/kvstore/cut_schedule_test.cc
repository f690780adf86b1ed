// When there are cuts, and how fast their copies go.
#include "kvstore/replication/cut_schedule.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kvstore/replication/cut_queue.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;

class CutScheduleTest : public testing::Test {
 protected:
  // 100 MB/s, four agents.
  void Start(const CutLimits& limits) {
    cuts_.emplace(limits);
    cuts_->NoteMembers(now_, 4, 0);
    cuts_->SetRate(100e6);
    Pass(absl::ZeroDuration());
  }
  void Pass(absl::Duration time, bool is_busy = true) {
    now_ += time;
    cuts_->BeginPass(now_, is_busy);
  }
  // After how many seconds a cut of so many bytes is due.
  double DueAfter(int64_t bytes) {
    double seconds = 0;
    while (!cuts_->IsDue(1, bytes, bytes) && seconds < 1e6) {
      seconds += 0.5;
      Pass(absl::Seconds(0.5));
    }
    return seconds;
  }

  bool HasRoom(bool are_links_idle = false) const {
    return cuts_->HasRoom([=] { return are_links_idle; });
  }

  absl::Time now_ = absl::UnixEpoch();
  std::optional<CutSchedule> cuts_;
};

TEST_F(CutScheduleTest, TheIntervalIsYoungs) {
  Start({.held_bytes_max = INT64_MAX / 4});
  // sqrt(2 * 1 s * 86400 s) of an agent that is lost once a day.
  EXPECT_NEAR(absl::ToDoubleSeconds(cuts_->IntervalFor(absl::Seconds(1))),
              415.7, 1);
  // Meanwhile none is lost.
  EXPECT_NEAR(DueAfter(100'000'000), 450, 20);
}

// Halos that neighbours may need again pile up from cut to cut.
TEST_F(CutScheduleTest, WhatIsUsedUpCostsACutNothing) {
  Start({.redo_max = absl::Seconds(5)});
  // 20 MB are in use, 30 MB a second are made.
  constexpr int64_t kInUse = 20'000'000;
  int64_t held = kInUse;
  int cuts = 0;
  for (int tick = 0; tick < 600; ++tick) {
    Pass(absl::Milliseconds(100));
    held += 3'000'000;
    if (!cuts_->IsDue(1, kInUse, held)) continue;
    cuts_->NoteCut(1, kInUse);
    held = kInUse;
    ++cuts;
  }
  EXPECT_EQ(cuts, 13);  // every 5 s, less three times the 0.2 s of a cut
}

TEST_F(CutScheduleTest, CopiesTakeATenthOfTheLinksAtMost) {
  Start({.loss_interval = absl::Milliseconds(1)});
  EXPECT_EQ(cuts_->IntervalFor(absl::Seconds(1)), absl::Seconds(10));
  // 10 MB/s, whatever was left out before.
  Pass(absl::Seconds(5));
  int64_t sent = 0;
  for (int pass = 0; pass < 1000; ++pass) {
    while (HasRoom()) {
      cuts_->NoteSent(1'000'000);
      sent += 1'000'000;
    }
    Pass(absl::Milliseconds(1));
  }
  EXPECT_NEAR(static_cast<double>(sent), 10e6, 1.5e6);
  EXPECT_GT(cuts_->NextRoom(), now_);
  // Without work they have all of it.
  sent = 0;
  for (int pass = 0; pass < 1000; ++pass) {
    Pass(absl::Milliseconds(1), /*is_busy=*/false);
    while (HasRoom()) {
      cuts_->NoteSent(1'000'000);
      sent += 1'000'000;
    }
  }
  EXPECT_NEAR(static_cast<double>(sent), 100e6, 5e6);
  EXPECT_TRUE(cuts_->IsDue(1, 1'000'000'000, 1'000'000'000));
}

// A rate that was learned while the peer computed is no reason to wait: at 20
// kB/s a copy of 1 MB would keep the next one waiting for 50 s.
TEST_F(CutScheduleTest, IdleLinksHaveRoomWhateverTheirRate) {
  Start({});
  cuts_->SetRate(20e3);
  cuts_->NoteSent(1'000'000);
  EXPECT_FALSE(HasRoom(/*are_links_idle=*/true));
  EXPECT_GT(cuts_->NextRoom(), now_ + absl::Seconds(400));
  Pass(absl::Milliseconds(1), /*is_busy=*/false);
  EXPECT_FALSE(HasRoom());
  EXPECT_TRUE(HasRoom(/*are_links_idle=*/true));
  EXPECT_LE(cuts_->NextRoom(), now_ + absl::Milliseconds(1));
}

TEST_F(CutScheduleTest, ExperienceOfLossesCounts) {
  Start({});
  const absl::Duration calm = cuts_->IntervalFor(absl::Seconds(1));
  for (int loss = 0; loss < 3; ++loss) {
    Pass(absl::Minutes(10));
    cuts_->NoteMembers(now_, 4, 1);
  }
  Pass(absl::Seconds(1));
  // 3.1 losses in 8640 and 7200 seconds of agents.
  EXPECT_NEAR(absl::ToDoubleSeconds(cuts_->IntervalFor(absl::Seconds(1))), 101,
              2);
  EXPECT_LT(4 * cuts_->IntervalFor(absl::Seconds(1)), calm);
}

// Work is at risk from the begin of the last whole cut; of a cut in the making,
// too.
TEST_F(CutScheduleTest, WorkIsAtRiskUntilACutIsWhole) {
  const absl::Time begin = absl::UnixEpoch();
  CutSchedule cuts({});
  cuts.NoteMembers(begin, 4, 0);
  EXPECT_EQ(cuts.AtRisk(), absl::ZeroDuration());
  const auto at = [&](int seconds) {
    cuts.BeginPass(begin + absl::Seconds(seconds), true);
    return cuts.AtRisk();
  };
  EXPECT_EQ(at(10), absl::Seconds(10));
  cuts.NoteCut(5, 100);
  EXPECT_EQ(at(12), absl::Seconds(12));
  cuts.NoteWhole(true);
  EXPECT_EQ(at(12), absl::Seconds(2));
  EXPECT_EQ(at(15), absl::Seconds(5));
  cuts.NoteWhole(false);
  EXPECT_EQ(at(16), absl::Seconds(1));
}

TEST_F(CutScheduleTest, ABoundOnWhatIsLostMakesMoreCuts) {
  Start({.redo_max = absl::Seconds(30)});
  // The work during a cut may be lost, too.
  EXPECT_EQ(cuts_->IntervalFor(absl::Seconds(1)), absl::Seconds(27));
  EXPECT_EQ(cuts_->IntervalFor(absl::Seconds(10)), absl::Seconds(30));
}

// Nothing is waited for but the messages: ten times their time passes between,
// mostly fifty times.
TEST_F(CutScheduleTest, LoansMakeACutOften) {
  constexpr int64_t kBytes = int64_t{1} << 40;
  Start({});
  cuts_->SetLoans();
  cuts_->NoteCut(100, kBytes);
  Pass(absl::Milliseconds(41));
  EXPECT_FALSE(cuts_->IsDue(1, kBytes, kBytes));
  Pass(absl::Milliseconds(9));
  EXPECT_TRUE(cuts_->IsDue(1, kBytes, kBytes));
  cuts_->NoteSent(kBytes);
  Pass(absl::Milliseconds(2));
  EXPECT_TRUE(HasRoom());
  // One part in fifty of the time for 1000 messages, up to half a second; the
  // work during a cut may be lost, too.
  cuts_->NoteCut(1000, kBytes);
  Pass(absl::Milliseconds(310));
  EXPECT_FALSE(cuts_->IsDue(1, kBytes, kBytes));
  Pass(absl::Milliseconds(20));
  EXPECT_TRUE(cuts_->IsDue(1, kBytes, kBytes));
  cuts_->NoteCut(2000, kBytes);
  Pass(absl::Milliseconds(330));
  EXPECT_FALSE(cuts_->IsDue(1, kBytes, kBytes));
  Pass(absl::Milliseconds(20));
  EXPECT_TRUE(cuts_->IsDue(1, kBytes, kBytes));
  // 50,000 messages of 8 us.
  cuts_->NoteCut(50'000, kBytes);
  Pass(absl::Seconds(3.9));
  EXPECT_FALSE(cuts_->IsDue(1, kBytes, kBytes));
  Pass(absl::Seconds(0.2));
  EXPECT_TRUE(cuts_->IsDue(1, kBytes, kBytes));
  // Links between hosts again.
  cuts_->SetRate(100e6);
  Pass(absl::Seconds(4));
  EXPECT_FALSE(cuts_->IsDue(1, kBytes, kBytes));
}

TEST_F(CutScheduleTest, MemoryMakesMoreCuts) {
  Start({.held_bytes_max = 50'000'000});
  cuts_->NoteCut(100, 100'000'000);
  EXPECT_GT(DueAfter(250'000'000), 100);
  cuts_->NoteCut(100, 100'000'000);
  EXPECT_NEAR(DueAfter(251'000'000), 25.5, 1);
}

TEST_F(CutScheduleTest, ManyLabelsMakeMoreCuts) {
  Start({.labels_max = 500});
  cuts_->NoteCut(100, 1);
  Pass(absl::Milliseconds(7));
  EXPECT_FALSE(cuts_->IsDue(801, 1, 1));
  // Ten times the 0.8 ms of the messages.
  Pass(absl::Milliseconds(2));
  EXPECT_FALSE(cuts_->IsDue(800, 1, 1));
  EXPECT_TRUE(cuts_->IsDue(801, 1, 1));
}

TEST_F(CutScheduleTest, AfterAChangeOfMembersTheNextCutComesEarly) {
  Start({});
  cuts_->NoteMembers(now_, 4, 0);  // labels are spread in another way
  EXPECT_GT(DueAfter(100'000'000), 100);
  cuts_->NoteCut(100, 100'000'000);
  cuts_->NoteMembers(now_, 3, 1);
  EXPECT_NEAR(DueAfter(100'000'000), 10, 1);
  cuts_->NoteCut(100, 100'000'000);
  EXPECT_GT(DueAfter(100'000'000), 100);
}

TEST(CutQueue, CutsAreWhole) {
  const auto at = [](int64_t i) { return Label{.array = 0, .index = {i}}; };
  CutQueue queue;
  for (int64_t i = 0; i < 5; ++i) queue.Add(at(i));
  queue.Begin([&](const Label& label) { return label.index[0] % 2 == 0; });
  queue.Add(at(5));
  EXPECT_EQ(queue.waiting_count(), 1);
  std::vector<int64_t> taken;
  while (const std::optional<Label> label = queue.Take()) {
    taken.push_back(label->index[0]);
  }
  EXPECT_THAT(taken, ElementsAre(0, 2, 4));
  EXPECT_FALSE(queue.IsCutting());
  queue.Begin([](const Label&) { return true; });
  EXPECT_EQ(queue.Take(), at(5));
}

}  // namespace
}  // namespace dogged
