// How far a run has come, also of a loop, whose end nobody knows.
#ifndef DOGGED_APPS_DOGGED_RUN_RUN_PROGRESS_H_
#define DOGGED_APPS_DOGGED_RUN_RUN_PROGRESS_H_

#include <cstdint>
#include <string>

#include "apps/output/progress.h"
#include "runtime/graph/program.h"

namespace dogged {

// Tasks that the results need: `needed`; in a loop that has come to `time`, for
// its rounds so far, since nobody knows how many there will be.
int64_t NeededAt(const Program& program, int64_t time, int64_t needed);
// Notes the place of a loop, of which it is not known how much is left.
void NotePlace(const Program& program, int64_t time, Progress& progress);
// "47 %" of the needed tasks; of a loop, whose end nobody knows, "T = 700".
std::string HowFar(const Program& program, int64_t time, int64_t done,
                   int64_t needed);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_RUN_PROGRESS_H_
