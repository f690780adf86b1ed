// Zarr: a folder that holds an array in chunks, a file each, which xarray, Dask
// and others read in parts. Written by the words of the format's description,
// version 3: one array, not compressed.
#ifndef DOGGED_APPS_OUTPUT_ZARR_H_
#define DOGGED_APPS_OUTPUT_ZARR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apps/output/array_file.h"
#include "apps/output/parted_file.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

// Bytes of a chunk, at most.
inline constexpr int64_t kChunkBytesMax = 8 << 20;

// The shape of all chunks: whole rows, or a part of one, that follow one
// another in C order. About half of kChunkBytesMax at least, if there is so
// much; extents differ by little where an index is divided.
Shape ChunkShape(ElementType type, const Shape& shape);

// OK if a store could be made at `path` now. Errors: as CheckWritable();
// kInvalidArgument for a file, and for a folder that is no array of Zarr's
// version 3 or holds other files too, which would be lost.
absl::Status CheckStoreWritable(absl::string_view path);

// A store that takes the place of one at `path`. While it is written it has a
// temporary name beside that. Errors: as CheckStoreWritable(), FileError().
//
// Cost: a chunk is open at a time; memory for the fill of a chunk that the
// array ends in.
absl::StatusOr<std::unique_ptr<ArrayFile>> CreateZarr(
    absl::string_view path, const ArrayDescription& description);

// The path in a store of chunk number `at` by dimension: "/c/0/3".
std::string ChunkName(const IndexVector& at);

// A store that several processes write, each its parts of chunks. The files of
// all chunks, of shape `chunk`, are there from the begin, as large as they will
// be. Errors: as CreateZarr(); kResourceExhausted without room for all of it.
absl::StatusOr<std::unique_ptr<PartedOutput>> CreatePartedZarr(
    absl::string_view path, const ArrayDescription& description,
    const Shape& chunk, const Digest& mark);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_ZARR_H_
