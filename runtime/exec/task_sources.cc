#include "runtime/exec/task_sources.h"

#include <mutex>
#include <utility>

namespace dogged {

TaskSources::TaskSources(const Relations& relations, const NeededTasks& needed,
                         int64_t until)
    : relations_(relations), needed_(needed) {
  leaves_.emplace_back(relations, INT64_MIN, until);
}

void TaskSources::AddLeaves(int64_t after, int64_t until) {
  const std::lock_guard lock(lock_);
  leaves_.emplace_back(relations_, after, until);
  leaves_left_.store(true);
}

void TaskSources::AddConsumers(ConsumerCursor cursor, const Value& value) {
  auto consumers = std::make_unique<Consumers>(
      Consumers{.cursor = std::move(cursor), .value = value});
  const std::lock_guard lock(lock_);
  consumers_.push_back(std::move(consumers));
  consumer_sources_.fetch_add(1);
}

bool TaskSources::DrawConsumers(int64_t max, TaskBatch& batch) {
  if (!HasConsumers()) return false;
  std::unique_ptr<Consumers> spent;  // its value is released without the lock
  const std::lock_guard lock(lock_);
  while (!consumers_.empty()) {
    Consumers& newest = *consumers_.back();
    batch.count = newest.cursor.NextRun(max);
    if (batch.count > 0) {
      batch.task = newest.cursor.first();
      batch.along = newest.cursor.along();
      batch.use = newest.cursor.use();
      batch.value = newest.value;
      return true;
    }
    spent = std::move(consumers_.back());
    consumers_.pop_back();
    consumer_sources_.fetch_sub(1);
  }
  return false;
}

bool TaskSources::DrawLeaves(int64_t max, TaskBatch& batch) {
  if (!HasLeaves()) return false;
  batch.use = -1;
  batch.value = Value();
  const std::lock_guard lock(lock_);
  while (!leaves_.empty()) {
    batch.count = leaves_.front().NextRun(max);
    batch.task = leaves_.front().first();
    if (batch.count > 0) {
      batch.along = leaves_.front().along();
      return true;
    }
    leaves_.pop_front();
  }
  leaves_left_.store(false);
  return false;
}

}  // namespace dogged
