#include "apps/output/array_file.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include "apps/output/file.h"
#include "apps/output/npy_header.h"
#include "apps/output/zarr.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

class NpyFile : public ArrayFile {
 public:
  NpyFile(FileWriter file, int64_t header_bytes)
      : file_(std::move(file)), header_bytes_(header_bytes) {}
  absl::Status WriteAt(int64_t offset, absl::string_view elements) override {
    return file_.WriteAt(header_bytes_ + offset, elements);
  }
  absl::Status Commit() override { return file_.Commit(); }

 private:
  FileWriter file_;
  const int64_t header_bytes_;
};

template <typename Word>
void CopyLastFirst(const Word* from, int64_t rest, int64_t last, Word* to) {
  for (int64_t t = 0; t < last; ++t) {
    for (int64_t i = 0; i < rest; ++i) *to++ = from[i * last + t];
  }
}

}  // namespace

absl::Status CheckWritable(absl::string_view path, OutputFormat format) {
  return format == OutputFormat::kZarr ? CheckStoreWritable(path)
                                       : CheckWritable(path);
}

bool IsArrayFormat(OutputFormat format) {
  return format == OutputFormat::kNpy || format == OutputFormat::kZarr;
}

absl::StatusOr<std::unique_ptr<ArrayFile>> CreateArrayFile(
    absl::string_view path, OutputFormat format,
    const ArrayDescription& description) {
  if (format == OutputFormat::kZarr) return CreateZarr(path, description);
  DOGGED_ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(path));
  const std::string header =
      EncodeNpyHeader(description.type, description.shape);
  DOGGED_RETURN_IF_ERROR(file.Append(header));
  return std::make_unique<NpyFile>(std::move(file), std::ssize(header));
}

Value LastFirst(const Value& value) {
  Shape shape = value.shape();
  if (shape.size() < 2 || value.element_count() == 0) return value;
  const int64_t last = shape[shape.size() - 1];
  const int64_t rest = value.element_count() / last;
  TurnLastFirst(shape);
  Value out = Value::Allocate(value.type(), shape);
  // Bits are moved, whatever they mean.
  if (ElementBytes(value.type()) == 4) {
    CopyLastFirst(static_cast<const uint32_t*>(value.data()), rest, last,
                  static_cast<uint32_t*>(out.mutable_data()));
  } else {
    CopyLastFirst(static_cast<const uint64_t*>(value.data()), rest, last,
                  static_cast<uint64_t*>(out.mutable_data()));
  }
  out.SealLazily();
  return out;
}

}  // namespace dogged
