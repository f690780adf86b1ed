#include "runtime/base/ids.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

namespace dogged {

std::string IdText(uint64_t value) { return absl::StrFormat("%016x", value); }

}  // namespace dogged
