// SplitBytes: bytes in two stretches that need not lie together: what was
// encoded for one message, and data that others hold as well, so that it is not
// copied for each message that carries it.
#ifndef DOGGED_RUNTIME_BASE_SPLIT_BYTES_H_
#define DOGGED_RUNTIME_BASE_SPLIT_BYTES_H_

#include <cstdint>
#include <utility>

#include "runtime/base/bytes.h"

namespace dogged {

struct SplitBytes {
  SplitBytes() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): bytes in one stretch
  SplitBytes(Bytes whole) : rest(std::move(whole)) {}
  SplitBytes(Bytes first, Bytes second)
      : head(std::move(first)), rest(std::move(second)) {}

  int64_t size() const { return head.size() + rest.size(); }
  // `size` bytes from `offset`, sharing the buffers. Both lie within.
  SplitBytes Slice(int64_t offset, int64_t size) const;
  // All in one stretch: a copy, unless there is but one.
  Bytes Join() const;

  Bytes head;
  Bytes rest;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_SPLIT_BYTES_H_
