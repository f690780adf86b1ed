// Task: a point of a task class. Plain value.
#ifndef DOGGED_RUNTIME_GRAPH_TASK_H_
#define DOGGED_RUNTIME_GRAPH_TASK_H_

#include <compare>
#include <cstdint>
#include <utility>

#include "runtime/base/codec.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"

namespace dogged {

struct Task {
  int32_t task_class = 0;  // position in the program
  IndexVector index;

  // As the dictionary names it. Reader's bytes and hash are the task's own.
  operator Reader() const {  // NOLINT(google-explicit-constructor)
    return {.group = task_class, .index = index};
  }
  static Task Of(const Reader& reader) {
    return {.task_class = reader.group, .index = reader.index};
  }

  friend bool operator==(const Task&, const Task&) = default;
  friend std::strong_ordering operator<=>(const Task& a, const Task& b) {
    if (auto c = a.task_class <=> b.task_class; c != 0) return c;
    return a.index <=> b.index;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Task& t) {
    return H::combine(std::move(h), t.task_class, t.index);
  }
  uint64_t Hash() const { return Reader::HashOf(task_class, index); }
  void Encode(Encoder& out) const { Reader(*this).Encode(out); }
  static Task Decode(Decoder& in) { return Of(Reader::Decode(in)); }
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_TASK_H_
