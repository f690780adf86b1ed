// The stencils of apps/ as C that people write by hand: a loop that OpenMP
// shares out, and the same in overlapped tiles with depth in time. Peers of the
// benchmark, and built for it alone, for this CPU.
#ifndef DOGGED_APPS_DOGGED_BENCH_PEERS_STENCIL_H_
#define DOGGED_APPS_DOGGED_BENCH_PEERS_STENCIL_H_

#include <array>
#include <cstdint>
#include <vector>

namespace dogged {

// Computes a row: out[i] for 0 <= i < count. `in` points to the same row of the
// step before, `before` to that of the step before that; x and y are the
// distances to the rows beside it, in elements.
using StencilRow = void (*)(double* out, const double* in, const double* before,
                            int64_t count, int64_t x, int64_t y);

struct StencilPeer {
  std::array<int64_t, 3> extent;  // 1 where there is no such dimension
  int64_t steps = 0;              // that are computed
  bool is_second_order = false;
  StencilRow row = nullptr;
  // The value that a point inside starts with.
  double (*start)(int64_t x, int64_t y, int64_t z, int64_t n) = nullptr;
  std::array<int64_t, 3> tile;  // of the tiled one
  int64_t depth = 1;
};

StencilPeer Heat1dPeer(int64_t n, int64_t steps);
StencilPeer Heat2dPeer(int64_t n, int64_t steps);
StencilPeer Heat3dPeer(int64_t n, int64_t steps);
StencilPeer Wave2dPeer(int64_t n, int64_t steps);

// The last step, row by row.
std::vector<double> RunNaive(const StencilPeer& peer, int threads);
std::vector<double> RunTiled(const StencilPeer& peer, int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PEERS_STENCIL_H_
