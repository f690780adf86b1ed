#include "runtime/graph/numeric_class.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace dogged {
namespace {

// Parts are split lazily: agents call this in every pass.
auto PartsOf(absl::string_view numeric_class) {
  return absl::StrSplit(numeric_class, "; ", absl::SkipEmpty());
}

bool HasPart(absl::string_view numeric_class, absl::string_view wanted) {
  for (const absl::string_view part : PartsOf(numeric_class)) {
    if (part == wanted) return true;
  }
  return false;
}

}  // namespace

std::string JoinNumericClasses(absl::Span<const std::string> classes) {
  std::vector<std::string> parts;
  for (const std::string& one : classes) {
    for (const absl::string_view part : PartsOf(one)) {
      parts.emplace_back(part);
    }
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return absl::StrJoin(parts, "; ");
}

bool MeetsNumericClass(absl::string_view host, absl::string_view needed) {
  if (host == needed) return true;
  for (const absl::string_view part : PartsOf(needed)) {
    if (!HasPart(host, part)) return false;
  }
  return true;
}

}  // namespace dogged
