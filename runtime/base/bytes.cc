#include "runtime/base/bytes.h"

#include "runtime/base/check.h"

namespace dogged {

Bytes::Bytes(std::string content) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  view_ = absl::string_view(*owner);
  owner_ = std::move(owner);
}

Bytes Bytes::Slice(int64_t offset, int64_t size) const {
  DOGGED_CHECK(offset >= 0 && size >= 0 && offset <= this->size() - size)
      << "slice " << offset << "+" << size << " of " << this->size();
  return Bytes(owner_, view_.substr(offset, size));
}

}  // namespace dogged
