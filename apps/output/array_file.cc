#include "apps/output/array_file.h"

#include <utility>

#include "apps/output/file.h"
#include "apps/output/npy_header.h"
#include "apps/output/zarr.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

class NpyFile : public ArrayFile {
 public:
  explicit NpyFile(FileWriter file) : file_(std::move(file)) {}
  absl::Status Append(absl::string_view elements) override {
    return file_.Append(elements);
  }
  absl::Status Commit() override { return file_.Commit(); }

 private:
  FileWriter file_;
};

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
  DOGGED_RETURN_IF_ERROR(
      file.Append(EncodeNpyHeader(description.type, description.shape)));
  return std::make_unique<NpyFile>(std::move(file));
}

}  // namespace dogged
