// Memory of this process, as the operating system counts it.
#ifndef DOGGED_APPS_DOGGED_PROCESS_MEMORY_H_
#define DOGGED_APPS_DOGGED_PROCESS_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace dogged {

// Memory of this computer.
int64_t PhysicalBytes();
// Bytes of addresses or of data that this process may have, the lesser one
// (ulimit -v, -d); none: as many as it wants.
std::optional<int64_t> ProcessLimit();
// Resident bytes now; 0 if that can't be read.
int64_t ResidentBytes();
// The most that it ever was.
int64_t PeakResidentBytes();

// Where addresses are limited (ulimit -v), the heap takes no more of them than
// it needs. And whatever thread finds no memory, or no other thread, ends this
// process with words and ExitCode::kNoRoom, not by abort(): in code that is not
// ours nobody else could. Once, before there are threads.
void PrepareForScarcity();
// For a process that will map `bytes`, and start `threads`. Errors:
// kResourceExhausted if its addresses are limited to less, with the limit that
// would do; `who` needs them.
absl::Status CheckAddresses(const std::string& who, int64_t bytes, int threads);
// May have as many descriptors as it is allowed to from now on. Errors:
// kResourceExhausted if those are fewer than `who` needs.
absl::Status TakeDescriptors(const std::string& who, int64_t needed);
// `status` of a start that failed: kResourceExhausted where addresses are
// limited, which most likely is the reason.
absl::Status OrNoAddresses(const absl::Status& status);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_MEMORY_H_
