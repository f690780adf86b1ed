// What both ways of running share once the results are there: outputs, check,
// words.
#ifndef DOGGED_APPS_DOGGED_RUN_OUTCOME_H_
#define DOGGED_APPS_DOGGED_RUN_OUTCOME_H_

#include <string>

#include "apps/dogged/job_source.h"
#include "apps/dogged/options.h"
#include "apps/dogged/report.h"
#include "apps/dogged/room.h"
#include "apps/output/words.h"
#include "dsl/results.h"

namespace dogged {

// The program whose results a run has given; of a loop, that which ends at
// `time`, and says so.
LoadedProgram EndedProgram(const LoadedProgram& program, int64_t time);
// Warns where memory may be short. Errors: as JudgeRoom().
absl::Status SayRoom(const RunRoom& room);
// Warns if a run with so many agents keeps fewer copies than --replicas says.
void SayReplicas(int asked, int agents);
// Warns if many points are tasks of their own, of which several agents make
// little: `tasks` in all.
void SayPoints(const LoadedProgram& program, int64_t tasks, int agents);
// Tasks that the results need: `needed`; of a loop that has come to `time`,
// those of its rounds so far, for nobody knows how many there will be.
int64_t NeededAt(const Program& program, int64_t time, int64_t needed);
// Of a loop it is not known how much is left, but how far it has come.
void NotePlace(const Program& program, int64_t time, Progress& progress);
// "47 %" of the needed tasks; of a loop, whose end nobody knows, "T = 700".
std::string HowFar(const Program& program, int64_t time, int64_t done,
                   int64_t needed);

// `report` has the result digest. Fills check and residual, writes the outputs,
// prints the report. `views` are those of `program`.
ExitCode FinishRun(const RunOptions& options, const LoadedProgram& program,
                   const KernelSource& kernels, const KernelTable& table,
                   dsl::ResultViews& views, RunReport report);

// The two ways to run. The program has been compiled; `wall_start` is when the
// command began.
ExitCode RunEmbedded(const RunOptions& options, const LoadedProgram& program,
                     const KernelSource& kernels, absl::Time wall_start);
ExitCode RunOnCluster(const RunOptions& options, const LoadedProgram& program,
                      const KernelSource& kernels,
                      const Environment& environment, absl::Time wall_start);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_OUTCOME_H_
