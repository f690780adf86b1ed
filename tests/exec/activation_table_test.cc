// Aim: a task is handed out exactly once, with its inputs, whichever thread
// marks. Method: hand-made marks; a random sequence against a map; many threads
// that mark everything twice in their own order (also under tsan).
#include "runtime/exec/activation_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/exec/worker_threads.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

constexpr int64_t kPoints = 20;
constexpr int64_t kSteps = 10;

struct Mark {
  Task task;
  int use;
};

std::vector<Mark> AllMarks(const Relations& relations) {
  std::vector<Mark> out;
  relations.program().classes[0].domain.ForEach([&](const IndexVector& index) {
    const Task task{.task_class = 0, .index = index};
    relations.ForEachRequired(task, [&](int use, const Label&) {
      out.push_back({task, use});
    });
    return true;
  });
  return out;
}

void Shuffle(std::vector<Mark>& marks, Rng& rng) {
  for (size_t i = marks.size(); i > 1; --i) {
    std::swap(marks[i - 1], marks[rng.Below(static_cast<int64_t>(i))]);
  }
}

class ActivationTableTest : public testing::Test {
 protected:
  // Uses that `task` requires and that have no mark.
  std::vector<int> MissingUses(const Task& task) const {
    std::vector<int> missing;
    relations_.ForEachRequired(task, [&](int use, const Label&) {
      if (!table_.IsMarked(task, use)) missing.push_back(use);
    });
    return missing;
  }

  const Program program_ = Stencil(kPoints, kSteps, kSteps, kPoints - 1);
  const Relations relations_{program_};
  ActivationTable table_{relations_};
  ActivationPool pool_;
  const Task inner_{.task_class = 0, .index = {5, 3}};
  const Task edge_{.task_class = 0, .index = {0, 3}};
};

TEST_F(ActivationTableTest, HandsOutAtTheLastMark) {
  EXPECT_EQ(table_.Mark(inner_, 0, Value::Scalar(1), pool_), nullptr);
  EXPECT_EQ(table_.Mark(inner_, 2, Value::Scalar(3), pool_), nullptr);
  EXPECT_THAT(MissingUses(inner_), testing::ElementsAre(1));
  EXPECT_EQ(table_.Find(inner_)->missing_count, 1);
  EXPECT_EQ(table_.size(), 1);
  const auto ready = table_.Mark(inner_, 1, Value::Scalar(2), pool_);
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->task, inner_);
  for (size_t use = 0; use < 3; ++use) {
    EXPECT_EQ(ready->inputs[use].span<double>()[0],
              static_cast<double>(use + 1));
  }
  EXPECT_EQ(table_.size(), 0);
  EXPECT_FALSE(table_.Find(inner_).has_value());
}

TEST_F(ActivationTableTest, CountsOnlyWhatItsGuardsRequire) {
  EXPECT_THAT(MissingUses(edge_), testing::ElementsAre(1, 2));
  EXPECT_EQ(table_.Mark(edge_, 1, Value::Scalar(1), pool_), nullptr);
  const auto ready = table_.Mark(edge_, 2, Value::Scalar(2), pool_);
  ASSERT_NE(ready, nullptr);
  EXPECT_TRUE(ready->inputs[0].IsNone());
}

TEST_F(ActivationTableTest, TakesASecondMarkOfAUseForNothing) {
  EXPECT_EQ(table_.Mark(edge_, 1, Value::Scalar(1), pool_), nullptr);
  EXPECT_EQ(table_.Mark(edge_, 1, Value::Scalar(9), pool_), nullptr);
  EXPECT_EQ(table_.Mark(edge_, 1, Value::Scalar(9), pool_), nullptr);
  const auto ready = table_.Mark(edge_, 2, Value::Scalar(2), pool_);
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->inputs[1].span<double>()[0], 1);
}

TEST_F(ActivationTableTest, RemovesARecordWithItsMarks) {
  EXPECT_EQ(table_.Remove(inner_), nullptr);
  EXPECT_EQ(table_.Mark(inner_, 0, Value::Scalar(7), pool_), nullptr);
  const auto removed = table_.Remove(inner_);
  ASSERT_NE(removed, nullptr);
  EXPECT_EQ(removed->inputs[0].span<double>()[0], 7);
  EXPECT_EQ(table_.size(), 0);
}

// Tasks that wait for long are visited in turn, some at a time, however many
// they are.
TEST_F(ActivationTableTest, VisitsSomeAtATimeThoughAllGrowOlder) {
  std::set<Task> left;
  for (const Mark& mark : AllMarks(relations_)) {
    if (mark.use != 1 || relations_.RequiredCount(mark.task) < 2) continue;
    EXPECT_EQ(table_.Mark(mark.task, 1, Value::Scalar(1), pool_), nullptr);
    left.insert(mark.task);
  }
  const size_t count = left.size();
  for (int32_t sweep = 1; !left.empty(); ++sweep) {
    ASSERT_LE(sweep, 64);
    size_t visited = 0;
    table_.Age(count / 10, [&](const Activation& record, int32_t age) {
      EXPECT_EQ(age, sweep);
      EXPECT_EQ(left.erase(record.task), 1u) << "not yet its turn again";
      ++visited;
    });
    EXPECT_LT(visited, count / 5);
    if (left.size() < count / 10) break;  // the next begins another round
  }
}

TEST_F(ActivationTableTest, AgreesWithAMapOnRandomMarks) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    ActivationTable table(relations_);
    std::map<Task, std::set<int>> model;
    std::vector<Mark> marks = AllMarks(relations_);
    Shuffle(marks, rng);
    for (const Mark& mark : marks) {
      if (rng.Chance(0.05)) {
        EXPECT_EQ(table.Remove(mark.task) != nullptr,
                  model.erase(mark.task) == 1);
      }
      std::set<int>& seen = model[mark.task];
      seen.insert(mark.use);
      const bool all =
          static_cast<int>(seen.size()) == relations_.RequiredCount(mark.task);
      auto ready =
          table.Mark(mark.task, mark.use, Value::Scalar(mark.use), pool_);
      ASSERT_EQ(ready != nullptr, all);
      if (!all) continue;
      model.erase(mark.task);
      pool_.Put(std::move(ready));
    }
    std::set<Task> left;
    table.ForEach([&](const Activation& record) {
      left.insert(record.task);
      return true;
    });
    std::set<Task> wanted;
    for (const auto& [task, seen] : model) wanted.insert(task);
    EXPECT_EQ(left, wanted);
    EXPECT_EQ(table.size(), std::ssize(wanted));
  }
}

// All threads mark every use of every task once; a task is ready for the first
// time when all of its uses are marked, and may come again when they all were
// marked again, but each mark counts for one hand-out at most.
TEST_F(ActivationTableTest, LosesAndInventsNothingUnderManyThreads) {
  constexpr int kThreads = 4;
  const std::vector<Mark> marks = AllMarks(relations_);
  std::vector<std::map<Task, int>> handed_out(kThreads);
  {
    WorkerThreads threads(
        PlaceWorkers(FlatCpuLayout(2), kThreads), [&](int thread) {
          Rng rng(static_cast<uint64_t>(thread));
          ActivationPool pool;
          for (int round = 0; round < 20; ++round) {
            std::vector<Mark> mine = marks;
            Shuffle(mine, rng);
            for (const Mark& mark : mine) {
              auto ready = table_.Mark(mark.task, mark.use,
                                       Value::Scalar(100.0 * mark.use), pool);
              if (ready == nullptr) continue;
              for (size_t use = 0; use < ready->inputs.size(); ++use) {
                if (ready->inputs[use].IsNone()) continue;
                EXPECT_EQ(ready->inputs[use].span<double>()[0],
                          100.0 * static_cast<double>(use));
              }
              ++handed_out[thread][ready->task];
              pool.Put(std::move(ready));
            }
          }
        });
  }
  std::map<Task, int> total;
  for (const auto& one : handed_out) {
    for (const auto& [task, count] : one) total[task] += count;
  }
  for (const Mark& mark : marks) {
    EXPECT_GE(total[mark.task], 1);
    EXPECT_LE(total[mark.task], kThreads * 20);
  }
  EXPECT_LE(table_.size(), std::ssize(total));
}

// As above, but every mark is made by exactly one thread: then every task is
// handed out exactly once and nothing is left.
TEST_F(ActivationTableTest, HandsOutEveryTaskOnceUnderManyThreads) {
  constexpr int kThreads = 4;
  std::vector<Mark> marks = AllMarks(relations_);
  Rng rng(11);
  Shuffle(marks, rng);
  std::vector<std::vector<Task>> handed_out(kThreads);
  {
    WorkerThreads threads(
        PlaceWorkers(FlatCpuLayout(2), kThreads), [&](int thread) {
          ActivationPool pool;
          for (size_t m = static_cast<size_t>(thread); m < marks.size();
               m += kThreads) {
            auto ready = table_.Mark(marks[m].task, marks[m].use,
                                     Value::Scalar(1), pool);
            if (ready == nullptr) continue;
            handed_out[thread].push_back(ready->task);
          }
        });
  }
  std::vector<Task> all;
  for (const auto& one : handed_out) {
    all.insert(all.end(), one.begin(), one.end());
  }
  EXPECT_EQ(std::set<Task>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(std::ssize(all), kPoints * kSteps);
  EXPECT_EQ(table_.size(), 0);
}

}  // namespace
}  // namespace dogged
