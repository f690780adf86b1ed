// Aim: products are right at every extent around the borders of blocks and of
// packed parts, with either factor transposed, added or not, with zeros that
// are left out, and in a lower triangle; nothing else is written. An element
// has the same bits wherever it stands in a matrix.
// Method: against plain loops over whole numbers, whose sums are exact, with
// the micro-kernels of each width that this processor can run.
#include "apps/tiles/product.h"

#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "tests/tiles/all_kernels.h"

namespace dogged {
namespace {

class Product : public testing::TestWithParam<const MicroKernels*> {};

INSTANTIATE_TEST_SUITE_P(Widths, Product, testing::ValuesIn(AllKernels()),
                         NameOfKernels);

constexpr int64_t kMargin = 3;  // of each row, which nobody may write to

std::vector<double> Whole(Rng& rng, int64_t rows, int64_t columns) {
  std::vector<double> out(
      static_cast<size_t>(rows * (columns + kMargin) + kMargin));
  for (double& x : out) x = static_cast<double>(rng.Below(15)) - 7;
  return out;
}

// rows x columns; if `is_transposed`, of what lies columns x rows in memory.
Strided View(const std::vector<double>& content, int64_t rows, int64_t columns,
             bool is_transposed) {
  return is_transposed ? Strided{content.data(), 1, rows + kMargin}
                       : Strided{content.data(), columns + kMargin, 1};
}

struct Case {
  bool transposes_a = false;
  bool transposes_b = false;
  bool adds = true;
  bool is_lower = false;
  blas::Zeros zeros = blas::Zeros::kNowhere;
};

void ExpectRight(const blas::Extents& extents, const Case& one,
                 const MicroKernels& kernels) {
  const int64_t m = extents.m;
  const int64_t n = extents.n;
  const int64_t k = extents.k;
  SCOPED_TRACE(testing::Message()
               << m << " x " << n << " x " << k << " transposed "
               << one.transposes_a << one.transposes_b << " adds " << one.adds
               << " lower " << one.is_lower << " zeros "
               << static_cast<int>(one.zeros));
  Rng rng(static_cast<uint64_t>(m * 1000003 + n * 1009 + k));
  std::vector<double> in_a =
      one.transposes_a ? Whole(rng, k, m) : Whole(rng, m, k);
  const std::vector<double> in_b =
      one.transposes_b ? Whole(rng, n, k) : Whole(rng, k, n);
  const std::vector<double> before = Whole(rng, m, n);
  const Strided a = View(in_a, m, k, one.transposes_a);
  const Strided b = View(in_b, k, n, one.transposes_b);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t q = 0; q < k; ++q) {
      if ((one.zeros == blas::Zeros::kAboveDiagonal && q > i) ||
          (one.zeros == blas::Zeros::kBelowDiagonal && q < i)) {
        in_a[&a.data[i * a.row_step + q * a.column_step] - in_a.data()] = 0;
      }
    }
  }
  std::vector<double> c = before;
  Multiply({m, n, k, one.zeros},
           {.factor = -2,
            .a = a,
            .b = b,
            .adds = one.adds,
            .is_lower = one.is_lower},
           {c.data(), n + kMargin}, kernels);
  std::vector<double> want = before;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (one.is_lower && j > i) continue;
      double& element = want[i * (n + kMargin) + j];
      if (!one.adds) element = 0;
      for (int64_t q = 0; q < k; ++q) element -= 2 * a(i, q) * b(q, j);
    }
  }
  ASSERT_EQ(c, want);
}

TEST_P(Product, IsRightAroundTheBordersOfBlocks) {
  for (const int64_t m : {0, 1, 6, 11, 12, 13, 25}) {
    for (const int64_t n : {1, 8, 15, 16, 17, 49}) {
      for (const int64_t k : {0, 1, 7, 8, 9, 40}) {
        for (const bool transposes_a : {false, true}) {
          for (const bool transposes_b : {false, true}) {
            for (const bool adds : {false, true}) {
              ASSERT_NO_FATAL_FAILURE(ExpectRight(
                  {m, n, k}, {transposes_a, transposes_b, adds}, *GetParam()));
            }
          }
        }
      }
    }
  }
}

TEST_P(Product, IsRightAroundTheBordersOfParts) {
  for (const blas::Extents& extents : std::vector<blas::Extents>{
           {30, 20, 320}, {30, 20, 321}, {14, 321, 30}, {25, 645, 700}}) {
    for (const bool is_swapped : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(
          ExpectRight(extents, {is_swapped, !is_swapped, false}, *GetParam()));
      ASSERT_NO_FATAL_FAILURE(
          ExpectRight(extents, {is_swapped, is_swapped}, *GetParam()));
    }
  }
}

TEST_P(Product, WritesTheLowerTriangleAlone) {
  for (const int64_t n : {1, 5, 12, 16, 17, 31, 48, 97, 330}) {
    for (const bool adds : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(
          ExpectRight({n, n, 9}, {false, true, adds, true}, *GetParam()));
    }
  }
}

TEST_P(Product, LeavesOutZeros) {
  for (const auto zeros :
       {blas::Zeros::kAboveDiagonal, blas::Zeros::kBelowDiagonal}) {
    for (const int64_t k : {1, 11, 12, 13, 64, 100, 330, 650}) {
      for (const bool transposes_a : {false, true}) {
        for (const bool adds : {false, true}) {
          ASSERT_NO_FATAL_FAILURE(
              ExpectRight({k, 20, k}, {transposes_a, false, adds, false, zeros},
                          *GetParam()));
        }
      }
    }
  }
}

TEST_P(Product, HasOneResultForAnElementAtAnyPlace) {
  Rng rng(5);
  std::vector<double> a(40 * 50);
  std::vector<double> b(50 * 40);
  for (double& x : a) x = rng.Unit() - 0.5;
  for (double& x : b) x = rng.Unit() - 0.5;
  std::vector<double> all(40 * 40);
  Multiply({40, 40, 50}, {.a = {a.data(), 50, 1}, .b = {b.data(), 40, 1}},
           {all.data(), 40}, *GetParam());
  for (const int64_t i : {0, 11, 39}) {
    for (const int64_t j : {0, 15, 16, 39}) {
      double one = 0;
      Multiply({1, 1, 50},
               {.a = {a.data() + i * 50, 50, 1}, .b = {b.data() + j, 40, 1}},
               {&one, 1}, *GetParam());
      EXPECT_EQ(one, all[i * 40 + j]) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace dogged
