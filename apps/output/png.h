// Pictures as PNG files (adapter: libpng).
#ifndef DOGGED_APPS_OUTPUT_PNG_H_
#define DOGGED_APPS_OUTPUT_PNG_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apps/output/canvas.h"
#include "apps/output/index_grid.h"
#include "runtime/base/value.h"

namespace dogged {

// The bytes of a PNG file, 8 bits per channel.
absl::StatusOr<std::string> EncodePng(const Canvas& canvas);

// Afterwards the file at `path` shows `value` (see plot.h) under `title`, or
// it is as it was before.
//
// Shape:  one or two dimensions of more than one element; any element type.
//         `indices`: for the numbers at the axes; see GridOf().
// Errors: kInvalidArgument for another shape; as WriteWholeFile.
absl::Status WritePng(absl::string_view path, const Value& value,
                      absl::string_view title, const IndexGrid& indices = {});

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_PNG_H_
