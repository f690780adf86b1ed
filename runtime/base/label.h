// Labels: the single-assignment names of a program, and the index vectors
// that labels and tasks are made of. Plain values; thread-safe.
#ifndef DOGGED_RUNTIME_BASE_LABEL_H_
#define DOGGED_RUNTIME_BASE_LABEL_H_

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/check.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"

namespace dogged {

// At most this many indices in a label or a task.
inline constexpr int kMaxIndices = 6;

// A short vector of integers, held in place. Ordered lexicographically.
class IndexVector {
 public:
  IndexVector() = default;
  IndexVector(std::initializer_list<int64_t> values) {
    for (int64_t value : values) push_back(value);
  }
  explicit IndexVector(absl::Span<const int64_t> values) {
    for (int64_t value : values) push_back(value);
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](int i) const { return values_[i]; }
  int64_t& operator[](int i) { return values_[i]; }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + size_; }
  void push_back(int64_t value) {
    DOGGED_CHECK(size_ < kMaxIndices) << "more than 6 indices";
    values_[size_++] = value;
  }
  void pop_back() { values_[--size_] = 0; }

  // Unused places are zero, so member-wise comparison is right: equal sizes
  // compare lexicographically, a shorter vector first where it is a prefix.
  friend bool operator==(const IndexVector&, const IndexVector&) = default;
  friend std::strong_ordering operator<=>(const IndexVector& a,
                                          const IndexVector& b) {
    if (auto c = a.values_ <=> b.values_; c != 0) return c;
    return a.size_ <=> b.size_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const IndexVector& v) {
    return H::combine_contiguous(std::move(h), v.values_.data(),
                                 static_cast<size_t>(v.size_));
  }
  // The same in every process.
  uint64_t Hash(uint64_t seed) const {
    uint64_t h = seed;
    for (int64_t value : *this) h = Mix64(h, static_cast<uint64_t>(value));
    return h;
  }

  void Encode(Encoder& out) const;
  static IndexVector Decode(Decoder& in);
  // "(3)(7)"; "" when empty.
  std::string ToString() const;

 private:
  std::array<int64_t, kMaxIndices> values_{};
  int32_t size_ = 0;
};

// The name of one value of a program: which array, which element. `array` is
// the array's position in the program.
struct Label {
  int32_t array = 0;
  IndexVector index;

  friend bool operator==(const Label&, const Label&) = default;
  friend std::strong_ordering operator<=>(const Label& a, const Label& b) {
    if (auto c = a.array <=> b.array; c != 0) return c;
    return a.index <=> b.index;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Label& l) {
    return H::combine(std::move(h), l.array, l.index);
  }
  // The same in every process.
  uint64_t Hash() const { return index.Hash(static_cast<uint64_t>(array)); }

  void Encode(Encoder& out) const;
  static Label Decode(Decoder& in);
  // "phi(3)(7)", given the array's name.
  std::string ToString(absl::string_view array_name) const;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_LABEL_H_
