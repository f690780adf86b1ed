// Aim: the symbolic interface to a task graph that [MC] (slides, Song,
// Dongarra & Moore 2009) programs against holds for our Cholesky.
// Method: the slides' routines, written as predicates over the 20 tasks of
// their 4 x 4 example, against what follows from the dependency description.
#include <algorithm>
#include <string>
#include <vector>

#include "apps/dogged_bench/cholesky_program.h"
#include "gmock/gmock.h"
#include "runtime/graph/task_graph.h"

namespace dogged {
namespace {

using testing::UnorderedElementsAreArray;

constexpr int64_t kBlocks = 4;  // nblks

enum class Type { kPotrf, kTrsm, kGemm };

// "struct Task { int type; int k; int i, j; ... }": counted from 1, k is the
// step. The tasks that only bring the matrix are not in the slides.
struct SlideTask {
  Type type;
  int64_t k;
  int64_t i;
  int64_t j;
  friend bool operator==(const SlideTask&, const SlideTask&) = default;
  friend void PrintTo(const SlideTask& t, std::ostream* out) {
    const char* names[] = {"POTRF", "TRSM", "GEMM"};
    *out << names[static_cast<int>(t.type)] << " k=" << t.k << " " << t.i << ","
         << t.j;
  }
};

std::vector<SlideTask> AllSlideTasks() {
  std::vector<SlideTask> out;
  for (int64_t k = 1; k <= kBlocks; ++k) {
    out.push_back({Type::kPotrf, k, k, k});
    for (int64_t i = k + 1; i <= kBlocks; ++i) {
      out.push_back({Type::kTrsm, k, i, k});
      for (int64_t j = k + 1; j <= i; ++j) {
        out.push_back({Type::kGemm, k, i, j});
      }
    }
  }
  return out;
}

class SlidesTest : public testing::Test {
 protected:
  SlideTask FromTask(const Task& task) const {
    const std::string& name = program_.ClassOf(task).name;
    const auto at = [&](int d) { return task.index[d] + 1; };
    if (name == "factor") return {Type::kPotrf, at(0), at(0), at(0)};
    if (name == "panel") return {Type::kTrsm, at(0), at(1), at(0)};
    if (name == "diagonal") return {Type::kGemm, at(1), at(0), at(0)};
    return {Type::kGemm, at(2), at(0), at(1)};
  }
  Task ToTask(const SlideTask& t) const {
    const auto task = [&](const char* name, IndexVector index) {
      for (size_t c = 0; c < program_.classes.size(); ++c) {
        if (program_.classes[c].name == name) {
          return Task{static_cast<int32_t>(c), index};
        }
      }
      return Task{-1, {}};
    };
    switch (t.type) {
      case Type::kPotrf:
        return task("factor", {t.k - 1});
      case Type::kTrsm:
        return task("panel", {t.k - 1, t.i - 1});
      case Type::kGemm:
        break;
    }
    if (t.i == t.j) return task("diagonal", {t.i - 1, t.k - 1});
    return task("update", {t.i - 1, t.j - 1, t.k - 1});
  }
  bool IsInput(const Task& task) const {
    return program_.ClassOf(task).name == "take";
  }
  std::vector<SlideTask> Children(const SlideTask& parent) const {
    std::vector<SlideTask> out;
    graph_.ForEachChild(ToTask(parent), [&](const Task& child) {
      const SlideTask found = FromTask(child);
      // The slides' sets name each child once.
      if (std::find(out.begin(), out.end(), found) == out.end()) {
        out.push_back(found);
      }
      return true;
    });
    return out;
  }
  static std::vector<SlideTask> Where(bool (*holds)(const SlideTask& p,
                                                    const SlideTask& t),
                                      const SlideTask& p) {
    std::vector<SlideTask> out;
    for (const SlideTask& t : AllSlideTasks()) {
      if (holds(p, t)) out.push_back(t);
    }
    return out;
  }

  const Program program_ = CholeskyProgram(kBlocks);
  const Relations relations_{program_};
  const TaskGraph graph_{relations_};
};

// "A DAG Example for Cholesky Factorization": the slide draws 20 tasks.
TEST_F(SlidesTest, DagExampleHasTwentyTasks) {
  EXPECT_EQ(AllSlideTasks().size(), 20);
  EXPECT_EQ(program_.TaskCount(), 20 + kBlocks * (kBlocks + 1) / 2);
  for (const SlideTask& t : AllSlideTasks()) {
    EXPECT_TRUE(relations_.IsTask(ToTask(t)));
    EXPECT_EQ(FromTask(ToTask(t)), t);
  }
}

// "if (p.type = POTRF) { /* along p's column but below p */ buf := {TRSM task
// t | t.j = p.j & t.i in (p.i, nblks]} }".
TEST_F(SlidesTest, GetChildrenOfPotrf) {
  for (const SlideTask& p : AllSlideTasks()) {
    if (p.type != Type::kPotrf) continue;
    EXPECT_THAT(Children(p),
                UnorderedElementsAreArray(Where(
                    [](const SlideTask& parent, const SlideTask& t) {
                      return t.type == Type::kTrsm && t.j == parent.j &&
                             t.i > parent.i;
                    },
                    p)));
  }
}

// "if (p.type = TRSM) { /* a row and a column (both with index p.i) */ buf :=
// {GEMM task t | t.i = p.i & t.j in (p.j, p.i] or t.j = p.i & t.i in [p.i,
// nblks]} }": of p's step, which the slide leaves out.
TEST_F(SlidesTest, GetChildrenOfTrsm) {
  for (const SlideTask& p : AllSlideTasks()) {
    if (p.type != Type::kTrsm) continue;
    EXPECT_THAT(
        Children(p),
        UnorderedElementsAreArray(Where(
            [](const SlideTask& parent, const SlideTask& t) {
              return t.type == Type::kGemm && t.k == parent.k &&
                     ((t.i == parent.i && t.j > parent.j && t.j <= parent.i) ||
                      (t.j == parent.i && t.i >= parent.i));
            },
            p)));
  }
}

// "if (p.type = GEMM) { /* has a single child */ if (diagonal) buf := a POTRF
// task else if (below diag) buf := a TRSM task else buf := a GEMM task }":
// diagonal and below it in the column that the next step factors.
TEST_F(SlidesTest, GetChildrenOfGemm) {
  for (const SlideTask& p : AllSlideTasks()) {
    if (p.type != Type::kGemm) continue;
    const int64_t next = p.k + 1;
    Type type = Type::kGemm;
    if (p.j == next) type = p.i == next ? Type::kPotrf : Type::kTrsm;
    EXPECT_THAT(Children(p),
                testing::ElementsAre(SlideTask{type, next, p.i, p.j}));
  }
}

// "int get_num_parents(Task t) { if (t.type = POTRF) return 1; if (t.type =
// TRSM) return 2; if (t.type = GEMM) { if (diagonal) return 2 else return 3 }
// }": the task that brings a tile of the matrix counts as its parent.
TEST_F(SlidesTest, GetNumParents) {
  for (const SlideTask& t : AllSlideTasks()) {
    int expected = 3;
    if (t.type == Type::kPotrf) expected = 1;
    if (t.type == Type::kTrsm || (t.type == Type::kGemm && t.i == t.j)) {
      expected = 2;
    }
    EXPECT_EQ(graph_.ParentCount(ToTask(t)), expected);
    // Every parent has the task as a child, as often as it is waited for.
    int found = 0;
    relations_.ForEachRequired(ToTask(t), [&](int, const Label& label) {
      graph_.ForEachChild(*relations_.ProducerOf(label),
                          [&](const Task& child) {
                            found += child == ToTask(t);
                            return true;
                          });
    });
    EXPECT_EQ(found, expected);
  }
}

// "set_entry_task(const Task t)": the tasks that bring the matrix, one a tile;
// of the slides' tasks only POTRF 1,1 waits for nothing else.
TEST_F(SlidesTest, EntryTasks) {
  int64_t count = 0;
  EXPECT_TRUE(graph_.ForEachEntry([&](const Task& task) {
    EXPECT_TRUE(IsInput(task));
    ++count;
    return true;
  }));
  EXPECT_EQ(count, kBlocks * (kBlocks + 1) / 2);
  std::vector<SlideTask> first;
  for (const SlideTask& t : AllSlideTasks()) {
    bool only_input = true;
    relations_.ForEachRequired(ToTask(t), [&](int, const Label& label) {
      only_input &= IsInput(*relations_.ProducerOf(label));
    });
    if (only_input) first.push_back(t);
  }
  EXPECT_THAT(first, testing::ElementsAre(SlideTask{Type::kPotrf, 1, 1, 1}));
}

// "set_exit_task(const Task t)": the slides' single one is POTRF 4,4, which
// nothing waits for; here all that bind a tile of L are, for L is the result.
TEST_F(SlidesTest, ExitTasks) {
  std::vector<SlideTask> exits;
  EXPECT_TRUE(graph_.ForEachExit([&](const Task& task) {
    exits.push_back(FromTask(task));
    return true;
  }));
  EXPECT_THAT(exits, UnorderedElementsAreArray(Where(
                         [](const SlideTask&, const SlideTask& t) {
                           return t.type != Type::kGemm;
                         },
                         SlideTask{})));
  std::vector<SlideTask> last;
  for (const SlideTask& t : AllSlideTasks()) {
    if (Children(t).empty()) last.push_back(t);
  }
  EXPECT_THAT(last, testing::ElementsAre(SlideTask{Type::kPotrf, 4, 4, 4}));
}

TEST_F(SlidesTest, VisitorsStopThem) {
  int calls = 0;
  const auto stop = [&](const Task&) { return ++calls, false; };
  EXPECT_FALSE(graph_.ForEachEntry(stop));
  EXPECT_FALSE(graph_.ForEachExit(stop));
  EXPECT_FALSE(graph_.ForEachChild(ToTask({Type::kPotrf, 1, 1, 1}), stop));
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace dogged
