// InputArray: a dense array that a job reads from outside, whole in memory or
// in chunks that come when they are needed; and ChunkGrid, how it is cut. A
// chunk is a block of the array, not a range of its bytes: so that a reader of
// a tile of a matrix needs few of them.
#ifndef DOGGED_RUNTIME_GRAPH_INPUT_ARRAY_H_
#define DOGGED_RUNTIME_GRAPH_INPUT_ARRAY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

// Elements of a dense array: `extents` of them from `first` on, by dimension.
struct DenseBox {
  IndexVector first;
  IndexVector extents;

  friend bool operator==(const DenseBox&, const DenseBox&) = default;
};

// ChunkId: a chunk of one of a job's inputs.
struct ChunkId {
  int32_t input = 0;  // position in Job::inputs
  int64_t index = 0;  // in its grid

  friend auto operator<=>(const ChunkId&, const ChunkId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ChunkId& c) {
    return H::combine(std::move(h), c.input, c.index);
  }
};

// How an array is cut: into blocks of `chunk` elements, less at its far edges,
// numbered in row-major order.
struct ChunkGrid {
  ElementType element = ElementType::kDouble;
  Shape shape;  // of the array
  Shape chunk;  // at least one along each dimension

  int64_t count() const;  // of chunks; 0 if the array has no element
  int64_t bytes() const { return ElementCount(shape) * ElementBytes(element); }
  // The elements of chunk `index`.
  DenseBox BoxOf(int64_t index) const;
  int64_t BytesOf(int64_t index) const;
  // The chunks that hold elements of `box`, which lies in the array.
  void ForEachIn(const DenseBox& box, absl::FunctionRef<void(int64_t)> f) const;

  void Encode(Encoder& out) const;
  // Fails `in` where the numbers make no grid.
  static ChunkGrid Decode(Decoder& in);
};

// Dense elements in memory: `data` is that of box.first.
struct DenseBlock {
  const char* data = nullptr;
  DenseBox box;
};
// Copies those elements of `from` that lie in `box` to where they stand in a
// dense block of it.
void CopyBlock(const DenseBlock& from, const DenseBox& box,
               int64_t element_bytes, char* to);
// The digest of the elements of `box`, as if they were dense.
Digest DigestOf(const DenseBlock& whole, const DenseBox& box,
                int64_t element_bytes);

// Where chunks are. Thread-safe.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  // None if it is not at hand.
  virtual Value Find(const ChunkId& chunk) const = 0;
};

class InputArray {
 public:
  InputArray() = default;  // none
  explicit InputArray(Value whole);
  InputArray(int32_t position, const ChunkGrid& grid,
             std::shared_ptr<const ChunkSource> source)
      : position_(position), grid_(grid), source_(std::move(source)) {}

  bool IsNone() const { return whole_.IsNone() && source_ == nullptr; }
  ElementType type() const { return grid_.element; }
  const Shape& shape() const { return grid_.shape; }
  // None if it is in chunks.
  const Value& whole() const { return whole_; }
  // The elements of `box`, which lies in the array, dense, to `out`.
  // Errors: kUnavailable if a chunk is not at hand.
  absl::Status Read(const DenseBox& box, void* out) const;

 private:
  Value whole_;
  int32_t position_ = 0;
  ChunkGrid grid_;  // of a whole one there is one chunk
  std::shared_ptr<const ChunkSource> source_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_INPUT_ARRAY_H_
