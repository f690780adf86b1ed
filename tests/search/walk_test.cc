// Aim: a walk finds every task that has to run, in an order in which it can,
// and passes by what others do. Method: a dictionary as a set of labels; walks
// over a stencil and a Cholesky graph, with answers made from it.
#include "runtime/job/search/walk.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "runtime/graph/builder.h"
#include "tests/exec/programs.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

using Kind = Walk::Step::Kind;

class Dictionary {
 public:
  explicit Dictionary(const Relations& relations) : relations_(relations) {}

  // Walks from `label` to the end, running what it is told to. Returns how
  // many tasks that were.
  int64_t Solve(Walk& walk, const Label& label) {
    int64_t ran = 0;
    walk.Start(label);
    while (true) {
      const Walk::Step step = walk.Next();
      if (step.kind == Kind::kEnd) return ran;
      EXPECT_NE(step.kind, Kind::kWait);
      for (const auto& lookup : step.lookups) Answer(walk, lookup.label);
      if (step.kind != Kind::kRun) continue;
      ++ran;
      relations_.ForEachRequired(step.task, [&](int, const Label& required) {
        EXPECT_TRUE(bound.contains(required));
      });
      relations_.ForEachCreated(step.task, [&](int, const Label& created) {
        EXPECT_TRUE(bound.insert(created).second) << "run twice";
      });
    }
  }
  void Answer(Walk& walk, const Label& label) {
    const LabelState state = bound.contains(label)     ? LabelState::kBound
                             : claimed.contains(label) ? LabelState::kClaimed
                                                       : LabelState::kUnbound;
    walk.OnAnswer(label, state, std::nullopt);
  }
  std::set<Label> bound;
  std::set<Label> claimed;

 private:
  const Relations& relations_;
};

// x(0) to x(steps), each made of the one before.
Program Chain(int64_t steps) {
  ProgramBuilder b("chain");
  const int32_t x = b.AddArray({.name = "x", .rank = 1});
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr last = i - AffineExpr::Constant(1);
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"i", 0, steps}}),
              .creates = {{x, {i}}},
              .uses = {{x, {last}, AtLeastZero(last)}},
              .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(x, Domain::Box({{"i", steps, steps}}));
  return std::move(b).Build().value();
}

Walk NewWalk(const Relations& relations, uint64_t seed) {
  return Walk(relations, Rng(seed), 1000, [](const Label&) { return false; });
}

TEST(Walk, WalksTogetherBindAllThatIsNeeded) {
  for (const Job& job : {Heat1dJob(12, 6, 4), CholeskyJob(5)}) {
    const Relations relations(job.program);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dictionary dictionary(relations);
      int64_t ran = 0;
      // A single walk does not bind its result: it passes by labels that it has
      // walked.
      for (int round = 0; round < 1000; ++round) {
        const int64_t before = ran;
        relations.ForEachResult([&](const Label& label) {
          if (dictionary.bound.contains(label)) return true;
          Walk walk = NewWalk(relations, seed * 1000 + round);
          ran += dictionary.Solve(walk, label);
          return true;
        });
        if (ran == before) break;
      }
      EXPECT_TRUE(relations.ForEachResult([&](const Label& label) {
        return dictionary.bound.contains(label);
      }));
      EXPECT_EQ(ran, job.program.TaskCount());
    }
  }
}

TEST(Walk, PassesByWhatIsClaimed) {
  const Job job = Heat1dJob(5, 1, 5);
  const Relations relations(job.program);
  Dictionary dictionary(relations);
  const Label middle{.array = 0, .index = {2, 0}};
  dictionary.claimed.insert(middle);
  Walk walk = NewWalk(relations, 1);
  dictionary.Solve(walk, {.array = 0, .index = {2, 1}});
  EXPECT_FALSE(dictionary.bound.contains(middle));
  EXPECT_EQ(dictionary.bound.size(), 2u);  // its neighbours
}

// C(58, 29) paths lead to the one claimed task.
TEST(Walk, GoesToADeadEndOnce) {
  constexpr int64_t kSize = 30;
  const Program program = Wavefront(kSize);
  const Relations relations(program);
  Walk walk = NewWalk(relations, 1);
  const Label claimed{.array = 0, .index = {0, 0}};
  walk.Start({.array = 0, .index = {kSize - 1, kSize - 1}});
  int64_t lookups = 0;
  while (true) {
    const Walk::Step step = walk.Next();
    if (step.kind == Kind::kEnd) break;
    ASSERT_EQ(step.kind, Kind::kLookup);
    for (const auto& lookup : step.lookups) {
      walk.OnAnswer(
          lookup.label,
          lookup.label == claimed ? LabelState::kClaimed : LabelState::kUnbound,
          std::nullopt);
    }
    lookups += std::ssize(step.lookups);
    ASSERT_LE(lookups, 2 * kSize * kSize);
  }
}

// From the dead end it goes back to what it has kept of its way, and no
// farther.
TEST(Walk, KeepsTheLowestTasksOfItsWay) {
  constexpr int64_t kSize = 30;
  constexpr int64_t kWayDown = 2 * kSize - 1;
  const Program program = Wavefront(kSize);
  const Relations relations(program);
  for (const size_t frames_max : {size_t{4}, size_t{1000}}) {
    Dictionary dictionary(relations);
    dictionary.claimed.insert({.array = 0, .index = {0, 0}});
    Walk walk(relations, Rng(1), frames_max,
              [](const Label&) { return false; });
    walk.Start({.array = 0, .index = {kSize - 1, kSize - 1}});
    int64_t lookups = 0;
    Walk::Step step = walk.Next();
    for (; step.kind == Kind::kLookup; step = walk.Next()) {
      lookups += std::ssize(step.lookups);
      for (const auto& lookup : step.lookups) {
        dictionary.Answer(walk, lookup.label);
      }
    }
    EXPECT_EQ(step.kind, Kind::kEnd);
    if (frames_max == 4) {
      EXPECT_LT(lookups, 3 * kWayDown);
    } else {
      EXPECT_GT(lookups, 6 * kWayDown);
    }
  }
}

TEST(Walk, JumpsToTheFrontierOfARow) {
  const Job job = Heat1dJob(5, 50, 5);
  const Relations relations(job.program);
  Walk walk = NewWalk(relations, 1);
  const Label result{.array = 0, .index = {2, 50}};
  walk.Start(result);
  ASSERT_EQ(walk.Next().kind, Kind::kLookup);
  walk.OnAnswer(result, LabelState::kUnbound, 30);
  const Walk::Step step = walk.Next();
  ASSERT_EQ(step.kind, Kind::kLookup);
  for (const auto& lookup : step.lookups) {
    EXPECT_EQ(lookup.label.index[1], 30);  // inputs of version 31
    walk.OnAnswer(lookup.label, LabelState::kBound, 30);
  }
  const Walk::Step run = walk.Next();
  ASSERT_EQ(run.kind, Kind::kRun);
  EXPECT_EQ(run.task.index, (IndexVector{2, 31}));
}

// A million steps down, nothing bound: no recursion, and of the way down only
// the lowest tasks are kept. The first task of all is the one that can run.
TEST(Walk, ALongWayDownEndsAtTheFirstTask) {
  constexpr int64_t kSteps = 1'000'000;
  const Program program = Chain(kSteps);
  const Relations relations(program);
  Dictionary dictionary(relations);
  Walk walk(relations, Rng(1), /*frames_max=*/100,
            [](const Label&) { return false; });
  EXPECT_EQ(dictionary.Solve(walk, {.array = 0, .index = {kSteps}}), 1);
  EXPECT_TRUE(dictionary.bound.contains({.array = 0, .index = {0}}));
}

// Without claims, that is all that keeps agents from doing the same work.
TEST(Walk, WalksOfOtherSeedsGoOtherWays) {
  const Program program = Wavefront(16);
  const Relations relations(program);
  std::set<Task> ends;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Dictionary dictionary(relations);
    for (int64_t i = 0; i < 8; ++i) {  // a diagonal of tasks that can run
      for (int64_t j = 0; i + j < 8; ++j) {
        dictionary.bound.insert({.array = 0, .index = {i, j}});
      }
    }
    Walk walk = NewWalk(relations, seed);
    walk.Start({.array = 0, .index = {15, 15}});
    Walk::Step step = walk.Next();
    for (; step.kind == Kind::kLookup; step = walk.Next()) {
      for (const auto& lookup : step.lookups) {
        dictionary.Answer(walk, lookup.label);
      }
    }
    ASSERT_EQ(step.kind, Kind::kRun);
    ends.insert(step.task);
  }
  EXPECT_GE(ends.size(), 4u);  // of the 9 on the diagonal
}

// The home of eight versions knows the newest of these; of the others it has
// heard some time ago.
TEST(Walk, FindsTheFrontierOfARowWithManyHomes) {
  constexpr int64_t kVersions = 64;
  constexpr int64_t kBlock = 8;
  ProgramBuilder b("chain");
  const AffineExpr v = AffineExpr::Index(0);
  const int32_t x = b.AddArray(
      {.name = "x", .rank = 1, .affinity_block = {kBlock}, .version_index = 0});
  const int32_t kernel = b.AddKernel({"mix", "test", ""});
  b.AddClass({.name = "first",
              .creates = {{x, {AffineExpr::Constant(0)}}},
              .kernel = kernel});
  b.AddClass({.name = "next",
              .domain = Domain::Box({{"v", 1, kVersions - 1}}),
              .creates = {{x, {v}}},
              .uses = {{x, {v - AffineExpr::Constant(1)}, {}}},
              .kernel = kernel});
  const Program program = std::move(b).Build().value();
  const Relations relations(program);
  int64_t bound = 0;  // versions before this one are
  int64_t lookups = 0;
  const auto answer = [&](Walk& walk, const Label& label) {
    const int64_t version = label.index[0];
    const int64_t block = version / kBlock * kBlock;
    const int64_t here = std::min(bound, block + kBlock) - 1;
    const int64_t newest = here >= block ? here : bound / 2 - 1;
    walk.OnAnswer(label,
                  version < bound ? LabelState::kBound : LabelState::kUnbound,
                  newest < 0 ? std::nullopt : std::optional<int64_t>(newest));
    ++lookups;
  };
  while (bound < kVersions) {
    Walk walk = NewWalk(relations, 1);
    walk.Start({.array = x, .index = {kVersions - 1}});
    Walk::Step step = walk.Next();
    for (; step.kind == Kind::kLookup; step = walk.Next()) {
      for (const auto& lookup : step.lookups) answer(walk, lookup.label);
      ASSERT_LE(lookups, kVersions * kVersions);
    }
    ASSERT_EQ(step.kind, Kind::kRun) << bound;
    ASSERT_EQ(step.task.index,
              bound == 0 ? IndexVector() : IndexVector({bound}));
    ++bound;
  }
}

// A loop's condition may have been retired by agents that all died since.
TEST(Walk, InsistsOnWhatItBeginsWith) {
  const Job job = Heat1dJob(5, 2, 5);
  const Relations relations(job.program);
  Walk walk = NewWalk(relations, 1);
  walk.Start({.array = 0, .index = {2, 2}});
  const Walk::Step step = walk.Next();
  ASSERT_EQ(step.lookups.size(), 1u);
  EXPECT_TRUE(step.lookups[0].insist);
}

TEST(Walk, AsksAgainBeforeItInsists) {
  const Job job = Heat1dJob(5, 2, 5);
  const Relations relations(job.program);
  Walk walk = NewWalk(relations, 1);
  const Label result{.array = 0, .index = {2, 2}};
  walk.Start(result);
  ASSERT_EQ(walk.Next().lookups.size(), 1u);
  walk.OnAnswer(result, LabelState::kUnbound, std::nullopt);
  for (const auto& lookup : walk.Next().lookups) {
    EXPECT_FALSE(lookup.insist);
    walk.OnAnswer(lookup.label, LabelState::kRetired, std::nullopt);
  }
  const Walk::Step check = walk.Next();
  ASSERT_EQ(check.lookups.size(), 1u);
  EXPECT_EQ(check.lookups[0].label, result);
  Walk pruned = walk;
  walk.OnAnswer(result, LabelState::kUnbound, std::nullopt);
  const Walk::Step again = walk.Next();
  ASSERT_EQ(again.lookups.size(), 3u);
  for (const auto& lookup : again.lookups) EXPECT_TRUE(lookup.insist);
  // Bound meanwhile: the demand was late, and nothing is computed again.
  pruned.OnAnswer(result, LabelState::kBound, std::nullopt);
  EXPECT_EQ(pruned.Next().kind, Kind::kEnd);
}

// The first output of a task may be bound or retired while another was lost.
TEST(Walk, AsksForTheOutputThatIsWanted) {
  const Job job = QrJob(3);
  const Relations relations(job.program);
  int tried = 0;
  for (size_t c = 0; c < job.program.classes.size(); ++c) {
    const TaskClass& task_class = job.program.classes[c];
    if (task_class.creates.size() < 2 || task_class.uses.empty()) continue;
    ++tried;
    Task task{.task_class = static_cast<int32_t>(c), .index = {}};
    for (const auto& dimension : task_class.domain.dimensions) {
      task.index.push_back(dimension.Lower(task.index));
    }
    ASSERT_TRUE(relations.IsTask(task));
    Label last;
    relations.ForEachCreated(
        task, [&](int, const Label& created) { last = created; });
    ASSERT_NE(last, relations.FirstCreated(task));
    Walk walk = NewWalk(relations, 1);
    walk.Start(last);
    const auto expect_check = [&] {
      const Walk::Step check = walk.Next();
      ASSERT_EQ(check.lookups.size(), 1u);
      EXPECT_EQ(check.lookups[0].label, last);
      walk.OnAnswer(last, LabelState::kUnbound, std::nullopt);
    };
    expect_check();
    for (const auto& lookup : walk.Next().lookups) {
      walk.OnAnswer(lookup.label, LabelState::kRetired, std::nullopt);
    }
    expect_check();
    for (const auto& lookup : walk.Next().lookups) {
      EXPECT_TRUE(lookup.insist);
      walk.OnAnswer(lookup.label, LabelState::kBound, std::nullopt);
    }
    const Walk::Step run = walk.Next();
    ASSERT_EQ(run.kind, Kind::kRun);
    EXPECT_EQ(run.task, task);
    EXPECT_EQ(run.wanted, last);
  }
  EXPECT_GT(tried, 0);
}

// A task of many inputs would hardly ever run if one lost answer ended a walk.
TEST(Walk, AsksAgainForWhatWasNotAnswered) {
  const Job job = Heat1dJob(5, 2, 5);
  const Relations relations(job.program);
  Walk walk = NewWalk(relations, 1);
  const Label result{.array = 0, .index = {2, 2}};
  walk.Start(result);
  ASSERT_EQ(walk.Next().lookups.size(), 1u);
  EXPECT_EQ(walk.Next().kind, Kind::kWait);
  walk.AskAgain();
  const Walk::Step again = walk.Next();
  ASSERT_EQ(again.lookups.size(), 1u);
  EXPECT_EQ(again.lookups[0].label, result);
  walk.OnAnswer(result, LabelState::kUnbound, std::nullopt);
  const Walk::Step inputs = walk.Next();
  ASSERT_EQ(inputs.lookups.size(), 3u);
  walk.OnAnswer(inputs.lookups[1].label, LabelState::kBound, std::nullopt);
  EXPECT_EQ(walk.Next().kind, Kind::kWait);
  walk.AskAgain();
  const Walk::Step missing = walk.Next();  // those two only
  ASSERT_EQ(missing.lookups.size(), 2u);
  for (const auto& lookup : missing.lookups) {
    EXPECT_NE(lookup.label, inputs.lookups[1].label);
    walk.OnAnswer(lookup.label, LabelState::kBound, std::nullopt);
  }
  EXPECT_EQ(walk.Next().kind, Kind::kRun);
}

}  // namespace
}  // namespace dogged
