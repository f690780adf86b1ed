// The text of MicroKernels, for one width of vectors. Included by the files
// that compile it with that width, and so with nothing of the standard library:
// the linker would take one file's copy of its inline functions for all.
#ifndef DOGGED_APPS_TILES_MICRO_KERNELS_IMPL_H_
#define DOGGED_APPS_TILES_MICRO_KERNELS_IMPL_H_

#include "apps/tiles/micro_kernels.h"
#include "apps/tiles/strip_kernels_impl.h"

namespace dogged {

// Vector: of doubles, by the compiler's attribute vector_size.
template <typename Vector, int kRows>
struct MicroKernelsImpl {
  using Strips = StripKernelsImpl<Vector>;
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
    // Subtracts the block from the elements there, and becomes the difference.
    void SubtractFrom(const double* there, int64_t stride) {
      for (auto& row : rows) {
        Vector part;
        Copy(there, part);
        row[0] = part - row[0];
        Copy(there + kLanes, part);
        row[1] = part - row[1];
        there += stride;
      }
    }
    void Add(const double* from, int64_t stride) {
      for (auto& row : rows) {
        Vector part;
        Copy(from, part);
        row[0] += part;
        Copy(from + kLanes, part);
        row[1] += part;
        from += stride;
      }
    }
    // Adds a * b, where b is k x kColumns, its rows one after the other.
    // Fetches the k elements from `ahead` on.
    __attribute__((always_inline)) void AddProduct(int64_t k, const Strided& a,
                                                   const double* b,
                                                   const double* ahead) {
      const double* column = a.data;
      for (; k > 0; --k, column += a.column_step, b += kColumns) {
        Vector b0;
        Vector b1;
        Copy(b, b0);
        Copy(b + kLanes, b1);
        __builtin_prefetch(ahead++, 0, 2);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const double factor = column[r * a.row_step];
          rows[r][0] += factor * b0;
          rows[r][1] += factor * b1;
        }
      }
    }
  };

  static void Multiply(int64_t k, const Strided& a, const double* packed,
                       const double* ahead, const Target& c) {
    Block block = {};
    if (c.adds) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        __builtin_prefetch(c.data + r * c.stride, 1);
        __builtin_prefetch(c.data + r * c.stride + kColumns - 1, 1);
      }
    }
    block.AddProduct(k, a, packed, ahead);
    if (c.adds) block.Add(c.data, c.stride);
    block.Store(c.data, c.stride);
  }

  // Integers as wide as a double.
  using Mask = decltype(Vector{} < Vector{});

  // Exchanges the halves of kLanes rows that are off the diagonal, of each
  // square of 2 * kHalf.
  template <int kHalf>
  __attribute__((always_inline)) static void Exchange(Vector* rows) {
    if constexpr (kHalf < kLanes) {
      Mask lower;
      Mask upper;
#pragma GCC unroll 8
      for (int c = 0; c < kLanes; ++c) {
        const bool is_off = (c & kHalf) != 0;
        lower[c] = is_off ? kLanes + c - kHalf : c;
        upper[c] = is_off ? kLanes + c : c + kHalf;
      }
#pragma GCC unroll 8
      for (int i = 0; i < kLanes; ++i) {
        if ((i & kHalf) != 0) continue;
        const Vector first = rows[i];
        const Vector second = rows[i + kHalf];
        rows[i] = __builtin_shuffle(first, second, lower);
        rows[i + kHalf] = __builtin_shuffle(first, second, upper);
      }
      Exchange<2 * kHalf>(rows);
    }
  }

  // to(j, i) = factor * from(i, j), kLanes x kLanes; rows of `to` are kColumns
  // apart.
  static void Transpose(double factor, const double* from, int64_t stride,
                        double* to) {
    Vector rows[kLanes];
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) {
      Copy(from + i * stride, rows[i]);
      rows[i] *= factor;
    }
    Exchange<1>(rows);
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) {
      __builtin_memcpy(to + i * kColumns, &rows[i], sizeof(Vector));
    }
  }

  static void Pack(int64_t k, int64_t count, double factor, const Strided& b,
                   double* packed) {
    for (int half = 0; half < kColumns; half += kLanes) {
      const Strided part = b.At(0, half);
      double* const to = packed + half;
      int64_t row = 0;
      if (count >= half + kLanes && part.column_step == 1) {
        for (; row < k; ++row) {
          Vector line;
          Copy(part.data + row * part.row_step, line);
          line *= factor;
          __builtin_memcpy(to + row * kColumns, &line, sizeof(line));
        }
      } else if (count >= half + kLanes && part.row_step == 1) {
        for (; row + kLanes <= k; row += kLanes) {
          Transpose(factor, part.data + row, part.column_step,
                    to + row * kColumns);
        }
      }
      for (; row < k; ++row) {
        for (int c = 0; c < kLanes; ++c) {
          to[row * kColumns + c] = half + c < count ? factor * part(row, c) : 0;
        }
      }
    }
  }

  static void PackLeft(int64_t k, int64_t count, const Strided& a,
                       double* packed) {
    for (int64_t q = 0; q < k; ++q) {
      const double* const from = a.data + q * a.column_step;
      double* const to = packed + q * kRows;
      if (count == kRows) {
        __builtin_memcpy(to, from, kRows * sizeof(double));
      } else {
        for (int r = 0; r < kRows; ++r) to[r] = r < count ? from[r] : 0;
      }
    }
  }

  static void SolveRight(int64_t n, const double* packed, double* x) {
    for (int64_t j = 0; j < n; j += kColumns) {
      Block block;
      block.Load(x + j, n);
      block.AddProduct(j, {x, n, 1}, packed, x);
      packed += j * kColumns;
      block.Store(x + j, n);
      block = {};
      block.AddProduct(kColumns, {x + j, n, 1}, packed, x);
      packed += kColumns * kColumns;
      block.Store(x + j, n);
    }
  }

  static void SolveLeft(int64_t k, const Strided& l, const double* inverse,
                        double* x) {
    double* const rows = x + k * kColumns;
    Block block = {};
    block.AddProduct(k, l, x, x);
    block.SubtractFrom(rows, kColumns);
    block.Store(rows, kColumns);
    block = {};
    block.AddProduct(kRows, {inverse, 1, kRows}, rows, rows);
    block.Store(rows, kColumns);
  }

  static constexpr MicroKernels kTable = {.rows = kRows,
                                          .columns = kColumns,
                                          .multiply = Multiply,
                                          .pack = Pack,
                                          .pack_left = PackLeft,
                                          .solve_right = SolveRight,
                                          .solve_left = SolveLeft,
                                          .reflect = Strips::Reflect,
                                          .eliminate = Strips::Eliminate};
};

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_MICRO_KERNELS_IMPL_H_
