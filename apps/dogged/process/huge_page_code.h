// The code of this program on huge pages.
#ifndef DOGGED_APPS_DOGGED_PROCESS_HUGE_PAGE_CODE_H_
#define DOGGED_APPS_DOGGED_PROCESS_HUGE_PAGE_CODE_H_

#include "absl/status/status.h"

namespace dogged {

// Moves this program's own code (not that of shared libraries) to huge pages: a
// process that wakes up runs through a hundred pages of code until a task
// starts, and a virtual machine that has none of them in its TLB looks each up
// in two page tables. Takes memory as large as the code, some 6 MB. Once,
// before there are threads. Errors, and nothing has changed: kUnavailable if
// Linux has no huge pages for it, kResourceExhausted if there is no memory,
// kPermissionDenied if memory of this process may not be executed.
absl::Status MoveCodeToHugePages();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_HUGE_PAGE_CODE_H_
