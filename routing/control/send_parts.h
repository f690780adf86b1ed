// SendParts: several pieces of memory sent as one.
#ifndef DOGGED_ROUTING_CONTROL_SEND_PARTS_H_
#define DOGGED_ROUTING_CONTROL_SEND_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dogged {

// At most so many pieces; some may be empty.
constexpr size_t kPartsMax = 16;

// As send() of all of them one behind the other: the bytes that were taken, or
// -1 and errno; no SIGPIPE. A frame that is sent with one system call wakes its
// receiver once, not once more for the header.
int64_t SendParts(int fd, absl::Span<const absl::string_view> parts);

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_SEND_PARTS_H_
