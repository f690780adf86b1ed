// Tiled Cholesky as a program made in C++, over tiles that are already there.
#ifndef DOGGED_APPS_DOGGED_BENCH_CHOLESKY_PROGRAM_H_
#define DOGGED_APPS_DOGGED_BENCH_CHOLESKY_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"

namespace dogged {

// The lower tiles of the generated n x n matrix, row by row.
std::vector<Value> GenerateTiles(int64_t n, int64_t tile_size,
                                 const KernelRegistry& kernels);

// Position of tile (i, j) there.
inline int64_t TileOffset(int64_t i, int64_t j) { return i * (i + 1) / 2 + j; }

// Arrays A(i)(j)(k), tile (i, j) after k updates, and L(i)(j), the result.
Program CholeskyProgram(int64_t tile_rows);

// The kernels of that program. The tasks that need nothing take their tile out
// of `tiles`, which must outlive the table.
KernelTable CholeskyKernels(const Program& program,
                            const KernelRegistry& kernels,
                            std::vector<Value>& tiles);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_CHOLESKY_PROGRAM_H_
