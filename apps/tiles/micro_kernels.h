// MicroKernels: the inner loops of products and of triangular solves, which
// keep a block of the result in registers (as Goto and van de Geijn, "Anatomy
// of high-performance matrix multiplication", 2008, section 6). Compiled for
// three widths of vectors; product.cc and triangle.cc choose the blocks.
#ifndef DOGGED_APPS_TILES_MICRO_KERNELS_H_
#define DOGGED_APPS_TILES_MICRO_KERNELS_H_

#include <cstdint>

namespace dogged {

// A matrix, or the transposed of one: element (i, j) is
// data[i * row_step + j * column_step].
struct Strided {
  const double* data = nullptr;
  int64_t row_step = 0;
  int64_t column_step = 0;

  double operator()(int64_t i, int64_t j) const {
    return data[i * row_step + j * column_step];
  }
  // The block that begins at (i, j).
  Strided At(int64_t i, int64_t j) const {
    return {data + i * row_step + j * column_step, row_step, column_step};
  }
};

// Columns that a panel is made of: a cache line of each row.
inline constexpr int64_t kStrip = 8;
// The columns of the left one of two parts of a panel of n > kStrip: whole
// strips, and where there are many, whole blocks of any MicroKernels.
inline int64_t LeftOfPanel(int64_t n) {
  const int64_t unit = n > 6 * kStrip ? 3 * kStrip : kStrip;
  return (n / 2 + unit - 1) / unit * unit;
}

struct StripStep {
  int64_t column = -1;
  double scale = 0;
  double weights[kStrip] = {};
};

// The first of the elements that have the largest magnitude.
struct StripPivot {
  double magnitude = 0;
  int64_t row = 0;
  bool is_finite = true;  // all of them
};

// A block that a product is added to, or replaces; its rows are `stride` apart.
struct Target {
  double* data;
  int64_t stride;
  bool adds;
};

struct MicroKernels {
  // Size of the block.
  int64_t rows;
  int64_t columns;
  // c = a * b, or c + a * b; a has k columns. `packed` holds b: k rows of
  // `columns`. Meanwhile the k elements from `ahead` on, which the caller will
  // read soon, come into the second level of cache.
  void (*multiply)(int64_t k, const Strided& a, const double* packed,
                   const double* ahead, const Target& c);
  // The first `count` columns of b, k rows of them, times `factor`, as
  // multiply() wants them: filled up with zeros. Either step of b is 1.
  void (*pack)(int64_t k, int64_t count, double factor, const Strided& b,
               double* packed);
  // The first `count` rows of a, k columns of them: column by column, each
  // filled up to `rows` with zeros. a's row_step is 1.
  void (*pack_left)(int64_t k, int64_t count, const Strided& a, double* packed);
  // x = x * inverse(l)' for `rows` rows of x, which follow one another, n
  // elements each. n is a multiple of `columns`. For each block of as many
  // columns j of x, `packed` holds -l(j, k) for the k before them, and then the
  // transposed inverse of the triangle on the diagonal: rows of `columns`.
  void (*solve_right)(int64_t n, const double* packed, double* x);
  // The block of `rows` rows of x = inverse(l) * x after the first k rows,
  // which are done, for `columns` columns of x, the rows of which follow one
  // another. `l` holds those rows of l, k columns; `inverse` is that of the
  // triangle that follows there, column by column.
  void (*solve_left)(int64_t k, const Strided& l, const double* inverse,
                     double* x);
  // For `m` rows of kStrip elements, which begin with a cache line: column
  // `step.column` becomes v = step.scale * column, and v * step.weights is
  // taken from the others (the weights up to that column are 0). Then sums =
  // next' * rows, where `next` is the column after it. Before the first column,
  // -1: sums only.
  void (*reflect)(int64_t m, const StripStep& step, double* rows, double* sums);
  // Does the same to the rows, and finds the largest of the next column.
  StripPivot (*eliminate)(int64_t m, const StripStep& step, double* rows);
};

// The widest kernels that this processor can run, whatever OpenBLAS has chosen
// for itself. Their results differ in the last bits; the numeric class names
// the features of the processor that decide (numeric_class.h).
const MicroKernels& MicroKernelsHere();

// By doubles in a vector.
extern const MicroKernels kMicroKernels2;
#if defined(__x86_64__)
extern const MicroKernels kMicroKernels4;
extern const MicroKernels kMicroKernels8;
#endif

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_MICRO_KERNELS_H_
