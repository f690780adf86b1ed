// Endings of the names of result files, which choose their format.
#ifndef DOGGED_DSL_CHECK_FILE_ENDINGS_H_
#define DOGGED_DSL_CHECK_FILE_ENDINGS_H_

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace dogged::dsl {

inline constexpr absl::string_view kFileEndings[] = {".npy",  ".zarr", ".png",
                                                     ".apng", ".vti",  ".pvd"};

inline bool HasFileEnding(absl::string_view path) {
  return std::any_of(std::begin(kFileEndings), std::end(kFileEndings),
                     [path](absl::string_view ending) {
                       return absl::EndsWithIgnoreCase(path, ending);
                     });
}

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_FILE_ENDINGS_H_
