// Windows: boxes of elements in memory, and copies between them. Plain data.
#ifndef DOGGED_DSL_KERNELS_TILE_WINDOW_H_
#define DOGGED_DSL_KERNELS_TILE_WINDOW_H_

#include <cstdint>
#include <cstring>

#include "dsl/ir/tile_plan.h"

namespace dogged::dsl {

// The strides of a dense array.
inline IndexVector RowMajor(const IndexVector& extents) {
  IndexVector strides = extents;
  int64_t stride = 1;
  for (int d = extents.size() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= extents[d];
  }
  return strides;
}

// Elements of a box in memory: `data` is that of box.lower. A plane has one
// index along the first dimension.
struct Window {
  static constexpr int64_t kAll = INT64_MAX;
  char* data = nullptr;
  Box box;
  IndexVector strides;
  // Planes that are in memory at a time: plane i + planes takes the place of
  // plane i. Fewer than all only if there is more than one dimension.
  int64_t planes = kAll;

  int64_t Offset(const IndexVector& at) const {
    int64_t offset = 0;
    for (int d = 0; d < at.size(); ++d) {
      int64_t index = at[d] - box.lower[d];
      if (d == 0 && index >= planes) index %= planes;
      offset += index * strides[d];
    }
    return offset;
  }
};

// A dense array that holds `box`.
inline Window DenseWindow(void* data, const Box& box) {
  return {.data = static_cast<char*>(data),
          .box = box,
          .strides = RowMajor(box.Extents())};
}

// The elements of `box` that are `step` apart from its lower end on, numbered
// from 0 along each dimension. `box` is not empty and lies in `window`.
inline Window EveryOf(const Window& window, const Box& box,
                      const IndexVector& step, int64_t element_bytes) {
  Window out{.data = window.data + window.Offset(box.lower) * element_bytes,
             .box = {},
             .strides = {}};
  for (int d = 0; d < box.size(); ++d) {
    out.box.lower.push_back(0);
    out.box.upper.push_back((box.upper[d] - box.lower[d]) / step[d]);
    out.strides.push_back(window.strides[d] * step[d]);
  }
  return out;
}

// Calls visit(at) for the first element of each row, along the last dimension,
// of `box`, which is not empty and has a dimension.
template <typename Visit>
void ForEachRow(const Box& box, const Visit& visit) {
  const int last = box.size() - 1;
  IndexVector at = box.lower;
  while (true) {
    visit(at);
    int d = last - 1;
    while (d >= 0 && at[d] == box.upper[d]) {
      at[d] = box.lower[d];
      --d;
    }
    if (d < 0) return;
    ++at[d];
  }
}

// Copies the elements of `box`, which lies in both.
inline void CopyBox(const Window& from, const Window& to, const Box& box,
                    int64_t element_bytes) {
  if (box.IsEmpty()) return;
  const int last = box.size() - 1;
  if (last < 0) {  // one number
    std::memcpy(to.data, from.data, element_bytes);
    return;
  }
  const int64_t n = box.upper[last] - box.lower[last] + 1;
  ForEachRow(box, [&](const IndexVector& at) {
    const char* source = from.data + from.Offset(at) * element_bytes;
    char* target = to.data + to.Offset(at) * element_bytes;
    if (from.strides[last] == 1 && to.strides[last] == 1) {
      std::memcpy(target, source, n * element_bytes);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(target + i * to.strides[last] * element_bytes,
                  source + i * from.strides[last] * element_bytes,
                  element_bytes);
    }
  });
}

// Sets the elements of `box`, which lies in `window`, to zero.
inline void ZeroBox(const Window& window, const Box& box,
                    int64_t element_bytes) {
  if (box.IsEmpty()) return;
  const int last = box.size() - 1;
  if (last < 0) {
    std::memset(window.data, 0, element_bytes);
    return;
  }
  const int64_t n = box.upper[last] - box.lower[last] + 1;
  ForEachRow(box, [&](const IndexVector& at) {
    char* const row = window.data + window.Offset(at) * element_bytes;
    for (int64_t i = 0; i < n; ++i) {
      std::memset(row + i * window.strides[last] * element_bytes, 0,
                  element_bytes);
    }
  });
}

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_TILE_WINDOW_H_
