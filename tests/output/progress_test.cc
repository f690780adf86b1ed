// Aim: one line on a terminal that rewrites itself, few plain lines elsewhere.
// Method: a literal clock, every byte that comes back.
#include "apps/output/progress.h"

#include "gmock/gmock.h"

namespace dogged {
namespace {

using ::testing::HasSubstr;

constexpr absl::Time kStart = absl::UnixEpoch();

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

TEST(ProgressMeter, RewritesOneLineOnATerminal) {
  ProgressMeter meter({.is_terminal = true, .columns = 40});
  EXPECT_EQ(meter.Update(At(0), {.done = 0, .needed = 100}),
            "\r\x1b[K[..........................] 0 %  0/100");
  EXPECT_EQ(meter.Update(At(0.05), {.done = 5, .needed = 100}), "");
  EXPECT_EQ(meter.Update(At(1), {.done = 50, .needed = 100}),
            "\r\x1b[K50 %  50/100   50 tasks/s   left 0:01");
  EXPECT_EQ(meter.Note("lost agent-2"),
            "\r\x1b[K  lost agent-2\n50 %  50/100   50 tasks/s   left 0:01");
  EXPECT_EQ(meter.Finish(), "\r\x1b[K50 %  50/100   50 tasks/s   left 0:01\n");
  EXPECT_EQ(meter.Finish(), "");
}

TEST(ProgressMeter, WhatIsWaitedForIsWipedAwayOnATerminal) {
  ProgressMeter terminal({.is_terminal = true, .columns = 40});
  EXPECT_EQ(terminal.Wait("check: running"), "\r\x1b[Kcheck: running");
  EXPECT_EQ(terminal.Finish(), "\r\x1b[K");
  ProgressMeter plain({});
  EXPECT_EQ(plain.Wait("check: running"), "check: running\n");
  EXPECT_EQ(plain.Finish(), "");
}

TEST(ProgressMeter, WhatIsWaitedForHasProgress) {
  ProgressMeter terminal({.is_terminal = true, .columns = 40});
  EXPECT_EQ(terminal.Wait("check: running"), "\r\x1b[Kcheck: running");
  EXPECT_EQ(terminal.Update(At(0), {.done = 1, .needed = 4}),
            "\r\x1b[Kcheck: running   [##........] 25 %  1/4");
  EXPECT_EQ(terminal.Finish(), "\r\x1b[K");
  ProgressMeter plain({});
  EXPECT_EQ(plain.Wait("check: running"), "check: running\n");
  EXPECT_EQ(plain.Update(At(0), {.done = 1, .needed = 4}), "");
  EXPECT_EQ(plain.Update(At(2), {.done = 3, .needed = 4}),
            "check: running   [########################........] 75 %  3/4   "
            "1 tasks/s   left 0:01\n");
  EXPECT_EQ(plain.Finish(), "");
}

TEST(ProgressMeter, WritesPlainLinesEveryTwoSeconds) {
  ProgressMeter meter({});
  std::string out;
  for (int step = 0; step <= 50; ++step) {
    out += meter.Update(At(0.1 * step), {.done = step, .needed = 100});
  }
  EXPECT_EQ(out,
            "[######..........................] 20 %  20/100   10 tasks/s   "
            "left 0:08\n"
            "[############....................] 40 %  40/100   10 tasks/s   "
            "left 0:06\n");
  EXPECT_EQ(meter.Note("lost agent-2"), "  lost agent-2\n");
  EXPECT_EQ(meter.Finish(), "");
}

TEST(ProgressMeter, AShortRunNeedsNoPlainLine) {
  ProgressMeter meter({});
  EXPECT_EQ(meter.Update(At(0), {.done = 0, .needed = 10}), "");
  EXPECT_EQ(meter.Update(At(1.9), {.done = 10, .needed = 10}), "");
}

TEST(ProgressMeter, ThePaceIsThatOfTheWindow) {
  ProgressMeter meter({});
  int64_t done = 0;
  std::string last;
  // Fast for ten seconds, slow for ten more.
  for (int step = 0; step <= 200; ++step) {
    done += step <= 100 ? 100 : 1;
    const std::string line =
        meter.Update(At(0.1 * step), {.done = done, .needed = 100000});
    if (!line.empty()) last = line;
  }
  EXPECT_THAT(last, HasSubstr("   10 tasks/s"));
}

TEST(ProgressMeter, WithoutProgressThereIsNoTimeLeft) {
  ProgressMeter meter({.is_terminal = true});
  meter.Update(At(0), {.done = 3, .needed = 100});
  EXPECT_EQ(meter.Update(At(60), {.done = 3, .needed = 100}),
            "\r\x1b[K[................................] 3 %  3/100");
}

}  // namespace
}  // namespace dogged
