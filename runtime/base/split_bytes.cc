#include "runtime/base/split_bytes.h"

#include <algorithm>
#include <string>

namespace dogged {

SplitBytes SplitBytes::Slice(int64_t offset, int64_t size) const {
  const int64_t first = std::min(offset, head.size());
  const int64_t of_head = std::min(size, head.size() - first);
  return {head.Slice(first, of_head),
          rest.Slice(offset - first, size - of_head)};
}

Bytes SplitBytes::Join() const {
  if (head.empty()) return rest;
  if (rest.empty()) return head;
  std::string whole;
  whole.reserve(size());
  whole.append(head.data(), static_cast<size_t>(head.size()));
  whole.append(rest.data(), static_cast<size_t>(rest.size()));
  return Bytes(std::move(whole));
}

}  // namespace dogged
