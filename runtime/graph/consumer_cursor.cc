#include "runtime/graph/consumer_cursor.h"

namespace dogged {

ConsumerCursor::ConsumerCursor(const Relations& relations, const Label& label)
    : relations_(relations),
      label_(label),
      at_(relations.NextConsumer(label, 0)) {}

ConsumerCursor::ConsumerCursor(const Relations& relations, const Label& label,
                               const Task& last, int use)
    : relations_(relations), label_(label), first_(last), use_(use) {
  const auto& consumers = relations_.ConsumersOf(label_.array);
  while (consumers[at_].task_class != last.task_class ||
         consumers[at_].use != use) {
    ++at_;
  }
  const UseInverse& inverse = consumers[at_].inverse;
  part_ = inverse.PartWith(label_.index, last.index);
  points_.emplace(inverse.PartOf(label_.index, part_), last.index);
}

int64_t ConsumerCursor::NextRun(int64_t max) {
  const auto& consumers = relations_.ConsumersOf(label_.array);
  for (; at_ < consumers.size();
       at_ = relations_.NextConsumer(label_, at_ + 1), part_ = 0) {
    const Relations::Consumer& consumer = consumers[at_];
    const int64_t parts = consumer.inverse.PartCount(label_.index);
    for (; part_ < parts; ++part_, points_.reset()) {
      if (!points_.has_value()) {
        points_.emplace(consumer.inverse.PartOf(label_.index, part_));
        first_.task_class = consumer.task_class;
        use_ = consumer.use;
      }
      if (const int64_t count = points_->NextRun(max); count > 0) {
        first_.index = points_->first();
        return count;
      }
    }
  }
  return 0;
}

}  // namespace dogged
