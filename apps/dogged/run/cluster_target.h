// Target of tiles on a cluster, where the command line doesn't give it.
#ifndef DOGGED_APPS_DOGGED_RUN_CLUSTER_TARGET_H_
#define DOGGED_APPS_DOGGED_RUN_CLUSTER_TARGET_H_

#include "absl/status/statusor.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

// Loads the program of `options` and fills in the agents of its cluster, and
// its agents and workers, where they are 0: as the cluster has them now. But a
// job of this very program that runs there already, or is done, keeps the tiles
// that it has, so that the same command attaches to it while agents come and
// go.
//
// Errors: kUnavailable if nobody answers at `options.cluster`; as LoadProgram.
// They have been printed.
absl::StatusOr<LoadedProgram> LoadForCluster(RunOptions& options,
                                             const KernelSource& kernels);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_CLUSTER_TARGET_H_
