// ArrayFile: an array on disk, of numbers as they are, written piece by piece.
#ifndef DOGGED_APPS_OUTPUT_ARRAY_FILE_H_
#define DOGGED_APPS_OUTPUT_ARRAY_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
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
  // Bytes of elements that follow one another in C order, from byte `offset` of
  // the array on. Every byte is to be written once. Errors: as FileError; the
  // file is no good afterwards.
  virtual absl::Status WriteAt(int64_t offset, absl::string_view elements) = 0;
  // WriteAt() behind what was appended before.
  absl::Status Append(absl::string_view elements) {
    const int64_t offset = appended_;
    appended_ += std::ssize(elements);
    return WriteAt(offset, elements);
  }
  // Once, after all elements. Errors: likewise.
  virtual absl::Status Commit() = 0;

 private:
  int64_t appended_ = 0;
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

// The same elements with the last dimension as the first one.
Value LastFirst(const Value& value);
// Likewise, of what there is an entry of for each dimension.
template <typename Entries>
void TurnLastFirst(Entries& entries) {
  for (auto i = entries.size(); i > 1; --i) {
    std::swap(entries[i - 1], entries[i - 2]);
  }
}

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_ARRAY_FILE_H_
