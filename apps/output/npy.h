// NumPy's file format, as far as our values need it: versions 1.0 to 3.0,
// double, float and int64 of either byte order, at most six dimensions.
#ifndef DOGGED_APPS_OUTPUT_NPY_H_
#define DOGGED_APPS_OUTPUT_NPY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/value.h"

namespace dogged {

// The array in the file, sealed, in C order and this computer's order of bytes
// whatever orders the file has.
//
// Errors: name the file, its content and the way out. kInvalidArgument for
//         a file of another form or type; kDataLoss for one whose length is
//         not that of its header; kResourceExhausted if memory is short;
//         as InputFile. Memory is taken for the bytes that the file has,
//         never for a claim of its header.
// `may_map`: a large one stays in its file, see MapValue().
absl::StatusOr<Value> ReadNpy(absl::string_view path, bool may_map = false);

// Afterwards the file at `path` holds `value`, version 1.0, C order; or it is
// as it was before. Errors: as WriteWholeFile.
absl::Status WriteNpy(absl::string_view path, const Value& value);

// As Python writes it: "(5, 3)", "(5,)", "()".
std::string ShapeText(const Shape& shape);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_NPY_H_
