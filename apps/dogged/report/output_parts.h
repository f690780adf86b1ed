// OutputParts: an output as an .npy file or a store of chunks (.zarr), and
// where the part of each label's value goes in it.
#ifndef DOGGED_APPS_DOGGED_REPORT_OUTPUT_PARTS_H_
#define DOGGED_APPS_DOGGED_REPORT_OUTPUT_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/report/outputs.h"
#include "apps/output/array_file.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/relations.h"

namespace dogged {

struct OutputParts {
  WrittenOutput written;
  std::vector<FilePart> parts;
  // An .npy file has these two.
  std::string header;
  int64_t data_bytes = 0;  // behind the header
  // A store has the rest: the file of each part in it, and the shape of chunks.
  std::vector<std::string> chunks;  // "/c/0/3"; of an .npy file empty
  Shape chunk;
  ArrayDescription description;

  bool IsStore() const { return header.empty(); }
};

// A box of an array, of which a label has the numbers.
struct PlacedBlock {
  IndexVector first;
  IndexVector extents;
};
// The shape of chunks: that of blocks, where they are all of a shape and stand
// in a grid, so that a chunk is a block; unless that is many small files, or
// few large ones: then as of ChunkShape(). `blocks` are of an array of `shape`.
Shape ChunkOf(const std::vector<PlacedBlock>& blocks, ElementType type,
              const Shape& shape);

// `relations` are of the program that has ended.
//
// Errors: kFailedPrecondition for a file of another format, and where values
// are no boxes of the array or have shapes that nobody knows beforehand.
absl::StatusOr<OutputParts> PartsOf(const Output& output,
                                    const Relations& relations);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_OUTPUT_PARTS_H_
