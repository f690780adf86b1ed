// MicroKernels: the inner loops of triangular solves, which keep a block of the
// unknowns in registers (as Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication", 2008, section 6, do for products). Compiled for three
// widths of vectors; operands are packed by triangle.cc.
#ifndef DOGGED_APPS_TILES_MICRO_KERNELS_H_
#define DOGGED_APPS_TILES_MICRO_KERNELS_H_

#include <cstdint>

namespace dogged {

struct MicroKernels {
  // Of the block.
  int64_t rows;
  int64_t columns;
  // x = x * inverse(l)' for `rows` rows of x, which follow one another, n
  // elements each. n is a multiple of `columns`. For each block of as many
  // columns j of x, `packed` holds -l(j, k) for the k before them, and then the
  // transposed inverse of the triangle on the diagonal: rows of `columns`.
  void (*solve_right)(int64_t n, const double* packed, double* x);
  // x = inverse(l) * x for `columns` columns of x, the rows of which follow one
  // another. m is a multiple of `rows`. For each block of as many rows i of x,
  // `packed` holds -l(i, k) for the k before them, and then the inverse of the
  // triangle on the diagonal, column by column: columns of `rows`.
  void (*solve_left)(int64_t m, const double* packed, double* x);
};

// Those that suit a core of OpenBLAS's, as openblas_get_corename() names it:
// AVX-512 where its own kernels use it, AVX2 and FMA likewise, or neither. What
// they compute differs in the last bits.
const MicroKernels& MicroKernelsOf(const char* core);

// By doubles in a vector.
extern const MicroKernels kMicroKernels2;
#if defined(__x86_64__)
extern const MicroKernels kMicroKernels4;
extern const MicroKernels kMicroKernels8;
#endif

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_MICRO_KERNELS_H_
