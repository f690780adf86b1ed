// The same work by OpenMP tasks: a peer of the benchmark, and built for it
// alone.
#ifndef DOGGED_APPS_DOGGED_BENCH_PEERS_OPENMP_H_
#define DOGGED_APPS_DOGGED_BENCH_PEERS_OPENMP_H_

#include <cstdint>
#include <vector>

#include "apps/dogged_bench/plain_tiles.h"
#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"

namespace dogged {

// `count` tasks that do nothing.
void OpenMpIndependent(int64_t count, int threads);
// n x n tasks that add their left and upper neighbours' doubles.
void OpenMpWavefront(int64_t n, int threads);
// A task, then `count` tasks that depend on it.
void OpenMpWideRelease(int64_t count, int threads);
// Factors the lower tiles, row by row ((0,0), (1,0), (1,1), ...), in place.
void OpenMpCholesky(std::vector<Value>& tiles, int tile_rows,
                    const KernelRegistry& kernels, int threads);

// The same over OpenBLAS's own kernels.
void OpenMpPlainCholesky(PlainTiles& tiles, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PEERS_OPENMP_H_
