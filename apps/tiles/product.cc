#include "apps/tiles/product.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "apps/tiles/workspace.h"
#include "runtime/base/division.h"

namespace dogged {
namespace {

// The packed part of b, and the rows of a that meet it, stay in the second
// level of cache: of 1 MB where vectors are wide.
constexpr int64_t kDepthMax = 320;
constexpr int64_t kWidthMax = 320;
// Bound of the elements of a block, rows * columns, of any MicroKernels.
constexpr int64_t kBlockMax = 256;

// `n` in as many equal parts as it takes for none to exceed `max`.
int64_t PartOf(int64_t n, int64_t max, int64_t step) {
  const int64_t parts = CeilDiv(n, max);
  return RoundUp(CeilDiv(n, parts), step);
}

// Rows of a factor that are packed at a time: read in the order in which they
// lie, they come from memory at its full speed.
constexpr int64_t kRowsAtOnce = 4;

// Operands of a part of a product: k rows of b from `first` on, packed; the
// columns of a that meet them, where they lie or packed too.
struct Packed {
  Strided a;
  bool is_a_packed = false;
  const double* b = nullptr;
  int64_t first = 0;
};

// A part of a product: c is m x n.
class Part {
 public:
  Part(const blas::Extents& extents, const Packed& packed, bool adds,
       const MicroKernels& kernels)
      : extents_(extents), packed_(packed), adds_(adds), kernels_(kernels) {}

  // Element (i, j) of c is written if j <= i + reach. `panel` has room for as
  // many rows of a as a block has.
  void Run(int64_t reach, double* panel, blas::Matrix c) const {
    for (int64_t i = 0; i < extents_.m; i += kernels_.rows) {
      const int64_t rows = std::min(kernels_.rows, extents_.m - i);
      const int64_t end = std::min(extents_.n, i + rows + reach);
      const Sum sum = SumOf(i, rows, panel);
      if (sum.k <= 0) continue;
      int64_t block = 0;
      for (int64_t j = 0; j < end; j += kernels_.columns, ++block) {
        const int64_t columns = std::min(kernels_.columns, extents_.n - j);
        const bool is_whole = rows == kernels_.rows &&
                              columns == kernels_.columns &&
                              j + columns <= i + 1 + reach;
        if (is_whole) {
          kernels_.multiply(sum.k, sum.a, sum.b + j * extents_.k,
                            Ahead(i, block), {&c(i, j), c.stride, sum.adds});
        } else {
          Fringe(sum, j, {rows, columns, i + reach - j}, c.At(i, j));
        }
      }
    }
  }

 private:
  struct Extent {
    int64_t rows;
    int64_t columns;
    int64_t reach;
  };
  // A sum for some rows of c: a * b, over k.
  struct Sum {
    int64_t k = 0;
    Strided a;
    const double* b = nullptr;  // of the first columns
    bool adds = true;
  };

  // The sum for `rows` rows from `i` on: a as it lies, or copied so that
  // elements of one step of the micro-kernel lie together.
  Sum SumOf(int64_t i, int64_t rows, double* panel) const {
    int64_t begin = 0;
    int64_t end = extents_.k;
    int64_t first = 0;  // of all that these rows sum
    if (extents_.zeros == blas::Zeros::kBelowDiagonal) {
      first = i;
      begin = std::max<int64_t>(0, i - packed_.first);
    } else if (extents_.zeros == blas::Zeros::kAboveDiagonal) {
      end = std::min(end, i + rows - packed_.first);
    }
    Sum out{.k = end - begin,
            .b = packed_.b + begin * kernels_.columns,
            .adds = adds_ || packed_.first + begin > first};
    if (out.k <= 0) return out;
    if (packed_.is_a_packed) {
      out.a = {packed_.a.data + i * extents_.k + begin * kernels_.rows, 1,
               kernels_.rows};
      return out;
    }
    out.a = packed_.a.At(i, begin);
    if (rows == kernels_.rows) return out;
    for (int64_t q = 0; q < out.k; ++q) {
      double* const to = panel + q * kernels_.rows;
      for (int64_t r = 0; r < rows; ++r) to[r] = out.a(r, q);
      std::fill(to + rows, to + kernels_.rows, 0.0);
    }
    out.a = {panel, 1, kernels_.rows};
    return out;
  }

  // Elements to fetch while block number `block` of the rows from i on is
  // computed: a row of the next rows of a with each of their first blocks. The
  // processor fetches rows by itself only once they are read, too late for
  // short ones.
  const double* Ahead(int64_t i, int64_t block) const {
    const int64_t row = i + kernels_.rows + block;
    const bool has_one =
        !packed_.is_a_packed && block < kernels_.rows && row < extents_.m;
    return has_one ? packed_.a.At(row, 0).data : packed_.b;
  }

  // A block that is not written as a whole.
  void Fringe(const Sum& sum, int64_t j, const Extent& extent,
              blas::Matrix c) const {
    std::array<double, kBlockMax> block;
    const double* const b = sum.b + j * extents_.k;
    kernels_.multiply(sum.k, sum.a, b, b,
                      {block.data(), kernels_.columns, false});
    for (int64_t r = 0; r < extent.rows; ++r) {
      const double* const from =
          block.data() + static_cast<ptrdiff_t>(r * kernels_.columns);
      double* const to = c.row(r);
      const int64_t columns = std::min(extent.columns, r + extent.reach + 1);
      for (int64_t q = 0; q < columns; ++q) {
        to[q] = sum.adds ? to[q] + from[q] : from[q];
      }
    }
  }

  const blas::Extents extents_;
  const Packed packed_;
  const bool adds_;
  const MicroKernels& kernels_;
};

// Packs b, k x n, for MicroKernels.
void PackRight(const blas::Extents& extents, double factor, const Strided& b,
               const MicroKernels& kernels, double* out) {
  const auto [m, n, k, zeros] = extents;
  const int64_t step = b.column_step == 1 ? kRowsAtOnce : k;
  for (int64_t q = 0; q < k; q += step) {
    for (int64_t j = 0; j < n; j += kernels.columns) {
      kernels.pack(std::min(step, k - q), std::min(kernels.columns, n - j),
                   factor, b.At(q, j), out + j * k + q * kernels.columns);
    }
  }
}

// Packs a, m x k, which lies transposed in memory: as many rows as a block has,
// then the next.
void PackLeft(const blas::Extents& extents, const Strided& a,
              const MicroKernels& kernels, double* out) {
  const auto [m, n, k, zeros] = extents;
  for (int64_t q = 0; q < k; q += kRowsAtOnce) {
    for (int64_t i = 0; i < m; i += kernels.rows) {
      kernels.pack_left(std::min(kRowsAtOnce, k - q),
                        std::min(kernels.rows, m - i), a.At(i, q),
                        out + i * k + q * kernels.rows);
    }
  }
}

}  // namespace

void Multiply(const blas::Extents& extents, const ProductTerms& terms,
              blas::Matrix c, const MicroKernels& kernels) {
  const auto [m, n, k, zeros] = extents;
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    for (int64_t i = 0; i < m && !terms.adds; ++i) {
      std::fill_n(c.row(i), terms.is_lower ? std::min(i + 1, n) : n, 0.0);
    }
    return;
  }
  const int64_t depth = PartOf(k, kDepthMax, 8);
  const int64_t width = PartOf(n, kWidthMax, kernels.columns);
  const bool packs_a = terms.a.column_step != 1;
  const int64_t a_rows = packs_a ? RoundUp(m, kernels.rows) : kernels.rows;
  thread_local Workspace workspace;
  double* const packed_b = workspace.Room(depth * (width + a_rows));
  double* const packed_a = packed_b + depth * width;
  for (int64_t column = 0; column < n; column += width) {
    for (int64_t first = 0; first < k; first += depth) {
      const blas::Extents part{m, std::min(width, n - column),
                               std::min(depth, k - first), zeros};
      PackRight(part, terms.factor, terms.b.At(first, column), kernels,
                packed_b);
      Packed packed{terms.a.At(0, first), packs_a, packed_b, first};
      if (packs_a) {
        PackLeft(part, packed.a, kernels, packed_a);
        packed.a.data = packed_a;
      }
      Part(part, packed, terms.adds, kernels)
          .Run(terms.is_lower ? -column : n, packed_a, c.At(0, column));
    }
  }
}

}  // namespace dogged
