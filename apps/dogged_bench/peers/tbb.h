// Empty tasks by oneTBB, where it is installed.
#ifndef DOGGED_APPS_DOGGED_BENCH_PEERS_TBB_H_
#define DOGGED_APPS_DOGGED_BENCH_PEERS_TBB_H_

#include <cstdint>

namespace dogged {

// The work of OpenMpIndependent() and its siblings, by task_group. Tasks of a
// wavefront count their inputs; their code holds the dependences.
void TbbIndependent(int64_t count, int threads);
void TbbWavefront(int64_t n, int threads);
void TbbWideRelease(int64_t count, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PEERS_TBB_H_
