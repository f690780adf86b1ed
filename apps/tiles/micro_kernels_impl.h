// The text of MicroKernels, for one width of vectors. Included by the files
// that compile it with that width, and so with nothing of the standard library:
// the linker would take one file's copy of its inline functions for all.
#ifndef DOGGED_APPS_TILES_MICRO_KERNELS_IMPL_H_
#define DOGGED_APPS_TILES_MICRO_KERNELS_IMPL_H_

#include "apps/tiles/micro_kernels.h"

namespace dogged {

// Vector: of doubles, by the compiler's attribute vector_size.
template <typename Vector, int kRows>
struct MicroKernelsImpl {
  static constexpr int kLanes = sizeof(Vector) / sizeof(double);
  static constexpr int kColumns = 2 * kLanes;

  static void Copy(const double* from, Vector& to) {
    __builtin_memcpy(&to, from, sizeof(to));
  }

  struct Block {
    Vector rows[kRows][2];

    void Load(const double* from, int64_t stride) {
      for (auto& row : rows) {
        Copy(from, row[0]);
        Copy(from + kLanes, row[1]);
        from += stride;
      }
    }
    void Store(double* to, int64_t stride) const {
      for (const auto& row : rows) {
        __builtin_memcpy(to, &row[0], sizeof(Vector));
        __builtin_memcpy(to + kLanes, &row[1], sizeof(Vector));
        to += stride;
      }
    }
    // Adds a * b, where b is k x kColumns, its rows one after the other.
    __attribute__((always_inline)) void AddProduct(int64_t k, const double* a,
                                                   int64_t row_step,
                                                   int64_t column_step,
                                                   const double* b) {
      for (; k > 0; --k, a += column_step, b += kColumns) {
        Vector b0;
        Vector b1;
        Copy(b, b0);
        Copy(b + kLanes, b1);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const double factor = a[r * row_step];
          rows[r][0] += factor * b0;
          rows[r][1] += factor * b1;
        }
      }
    }
  };

  static void SolveRight(int64_t n, const double* packed, double* x) {
    for (int64_t j = 0; j < n; j += kColumns) {
      Block block;
      block.Load(x + j, n);
      block.AddProduct(j, x, n, 1, packed);
      packed += j * kColumns;
      block.Store(x + j, n);
      block = {};
      block.AddProduct(kColumns, x + j, n, 1, packed);
      packed += kColumns * kColumns;
      block.Store(x + j, n);
    }
  }

  static void SolveLeft(int64_t m, const double* packed, double* x) {
    for (int64_t i = 0; i < m; i += kRows) {
      double* const rows = x + i * kColumns;
      Block block;
      block.Load(rows, kColumns);
      block.AddProduct(i, packed, 1, kRows, x);
      packed += i * kRows;
      block.Store(rows, kColumns);
      block = {};
      block.AddProduct(kRows, packed, 1, kRows, rows);
      packed += kRows * kRows;
      block.Store(rows, kColumns);
    }
  }

  static constexpr MicroKernels kTable = {.rows = kRows,
                                          .columns = kColumns,
                                          .solve_right = SolveRight,
                                          .solve_left = SolveLeft};
};

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_MICRO_KERNELS_IMPL_H_
