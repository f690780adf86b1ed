// Values that lie in a file: what is not looked at takes no memory, and what
// was is given up where memory is short.
#ifndef DOGGED_APPS_OUTPUT_MAPPED_VALUE_H_
#define DOGGED_APPS_OUTPUT_MAPPED_VALUE_H_

#include <cstdint>

#include "runtime/base/value.h"

namespace dogged {

// The value whose bytes stand in the file behind `descriptor` from `offset` on;
// none if that can't be mapped. Who writes to the file changes it: what it is
// used for has to look at digests. A file that gets shorter ends this process,
// with words.
Value MapValue(int descriptor, int64_t offset, ElementType type,
               const Shape& shape);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_MAPPED_VALUE_H_
