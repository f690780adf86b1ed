// ResultFile: results that a client has no memory for lie in a file without a
// name, which ends with the client.
//
// Used by one thread.
#ifndef DOGGED_APPS_DOGGED_CLIENT_RESULT_FILE_H_
#define DOGGED_APPS_DOGGED_CLIENT_RESULT_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

class ResultFile {
 public:
  // In the first of `folders` that takes a file, as soon as there is a value.
  explicit ResultFile(std::vector<std::string> folders)
      : folders_(std::move(folders)) {}
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();

  // Errors: kResourceExhausted without room, or what else the system says,
  // naming the folder; the label is not in the file then.
  absl::Status Put(const Label& label, const Value& value);
  // The value of a label that was put, whose type, shape and digest are those
  // of `spilled`; mapped, so that a part of it may be read alone. Errors:
  // kDataLoss if the file does not have it any more.
  absl::StatusOr<Value> Read(const Label& label, const Value& spilled) const;
  int64_t bytes() const { return bytes_; }

 private:
  absl::Status Open();

  const std::vector<std::string> folders_;
  std::string folder_;  // that has the file
  int descriptor_ = -1;
  int64_t bytes_ = 0;
  absl::flat_hash_map<Label, int64_t> offsets_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_RESULT_FILE_H_
