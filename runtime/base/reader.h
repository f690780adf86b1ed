// Reader: the name of what reads labels and makes others, as the dictionary
// knows it: it is compared, hashed and passed on, and only the job that labels
// belong to knows what it is (there it is a task). Plain value.
#ifndef DOGGED_RUNTIME_BASE_READER_H_
#define DOGGED_RUNTIME_BASE_READER_H_

#include <compare>
#include <cstdint>
#include <utility>

#include "runtime/base/codec.h"
#include "runtime/base/label.h"

namespace dogged {

struct Reader {
  int32_t group = 0;  // what it has in common with others
  IndexVector index;

  friend bool operator==(const Reader&, const Reader&) = default;
  friend std::strong_ordering operator<=>(const Reader& a, const Reader& b) {
    if (auto c = a.group <=> b.group; c != 0) return c;
    return a.index <=> b.index;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Reader& r) {
    return H::combine(std::move(h), r.group, r.index);
  }
  // The same in every process.
  uint64_t Hash() const { return HashOf(group, index); }
  static uint64_t HashOf(int32_t group, const IndexVector& index) {
    return index.Hash(static_cast<uint64_t>(group) + 0x7461736bULL);
  }
  void Encode(Encoder& out) const {
    out.PutVarint(static_cast<uint64_t>(group));
    index.Encode(out);
  }
  static Reader Decode(Decoder& in) {
    Reader out;
    const uint64_t group = in.GetVarint();
    if (group > 0x7fffffff) in.Fail();
    out.group = static_cast<int32_t>(group);
    out.index = IndexVector::Decode(in);
    return out;
  }
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_READER_H_
