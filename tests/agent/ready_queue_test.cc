// Which of the tasks that wait for a worker starts first. Method: by hand.
#include "runtime/job/tasks/ready_queue.h"

#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::ElementsAre;

Task TaskOf(int64_t i) { return {.task_class = 0, .index = {i}}; }

TEST(ReadyQueue, TheMostUrgentGoesFirstAmongEqualsTheNewest) {
  ActivationPool pool;
  ReadyQueue ready;
  for (const int64_t i : {1, 2, 3, 4}) {
    auto record = pool.Get(TaskOf(i), 1);
    record->priority = i == 2 ? 5 : 0;
    ready.Put(std::move(record));
  }
  EXPECT_THAT(ready.All(),
              ElementsAre(TaskOf(2), TaskOf(4), TaskOf(3), TaskOf(1)));
  const auto any = [](const Task&) { return true; };
  const auto not_4 = [](const Task& task) { return task != TaskOf(4); };
  EXPECT_EQ(ready.Take(any)->task, TaskOf(2));
  EXPECT_EQ(ready.Take(not_4)->task, TaskOf(3));
  EXPECT_EQ(ready.Remove(TaskOf(3)), nullptr);
  EXPECT_EQ(ready.Remove(TaskOf(1))->task, TaskOf(1));
  EXPECT_EQ(ready.size(), 1);
  EXPECT_EQ(ready.Take(not_4), nullptr);
}

}  // namespace
}  // namespace dogged
