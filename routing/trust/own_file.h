// OwnFile: a file that decides who is a member. Nobody but the user of this
// process, and root, may change it, and what is secret nobody else may read.
#ifndef DOGGED_ROUTING_TRUST_OWN_FILE_H_
#define DOGGED_ROUTING_TRUST_OWN_FILE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace dogged {

struct OwnFileRules {
  absl::string_view kind;        // begins messages: "key file"
  absl::string_view if_missing;  // what to do then
  absl::string_view if_empty;    // likewise
  absl::string_view if_no_file;  // likewise, of devices and pipes
  bool is_secret = true;
  absl::string_view if_seen;  // what to do if others could read or change it
};

inline constexpr int64_t kOwnFileBytesMax = 64 << 10;
// Looks whether a file has changed come so often.
inline constexpr absl::Duration kOwnFileInterval = absl::Seconds(1);

// Device, inode, size and times of a file: others, if it has changed. Zeros
// where none is.
using FileVersion = std::array<int64_t, 6>;
FileVersion FileVersionOf(const std::string& path);

// "key file PATH: WORDS", kInvalidArgument.
absl::Status OwnFileTrouble(absl::string_view kind, const std::string& path,
                            absl::string_view words);
// The same for `what` that the system refused; kResourceExhausted for want of
// room.
absl::Status OwnFileError(absl::string_view kind, const std::string& path,
                          absl::string_view what, int error);

// The bytes, and in `version` which file had them, also after an error. Errors
// name the file and say what to do: kInvalidArgument if it is missing, a
// folder, unreadable, empty, too long, or not the user's own.
absl::StatusOr<std::string> ReadOwnFile(const std::string& path,
                                        const OwnFileRules& rules,
                                        FileVersion& version);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_OWN_FILE_H_
