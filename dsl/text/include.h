// Included files: `include "other.dog"` on a line of its own stands for the
// content of that file. Each file counts once, however often it is included.
#ifndef DOGGED_DSL_TEXT_INCLUDE_H_
#define DOGGED_DSL_TEXT_INCLUDE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// The content of a file, or why there is none. May be empty: then nothing can
// be read.
using ReadFile =
    std::function<absl::StatusOr<std::string>(const std::string& path)>;

// `path` as seen from the folder of `file`.
std::string RelativeTo(absl::string_view file, absl::string_view path);

// `text` of `file` with the included texts, and errors of the includes. Paths
// are relative to the file that includes.
Diagnostics Include(const std::string& file, absl::string_view text,
                    const ReadFile& read);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_INCLUDE_H_
