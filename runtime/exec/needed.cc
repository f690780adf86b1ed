#include "runtime/exec/needed.h"

#include <algorithm>
#include <utility>

#include "runtime/graph/domain.h"

namespace dogged {
namespace {

// The least and the largest value of `bound` over lower <= index <= upper.
std::pair<int64_t, int64_t> RangeOf(const AffineBound& bound, bool round_up,
                                    const IndexVector& lower,
                                    const IndexVector& upper) {
  AffineBound low{.expr = AffineExpr::Constant(bound.expr.constant),
                  .divisor = bound.divisor};
  AffineBound high = low;
  for (int d = 0; d < lower.size(); ++d) {
    const int64_t c = bound.expr.coefficients[d];
    low.expr.constant += c * (c > 0 ? lower[d] : upper[d]);
    high.expr.constant += c * (c > 0 ? upper[d] : lower[d]);
  }
  if (round_up) return {low.Ceil({}), high.Ceil({})};
  return {low.Floor({}), high.Floor({})};
}

}  // namespace

NeededTasks::NeededTasks(const Relations& relations) : relations_(relations) {
  // The number of rounds of a loop is not known.
  all_ = relations.program().every_task_needed ||
         relations.program().repeat.has_value() || !MakeBoxes();
  if (all_) {
    count_ = relations.program().TaskCount();
  } else {
    MarkFromResults();
  }
}

bool NeededTasks::MakeBoxes() {
  int64_t bits = 0;
  for (const TaskClass& c : relations_.program().classes) {
    Box box{.begin = bits};
    IndexVector upper;
    int64_t points = 1;
    for (const Dimension& d : c.domain.dimensions) {
      int64_t first = INT64_MIN;
      int64_t last = INT64_MAX;
      for (const AffineBound& b : d.lower) {
        first = std::max(first, RangeOf(b, true, box.lower, upper).first);
      }
      for (const AffineBound& b : d.upper) {
        last = std::min(last, RangeOf(b, false, box.lower, upper).second);
      }
      const int64_t extent = std::max<int64_t>(last - first + 1, 0);
      if (extent > 0 && points > kBitsMax / extent) return false;
      points *= extent;
      box.lower.push_back(first);
      box.extent.push_back(extent);
      upper.push_back(last);
    }
    bits += points;
    if (bits > kBitsMax) return false;
    boxes_.push_back(box);
  }
  words_.assign(bits / 64 + 1, 0);
  return true;
}

int64_t NeededTasks::OffsetOf(const Task& task) const {
  const Box& box = boxes_[task.task_class];
  int64_t offset = 0;
  for (int d = 0; d < task.index.size(); ++d) {
    offset = offset * box.extent[d] + (task.index[d] - box.lower[d]);
  }
  return offset;
}

bool NeededTasks::Bit(int32_t task_class, int64_t offset) const {
  const int64_t bit = boxes_[task_class].begin + offset;
  return (words_[bit / 64] >> (bit % 64) & 1) != 0;
}

void NeededTasks::MarkFromResults() {
  std::vector<Task> open;  // marked, requirements not yet looked at
  const auto mark_producer = [&](const Label& label) {
    const std::optional<Task> task = relations_.ProducerOf(label);
    if (!task.has_value()) return;
    const int64_t offset = OffsetOf(*task);
    if (Bit(task->task_class, offset)) return;
    const int64_t bit = boxes_[task->task_class].begin + offset;
    words_[bit / 64] |= uint64_t{1} << (bit % 64);
    ++count_;
    open.push_back(*task);
  };
  const auto drain = [&] {
    while (!open.empty()) {
      const Task task = open.back();
      open.pop_back();
      relations_.ForEachRequired(
          task, [&](int, const Label& label) { mark_producer(label); });
    }
  };
  relations_.ForEachResult([&](const Label& label) {
    mark_producer(label);
    drain();
    return true;
  });
}

}  // namespace dogged
