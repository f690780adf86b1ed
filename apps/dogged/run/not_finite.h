// NaNs and infinities: a computation that has blown up says so.
#ifndef DOGGED_APPS_DOGGED_RUN_NOT_FINITE_H_
#define DOGGED_APPS_DOGGED_RUN_NOT_FINITE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "apps/dogged/run/loaded_program.h"
#include "dsl/results.h"

namespace dogged {

// Warns of NaNs and infinities in input files, and names inputs that were made
// for want of a file.
void WarnOfInputs(const LoadedProgram& program);

// Number of them among the results. Warns of each result with some, and names
// the first. Errors: as ResultViews.
absl::StatusOr<int64_t> CountNotFinite(dsl::ResultViews& views);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_NOT_FINITE_H_
