#include "runtime/agent/job_entry.h"

#include "runtime/job/inputs/input_chunks.h"
#include "runtime/job/job_run.h"

namespace dogged {

JobEntry::JobEntry() = default;
JobEntry::JobEntry(JobEntry&&) noexcept = default;
JobEntry& JobEntry::operator=(JobEntry&&) noexcept = default;
JobEntry::~JobEntry() = default;

}  // namespace dogged
