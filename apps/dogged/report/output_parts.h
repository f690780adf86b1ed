// OutputParts: an output as an .npy file, and where the part of each label's
// value goes in it.
#ifndef DOGGED_APPS_DOGGED_REPORT_OUTPUT_PARTS_H_
#define DOGGED_APPS_DOGGED_REPORT_OUTPUT_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/report/outputs.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/graph/relations.h"

namespace dogged {

struct OutputParts {
  WrittenOutput written;
  std::string header;
  int64_t data_bytes = 0;  // behind the header
  std::vector<FilePart> parts;
};

// `relations` are of the program that has ended.
//
// Errors: kFailedPrecondition for a file of another format, and where values
// are no boxes of the array or have shapes that nobody knows beforehand.
absl::StatusOr<OutputParts> PartsOf(const Output& output,
                                    const Relations& relations);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_OUTPUT_PARTS_H_
