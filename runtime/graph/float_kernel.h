// Native kernels over values of float: variants of those over double, beside
// them in the registry. Programs write the same name for both.
#ifndef DOGGED_RUNTIME_GRAPH_FLOAT_KERNEL_H_
#define DOGGED_RUNTIME_GRAPH_FLOAT_KERNEL_H_

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace dogged {

// No program can write it: there is no colon in a name.
inline constexpr absl::string_view kFloatVariant = ":float";

// "potrf:float", the name of the variant of "potrf".
inline std::string FloatVariantOf(absl::string_view kernel) {
  return absl::StrCat(kernel, kFloatVariant);
}
inline bool IsFloatVariant(absl::string_view kernel) {
  return absl::EndsWith(kernel, kFloatVariant);
}
// "potrf", of either.
inline absl::string_view WrittenName(absl::string_view kernel) {
  return absl::StripSuffix(kernel, kFloatVariant);
}

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_FLOAT_KERNEL_H_
