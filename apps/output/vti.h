// VTK image data, which ParaView and VisIt read: a regular grid of numbers in
// one file (.vti), and a list of such files over time (.pvd).
#ifndef DOGGED_APPS_OUTPUT_VTI_H_
#define DOGGED_APPS_OUTPUT_VTI_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "apps/output/index_grid.h"
#include "runtime/base/value.h"

namespace dogged {

// Images of a list, at most.
inline constexpr int64_t kImagesMax = 10000;
// Points of an image along one axis, at most: VTK counts in 32 bits.
inline constexpr int64_t kImagePointsMax = 2147483647;

// Afterwards the file at `path` holds the points of `value` as point data
// `name`, at the coordinates of `indices`: the first dimension along x, the
// second along y, the third along z. Or it is as it was before.
//
// Shape:  dimensions of one element do not count; at most three others, each
//         of at most kImagePointsMax. `indices`: their coordinates.
// Errors: kInvalidArgument for another shape; as WriteWholeFile.
absl::Status WriteVti(absl::string_view path, const Value& value,
                      absl::string_view name, const IndexGrid& indices = {});

// "out/heat_000042.vti" for step 42 of the list "out/heat.pvd".
std::string ImagePath(absl::string_view list_path, int64_t step);

// Afterwards the file at `path` lists the images of these steps, which lie
// beside it under the names that ImagePath gives.
// Their times are the steps times `spacing`.
absl::Status WritePvd(absl::string_view path, absl::Span<const int64_t> steps,
                      double spacing = 1);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_VTI_H_
