#include "runtime/base/wire_release.h"

namespace dogged {

// Before a number changes here: docs/WIRE.md, "How to change the wire".
WireRelease WireReleaseHere() {
  return {
      .range = {.oldest = 1, .newest = 1}, .name = DOGGED_VERSION, .more = {}};
}

}  // namespace dogged
