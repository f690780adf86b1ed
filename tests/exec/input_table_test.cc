// Aim: a task is handed out once, with the values of all its inputs, whatever
// the order in which labels are bound; values and records last as long as they
// are of use. Method: nests by hand, in order and at random, by one thread and
// by several.
#include "runtime/exec/input_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "runtime/exec/worker_threads.h"
#include "runtime/graph/builder.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

constexpr int64_t kN = 12;

// The updates of a factorisation: a(i)(j)(k), with l(i)(k) and l(j)(k), whose
// uses come first in the class.
Program Updates() {
  ProgramBuilder b("updates");
  const int32_t a = b.AddArray({.name = "a", .rank = 3});
  const int32_t l = b.AddArray({.name = "l", .rank = 2});
  const AffineExpr k = AffineExpr::Index(0);
  const AffineExpr i = AffineExpr::Index(1);
  const AffineExpr j = AffineExpr::Index(2);
  const AffineExpr one = AffineExpr::Constant(1);
  b.AddClass(
      {.name = "update",
       .domain = {.dimensions = {{"k",
                                  {{AffineExpr::Constant(0)}},
                                  {{AffineExpr::Constant(kN - 1)}}},
                                 {"i", {{k}}, {{AffineExpr::Constant(kN - 1)}}},
                                 {"j", {{k}}, {{i}}}}},
       .creates = {{a, {i, j, k + one}}},
       .uses = {{l, {i, k}, {}}, {l, {j, k}, {}}, {a, {i, j, k}, {}}},
       .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(
      a, Domain::Box(
             {{"i", kN - 1, kN - 1}, {"j", kN - 1, kN - 1}, {"k", kN, kN}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

// All labels that tasks read.
std::vector<Label> LabelsOf(const Relations& relations) {
  std::set<Label> out;
  const std::vector<TaskClass>& classes = relations.program().classes;
  for (size_t c = 0; c < classes.size(); ++c) {
    classes[c].domain.ForEach([&](const IndexVector& index) {
      const Task task{.task_class = static_cast<int32_t>(c), .index = index};
      relations.ForEachRequired(
          task, [&](int, const Label& label) { out.insert(label); });
      return true;
    });
  }
  return {out.begin(), out.end()};
}

// Tells labels apart.
double NumberOf(const Label& label) {
  return static_cast<double>(label.Hash() >> 12);
}

void BindOne(InputTable& table, const Label& label, ActivationPool& pool,
             std::vector<std::unique_ptr<Activation>>& ready) {
  const Value value = Value::Scalar(NumberOf(label));
  table.Bind(label, value, [&](std::unique_ptr<Activation> record) {
    ready.push_back(std::move(record));
  });
  table.ForEachBegun(label, [&](const Task& task, int use) {
    auto record = table.Begin(task, use, value, pool);
    if (record != nullptr) ready.push_back(std::move(record));
    return true;
  });
}

// Each task with inputs stands in `ready` once, with the right ones.
void ExpectAll(const Relations& relations,
               const std::vector<std::unique_ptr<Activation>>& ready) {
  std::map<Task, const Activation*> by_task;
  for (const auto& record : ready) {
    EXPECT_TRUE(by_task.emplace(record->task, record.get()).second);
  }
  size_t count = 0;
  const std::vector<TaskClass>& classes = relations.program().classes;
  for (size_t c = 0; c < classes.size(); ++c) {
    classes[c].domain.ForEach([&](const IndexVector& index) {
      const Task task{.task_class = static_cast<int32_t>(c), .index = index};
      if (relations.RequiredCount(task) == 0) return true;
      ++count;
      const auto it = by_task.find(task);
      EXPECT_NE(it, by_task.end());
      if (it == by_task.end()) return false;
      relations.ForEachRequired(task, [&](int use, const Label& label) {
        EXPECT_EQ(it->second->inputs[use].span<double>()[0], NumberOf(label));
      });
      return true;
    });
  }
  EXPECT_EQ(ready.size(), count);
}

TEST(InputTable, MakesNoRecordForReadersOfAPivot) {
  const Program program = Updates();
  const Relations relations(program);
  const NeededTasks needed(relations);
  InputTable table(relations, needed, 2);
  ActivationPool pool;
  std::vector<std::unique_ptr<Activation>> ready;
  BindOne(table, {.array = 1, .index = {3, 0}}, pool, ready);
  EXPECT_EQ(table.waiting_count(), 0);
  EXPECT_EQ(table.kept_count(), 1);
  // Begins, waits for l(5)(0), and gets it.
  BindOne(table, {.array = 0, .index = {5, 3, 0}}, pool, ready);
  EXPECT_EQ(table.waiting_count(), 1);
  EXPECT_TRUE(ready.empty());
  BindOne(table, {.array = 1, .index = {5, 0}}, pool, ready);
  EXPECT_EQ(table.waiting_count(), 0);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0]->task, (Task{.task_class = 0, .index = {0, 5, 3}}));
}

TEST(InputTable, ReadsOneLabelByTwoUses) {
  const Program program = Updates();
  const Relations relations(program);
  const NeededTasks needed(relations);
  for (const bool pivot_first : {false, true}) {
    InputTable table(relations, needed, 2);
    ActivationPool pool;
    std::vector<std::unique_ptr<Activation>> ready;
    const Label pivot = {.array = 1, .index = {kN - 1, kN - 1}};
    const Label chain = {.array = 0, .index = {kN - 1, kN - 1, kN - 1}};
    BindOne(table, pivot_first ? pivot : chain, pool, ready);
    BindOne(table, pivot_first ? chain : pivot, pool, ready);
    ASSERT_EQ(ready.size(), 1u);
    EXPECT_EQ(table.kept_count(), 0);
    EXPECT_EQ(table.waiting_count(), 0);
  }
}

TEST(InputTable, HandsOutEachTaskOnceInAnyOrder) {
  Rng rng(5);
  for (const Program& program :
       {Updates(), Wavefront(9), Stencil(11, 6, 6, 10), Stencil(11, 6, 4, 3)}) {
    const Relations relations(program);
    const NeededTasks needed(relations);
    for (int round = 0; round < 20; ++round) {
      InputTable table(relations, needed, 2);
      ActivationPool pool;
      std::vector<std::unique_ptr<Activation>> ready;
      std::vector<Label> labels = LabelsOf(relations);
      for (size_t i = labels.size(); i > 1; --i) {
        std::swap(labels[i - 1], labels[rng.Below(static_cast<int64_t>(i))]);
      }
      for (const Label& label : labels) BindOne(table, label, pool, ready);
      if (needed.count() == program.TaskCount()) ExpectAll(relations, ready);
      EXPECT_EQ(table.kept_count(), 0);
      EXPECT_EQ(table.waiting_count(), 0);
    }
  }
  EXPECT_EQ(Value::LiveBytes(), 0);
}

TEST(InputTable, HandsOutEachTaskOnceUnderManyThreads) {
  constexpr int kThreads = 4;
  const Program program = Updates();
  const Relations relations(program);
  const NeededTasks needed(relations);
  InputTable table(relations, needed, 2);
  const std::vector<Label> labels = LabelsOf(relations);
  std::vector<std::vector<std::unique_ptr<Activation>>> ready(kThreads);
  {
    WorkerThreads threads(
        PlaceWorkers(FlatCpuLayout(2), kThreads), [&](int thread) {
          ActivationPool pool;
          const auto at = static_cast<size_t>(thread);
          for (size_t i = at; i < labels.size(); i += kThreads) {
            BindOne(table, labels[i], pool, ready[at]);
          }
        });
  }
  std::vector<std::unique_ptr<Activation>> all;
  for (auto& one : ready)
    std::move(one.begin(), one.end(), std::back_inserter(all));
  ExpectAll(relations, all);
  EXPECT_EQ(table.kept_count(), 0);
  EXPECT_EQ(table.waiting_count(), 0);
}

}  // namespace
}  // namespace dogged
