// Mapped values lie in a file: pages that are not read take no memory, and
// pages that were read are dropped where memory is short.
#ifndef DOGGED_APPS_OUTPUT_MAPPED_VALUE_H_
#define DOGGED_APPS_OUTPUT_MAPPED_VALUE_H_

#include <cstdint>

#include "runtime/base/value.h"

namespace dogged {

// The value whose bytes stand in the file behind `descriptor` from `offset` on;
// none if that can't be mapped. A write to the file changes the value, so its
// users have to compare digests; `digest` is that of the bytes if it is known,
// and nothing is read before it is used. A file that gets shorter, or can't be
// read, ends this process, with words.
Value MapValue(int descriptor, int64_t offset, ElementType type,
               const Shape& shape, const Digest* digest = nullptr);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_MAPPED_VALUE_H_
