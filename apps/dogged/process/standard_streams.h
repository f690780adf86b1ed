// Standard input, output and error of this process, whatever it was given.
#ifndef DOGGED_APPS_DOGGED_PROCESS_STANDARD_STREAMS_H_
#define DOGGED_APPS_DOGGED_PROCESS_STANDARD_STREAMS_H_

#include "absl/status/status.h"

namespace dogged {

// Descriptors 0, 1 and 2 are in use from now on, so no file or pipe that is
// opened later becomes one of them. Closed streams still give errors. Up to 64
// KB of output are kept for FinishOutput(), unless it goes to a terminal.
void OccupyStandardStreams();

// Flushes standard output. Errors: as FileError() if it was not written whole.
absl::Status FinishOutput();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_STANDARD_STREAMS_H_
