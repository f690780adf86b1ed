// Aim: agents that refuse this one are named in its log, however many they are
// and however long they do, and don't fill it. Method: the machine alone, under
// a clock that we move.
#include "runtime/agent/loop/dial_refusals.h"

#include <gtest/gtest.h>

#include <string>

namespace dogged {
namespace {

const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1);

TEST(DialRefusals, TwoAddressesInTurnGiveALineEachThenFewerWithCounts) {
  DialRefusals refusals;
  int lines = 0;
  std::string last;
  for (int second = 0; second < 3600; ++second) {
    for (const std::string address : {"a:1", "b:2"}) {
      const auto line =
          refusals.Add(kStart + absl::Seconds(second), address,
                       address + " does not take our key (theirs 1, ours 2)");
      if (!line.has_value()) continue;
      ++lines;
      if (address == "a:1") last = *line;
      if (second == 0) {
        EXPECT_EQ(*line, "can't join: " + address +
                             " does not take our key (theirs 1, ours 2)");
      }
    }
  }
  // After 1, 3, 7, 15 and 31 minutes.
  EXPECT_EQ(lines, 2 * 6);
  EXPECT_EQ(last,
            "can't join: a:1 does not take our key (theirs 1, ours 2) (and 959 "
            "times before)");
}

TEST(DialRefusals, OtherWordsAreNews) {
  DialRefusals refusals;
  EXPECT_TRUE(refusals.Add(kStart, "a:1", "theirs 1").has_value());
  EXPECT_FALSE(refusals.Add(kStart, "a:1", "theirs 1").has_value());
  EXPECT_TRUE(refusals.Add(kStart, "a:1", "theirs 2").has_value());
}

TEST(DialRefusals, ManyAddressesGiveSomeLinesAMinute) {
  DialRefusals refusals;
  int lines = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10000; ++i) {
      lines += refusals
                   .Add(kStart + round * absl::Minutes(1),
                        "a:" + std::to_string(i), "no")
                   .has_value();
    }
  }
  EXPECT_EQ(lines, 3 * 10);
}

}  // namespace
}  // namespace dogged
