// ArrayFile: an array on disk, of numbers as they are, written piece by piece.
#ifndef DOGGED_APPS_OUTPUT_ARRAY_FILE_H_
#define DOGGED_APPS_OUTPUT_ARRAY_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apps/output/index_grid.h"
#include "apps/output/selection.h"
#include "runtime/base/value.h"

namespace dogged {

// An array and what it is called; formats that have no room for that leave it.
struct ArrayDescription {
  ElementType type = ElementType::kDouble;
  Shape shape;
  std::string array;               // "u"
  std::string labels;              // "u(0:100)(5)"
  std::vector<std::string> names;  // of dimensions; empty: they have none
  IndexGrid indices;               // no entries: they have none
};

// It is whole once Commit() has returned OK; else its path has what was there
// before, and nothing is left behind.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  // Bytes of elements that follow one another in C order. Errors: as
  // FileError; the file is no good afterwards.
  virtual absl::Status Append(absl::string_view elements) = 0;
  // Once, after all elements. Errors: likewise.
  virtual absl::Status Commit() = 0;
};

// OK if a file of that format could be written at `path` now. Errors: as
// CheckWritable(), CheckStoreWritable().
absl::Status CheckWritable(absl::string_view path, OutputFormat format);

// True for formats that hold numbers as they are, of any shape.
bool IsArrayFormat(OutputFormat format);

// A file of such a format. Errors: as FileWriter::Create(), CreateZarr().
absl::StatusOr<std::unique_ptr<ArrayFile>> CreateArrayFile(
    absl::string_view path, OutputFormat format,
    const ArrayDescription& description);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_ARRAY_FILE_H_
