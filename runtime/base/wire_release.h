// WireRelease: the versions of the wire that this build speaks, and its name:
// the one place where they stand (wire_release.cc). A test replaces that unit
// by one of a later release.
#ifndef DOGGED_RUNTIME_BASE_WIRE_RELEASE_H_
#define DOGGED_RUNTIME_BASE_WIRE_RELEASE_H_

#include "absl/strings/string_view.h"
#include "runtime/base/wire_version.h"

namespace dogged {

struct WireRelease {
  WireRange range;
  absl::string_view name;  // for people: "0.1.0"
  // Bytes at the end of messages that may gain fields: the ones of a release
  // that does not exist yet, in tests. Empty here.
  absl::string_view more;
};

WireRelease WireReleaseHere();

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_WIRE_RELEASE_H_
