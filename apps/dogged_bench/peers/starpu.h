// StarPU as a peer, where it is installed.
#ifndef DOGGED_APPS_DOGGED_BENCH_PEERS_STARPU_H_
#define DOGGED_APPS_DOGGED_BENCH_PEERS_STARPU_H_

#include "apps/dogged_bench/plain_tiles.h"

namespace dogged {

// Seconds of a tiled Cholesky, StarPU's start excluded; 0 without StarPU.
double StarpuCholesky(PlainTiles& tiles, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PEERS_STARPU_H_
