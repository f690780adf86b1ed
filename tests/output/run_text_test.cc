// Aim: people read exactly these words.
// Method: goldens of every sentence, with the edges of each rounding.
#include "apps/output/run_text.h"

#include <cstring>
#include <vector>

#include "gmock/gmock.h"

namespace dogged {
namespace {

TEST(Words, Counts) {
  EXPECT_EQ(GroupedCount(0), "0");
  EXPECT_EQ(GroupedCount(999), "999");
  EXPECT_EQ(GroupedCount(1204), "1 204");
  EXPECT_EQ(GroupedCount(-1234567), "-1 234 567");
  EXPECT_EQ(GroupedCount(-123), "-123");
  EXPECT_EQ(HumanCount(9999), "9 999");
  EXPECT_EQ(HumanCount(10000), "10 k");
  EXPECT_EQ(HumanCount(331000), "331 k");
  EXPECT_EQ(HumanCount(499999), "499 k");
  EXPECT_EQ(HumanCount(999999), "999 k");
  EXPECT_EQ(HumanCount(1000000), "1.0 M");
  EXPECT_EQ(HumanCount(9990000), "9.9 M");
  EXPECT_EQ(HumanCount(10000000000), "10 G");
  EXPECT_EQ(HumanCount(INT64_MAX), "9.2 E");
}

TEST(Words, Bytes) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(40136), "40 kB");
  EXPECT_EQ(HumanBytes(1600136), "1.6 MB");
}

TEST(Words, Percents) {
  EXPECT_EQ(HumanPercent(0), "0 %");
  EXPECT_EQ(HumanPercent(0.00001), "less than 0.01 %");
  EXPECT_EQ(HumanPercent(0.0024), "0.24 %");
  EXPECT_EQ(HumanPercent(0.00996), "1.0 %");
  EXPECT_EQ(HumanPercent(0.012), "1.2 %");
  EXPECT_EQ(HumanPercent(0.0996), "10 %");
  EXPECT_EQ(HumanPercent(0.66), "66 %");
  EXPECT_EQ(HumanPercent(2.5), "250 %");
}

TEST(Words, NamesOfOthersCommandNoTerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
  EXPECT_EQ(Printable("\u00e9t\u00e9 1"), "\u00e9t\u00e9 1");
}

TEST(Words, Times) {
  EXPECT_EQ(HumanTimeLeft(absl::ZeroDuration()), "0:00");
  EXPECT_EQ(HumanTimeLeft(absl::Seconds(2.1)), "0:03");
  EXPECT_EQ(HumanTimeLeft(absl::Seconds(760)), "12:40");
  EXPECT_EQ(HumanTimeLeft(absl::Hours(2)), "2:00:00");
  EXPECT_EQ(HumanTimeLeft(absl::Hours(99)), "4 d 3 h");
  EXPECT_EQ(HumanElapsed(absl::Milliseconds(18)), "0.02 s");
  EXPECT_EQ(HumanElapsed(absl::Seconds(5)), "5.0 s");
  EXPECT_EQ(HumanElapsed(absl::Seconds(10.4)), "10.4 s");
  EXPECT_EQ(HumanElapsed(absl::Seconds(63)), "63 s");
  EXPECT_EQ(HumanElapsed(absl::Minutes(12)), "12 min");
}

TEST(Words, ProgressLine) {
  const Progress progress = {
      .done = 331000, .needed = 500000, .alive = 3, .wanted = 4};
  const Pace pace = {.tasks_per_second = 48200, .left = absl::Seconds(3)};
  EXPECT_EQ(ProgressLine(progress, pace, 100),
            "[#####################...........] 66 %  331 k/500 k   "
            "48 k tasks/s   left 0:03   alive 3/4");
  // A narrow terminal: a shorter bar, then none, then less.
  EXPECT_EQ(ProgressLine(progress, pace, 72),
            "[########.....] 66 %  331 k/500 k   48 k tasks/s   left 0:03   "
            "alive 3/4");
  EXPECT_EQ(ProgressLine(progress, pace, 60),
            "66 %  331 k/500 k   48 k tasks/s   left 0:03   alive 3/4");
  EXPECT_EQ(ProgressLine(progress, pace, 20), "66 %  331 k/500 k");
  EXPECT_EQ(ProgressLine(progress, pace, 2), "");
}

TEST(Words, ProgressLineAtTheEnds) {
  EXPECT_EQ(ProgressLine({.done = 0, .needed = 100}, {}, 60),
            "[................................] 0 %  0/100");
  EXPECT_EQ(ProgressLine({.done = 99999, .needed = 100000}, {}, 60),
            "[###############################.] 99 %  99 k/100 k");
  EXPECT_EQ(ProgressLine({.done = 100, .needed = 100},
                         {.tasks_per_second = 5, .left = absl::Seconds(0)}, 60),
            "[###############################] 100 %  100/100   5 tasks/s");
  // Equal as floating point numbers.
  constexpr int64_t kMany = int64_t{1} << 62;
  EXPECT_EQ(ProgressLine({.done = kMany - 1, .needed = kMany}, {}, 18),
            "99 %  4.6 E/4.6 E");
  EXPECT_EQ(ProgressLine({.done = 17, .needed = 0}, {}, 60), "17 tasks");
}

// An agent that does not answer may be slow; whether it lives is another
// matter.
TEST(Words, ProgressLineTellsSilentFromDead) {
  EXPECT_EQ(
      ProgressLine({.done = 17, .alive = 3, .silent = 3, .wanted = 3}, {}, 60),
      "17 tasks   alive 3/3, 3 silent");
  EXPECT_EQ(ProgressLine({.done = 17, .alive = 0, .wanted = 3}, {}, 60),
            "17 tasks   alive 0/3");
}

TEST(Words, LossSentence) {
  EXPECT_EQ(LossSentence({.who = "agent-2",
                          .after = absl::Seconds(5),
                          .cause = CauseOfSignal(9),
                          .redone = 1204,
                          .needed = 500000,
                          .replaced_by = "agent-5"}),
            "lost agent-2 (killed by signal 9 after 5.0 s): 0.24 % of the "
            "work redone; agent-5 took its place");
  EXPECT_EQ(LossSentence({.who = "agent-0",
                          .after = absl::Seconds(70),
                          .cause = std::string(kCauseSilence)}),
            "lost agent-0 (stopped answering after 70 s): nothing had to be "
            "redone");
  EXPECT_EQ(LossSentence({.who = "agent-1",
                          .after = absl::Seconds(1),
                          .cause = CauseOfExit(3),
                          .redone = 1}),
            "lost agent-1 (exited with status 3 after 1.0 s): 1 task redone");
}

TEST(Words, Ends) {
  EXPECT_EQ(DoneSentence({.elapsed = absl::Seconds(10.4),
                          .agents_lost = 2,
                          .redone = 3000,
                          .needed = 500000}),
            "done in 10.4 s   agents lost 2   redone 0.60 %");
  EXPECT_EQ(DoneSentence({.elapsed = absl::Seconds(1)}), "done in 1.0 s");
  EXPECT_EQ(DoneSentence({.elapsed = absl::Seconds(1),
                          .agents_lost = 1,
                          .missing = "heat.npy is not written"}),
            "computed in 1.0 s, but not done: heat.npy is not written");
  EXPECT_EQ(ReplicasSentence(0, 1), "");
  EXPECT_EQ(ReplicasSentence(3, 3), "");
  EXPECT_EQ(ReplicasSentence(4, 3),
            "--replicas 4 with 3 agents keeps 3 copies of each value");
  EXPECT_EQ(ReplicasSentence(2, 1),
            "--replicas 2 with 1 agent keeps 1 copy of each value");
  EXPECT_EQ(ResultSentence("heat.npy", 40136), "result heat.npy (40 kB)");
  const Digest digest = {.low = 2, .high = 1};
  EXPECT_EQ(CheckSentence(digest, digest),
            "check: matches the serial run bit for bit (digest "
            "00000000000000010000000000000002)");
  EXPECT_EQ(CheckSentence(digest, {.low = 3, .high = 1}),
            "check: DIFFERS from the serial run: digest "
            "00000000000000010000000000000002, serial "
            "00000000000000010000000000000003");
}

TEST(Words, NameWhereValuesDiffer) {
  const auto table = [](std::vector<double> numbers) {
    Value out = Value::Allocate(ElementType::kDouble, {2, 3});
    std::memcpy(out.mutable_data(), numbers.data(), 48);
    out.Seal();
    return out;
  };
  const Value one = table({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(DifferenceSentence("A", one, one), "");
  EXPECT_EQ(DifferenceSentence("A", one, table({1, 2, 3, 4, 0.25, 7})),
            "A: 2 of 6 differ, the first at [1, 1]: 5, serially 0.25");
  // Bits, as digests have it.
  EXPECT_EQ(DifferenceSentence("s", Value::Scalar(0.0), Value::Scalar(-0.0)),
            "s: 1 of 1 differ, the first: 0, serially -0");
}

}  // namespace
}  // namespace dogged
