#include "runtime/graph/consumer_cursor.h"

namespace dogged {

ConsumerCursor::ConsumerCursor(const Relations& relations, const Label& label)
    : relations_(relations), label_(label) {}

ConsumerCursor::ConsumerCursor(const Relations& relations, const Label& label,
                               const Task& last, int use)
    : relations_(relations), label_(label), first_(last), use_(use) {
  const auto& consumers = relations_.ConsumersOf(label_.array);
  while (consumers[at_].task_class != last.task_class ||
         consumers[at_].use != use) {
    ++at_;
  }
  points_.emplace(consumers[at_].inverse.PointsOf(label_.index), last.index);
}

int64_t ConsumerCursor::NextRun(int64_t max) {
  const auto& consumers = relations_.ConsumersOf(label_.array);
  for (; at_ < consumers.size(); ++at_, points_.reset()) {
    const Relations::Consumer& consumer = consumers[at_];
    if (!points_.has_value()) {
      points_.emplace(consumer.inverse.PointsOf(label_.index));
      first_.task_class = consumer.task_class;
      use_ = consumer.use;
    }
    if (const int64_t count = points_->NextRun(max); count > 0) {
      first_.index = points_->first();
      return count;
    }
  }
  return 0;
}

}  // namespace dogged
