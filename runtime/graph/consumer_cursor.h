// ConsumerCursor: the consumers of one label, run by run, for callers that
// can't take them all at once. O(1) memory however many there are. Not
// thread-safe.
#ifndef DOGGED_RUNTIME_GRAPH_CONSUMER_CURSOR_H_
#define DOGGED_RUNTIME_GRAPH_CONSUMER_CURSOR_H_

#include <cstddef>
#include <optional>

#include "runtime/graph/relations.h"

namespace dogged {

class ConsumerCursor {
 public:
  // `relations` must outlive the cursor.
  ConsumerCursor(const Relations& relations, const Label& label);
  // Begins behind the consumer `last`, by its use `use`.
  ConsumerCursor(const Relations& relations, const Label& label,
                 const Task& last, int use);
  // How many of up to `max` consumers come next: first(), and tasks with a
  // larger index along(), all by the same use. 0 at the end. The order is that
  // of Relations::ForEachConsumer().
  int64_t NextRun(int64_t max);
  const Task& first() const { return first_; }
  int along() const { return points_->along(); }
  int use() const { return use_; }

 private:
  const Relations& relations_;
  const Label label_;
  size_t at_ = 0;     // of the label's consumers
  int64_t part_ = 0;  // of its points
  std::optional<DomainCursor> points_;
  Task first_;
  int use_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_CONSUMER_CURSOR_H_
