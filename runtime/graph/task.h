// Task: a point of a task class. Plain value.
#ifndef DOGGED_RUNTIME_GRAPH_TASK_H_
#define DOGGED_RUNTIME_GRAPH_TASK_H_

#include <compare>
#include <cstdint>
#include <utility>

#include "runtime/base/codec.h"
#include "runtime/base/label.h"

namespace dogged {

struct Task {
  int32_t task_class = 0;  // position in the program
  IndexVector index;

  friend bool operator==(const Task&, const Task&) = default;
  friend std::strong_ordering operator<=>(const Task& a, const Task& b) {
    if (auto c = a.task_class <=> b.task_class; c != 0) return c;
    return a.index <=> b.index;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Task& t) {
    return H::combine(std::move(h), t.task_class, t.index);
  }
  // The same in every process.
  uint64_t Hash() const {
    return index.Hash(static_cast<uint64_t>(task_class) + 0x7461736bULL);
  }
  void Encode(Encoder& out) const {
    out.PutVarint(static_cast<uint64_t>(task_class));
    index.Encode(out);
  }
  static Task Decode(Decoder& in) {
    Task out;
    const uint64_t task_class = in.GetVarint();
    if (task_class > 0x7fffffff) in.Fail();
    out.task_class = static_cast<int32_t>(task_class);
    out.index = IndexVector::Decode(in);
    return out;
  }
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_TASK_H_
