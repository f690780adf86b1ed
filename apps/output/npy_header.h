// NpyHeader: what an .npy file says of its data; see npy.h.
#ifndef DOGGED_APPS_OUTPUT_NPY_HEADER_H_
#define DOGGED_APPS_OUTPUT_NPY_HEADER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/value.h"

namespace dogged {

struct NpyHeader {
  ElementType type = ElementType::kDouble;
  bool is_fortran_order = false;
  bool is_big_endian = false;
  Shape shape;
  int64_t data_bytes = 0;
};

// Reads the dictionary, which is Python text, of a header.
absl::StatusOr<NpyHeader> ParseNpyDictionary(absl::string_view text);

// Magic, version, length and dictionary, padded to a multiple of 64 bytes.
std::string EncodeNpyHeader(ElementType type, const Shape& shape);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_NPY_HEADER_H_
