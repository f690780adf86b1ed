// Aim: each tile kernel computes its formula for any shape, in place where it
// may, and says what is wrong with what it can't use.
// Method: against plain loops over random tiles; the failing inputs one by one.
#include "apps/tiles/blas_kernels.h"

#include <cmath>
#include <limits>

#include "apps/tiles/blas.h"
#include "apps/tiles/numeric_class.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

using testing::HasSubstr;
using testing::Not;

Value RandomTile(Rng& rng, int64_t rows, int64_t columns) {
  Value out = Value::Allocate(ElementType::kDouble, {rows, columns});
  for (double& x : out.mutable_span<double>()) x = rng.Unit() - 0.5;
  return out;
}

double At(const Value& tile, int64_t i, int64_t j) {
  return tile.span<double>()[i * tile.shape()[1] + j];
}

class BlasKernelsTest : public testing::Test {
 protected:
  BlasKernelsTest() {
    EXPECT_TRUE(SetUpBlas().ok());
    AddBlasKernels(registry_);
  }
  absl::StatusOr<Value> Run(absl::string_view name, std::vector<Value> in,
                            std::vector<double> scalars = {},
                            std::vector<Shape> shapes = {}) {
    const NativeKernel* kernel = registry_.Find(name);
    EXPECT_EQ(kernel->in_count, static_cast<int>(in.size()));
    Value out;
    NativeCall call{.in = absl::MakeSpan(in),
                    .out = absl::MakeSpan(&out, 1),
                    .scalars = scalars,
                    .out_shapes = shapes};
    const absl::Status status = kernel->run(call);
    if (!status.ok()) return status;
    return out;
  }
  double Flops(absl::string_view name, const std::vector<Shape>& in) {
    return registry_.Find(name)->flops(in, {}, {});
  }
  KernelRegistry registry_;
};

TEST_F(BlasKernelsTest, GemmSubtractsTheProduct) {
  Rng rng(1);
  const Value c = RandomTile(rng, 5, 7);
  const Value a = RandomTile(rng, 5, 3);
  const Value b = RandomTile(rng, 7, 3);
  const Value r = Run("gemm", {c, a, b}).value();
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 7; ++j) {
      double want = At(c, i, j);
      for (int64_t k = 0; k < 3; ++k) want -= At(a, i, k) * At(b, j, k);
      EXPECT_NEAR(At(r, i, j), want, 1e-14);
    }
  }
  EXPECT_EQ(Flops("gemm", {{5, 7}, {5, 3}, {7, 3}}), 2 * 5 * 7 * 3);
}

TEST_F(BlasKernelsTest, SyrkSubtractsTheSquare) {
  Rng rng(2);
  const Value c = RandomTile(rng, 6, 6);
  const Value a = RandomTile(rng, 6, 4);
  const Value r = Run("syrk", {c, a}).value();
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      double want = At(c, i, j);
      for (int64_t k = 0; k < 4 && j <= i; ++k) {
        want -= At(a, i, k) * At(a, j, k);
      }
      EXPECT_NEAR(At(r, i, j), want, 1e-14);
    }
  }
}

TEST_F(BlasKernelsTest, FactorsAndSolves) {
  for (const int64_t n : {1, 2, 33, 200}) {
    const double order = static_cast<double>(n);
    const Value a = Run("spd", {}, {0, 0, order}, {{n, n}}).value();
    const Value l = Run("potrf", {a}).value();
    Rng rng(3);
    const Value b = RandomTile(rng, 4, n);
    const Value x = Run("trsm", {l, b}).value();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double product = 0;
        for (int64_t k = 0; k < n; ++k) product += At(l, i, k) * At(l, j, k);
        EXPECT_NEAR(product, At(a, i, j), 1e-12 * order);
        if (j > i) {
          EXPECT_EQ(At(l, i, j), 0);
        }
      }
      for (int64_t row = 0; row < 4; ++row) {
        double product = 0;
        for (int64_t k = 0; k <= i; ++k) product += At(x, row, k) * At(l, i, k);
        EXPECT_NEAR(product, At(b, row, i), 1e-13);
      }
    }
  }
}

TEST_F(BlasKernelsTest, GeneratesOneMatrixUnderAnyTiling) {
  constexpr int64_t kN = 50;
  const Value whole = Run("spd", {}, {0, 0, kN}, {{kN, kN}}).value();
  const Value part = Run("spd", {}, {30, 10, kN}, {{20, 15}}).value();
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 15; ++j) {
      EXPECT_EQ(At(part, i, j), At(whole, 30 + i, 10 + j));
      EXPECT_EQ(At(part, i, j), At(whole, 10 + j, 30 + i));
    }
  }
}

TEST_F(BlasKernelsTest, UpdatesInPlaceOnlyWhatNobodyElseHolds) {
  Rng rng(4);
  Value held = RandomTile(rng, 8, 8);
  const Value a = RandomTile(rng, 8, 8);
  const double before = At(held, 0, 0);
  const Value copy = Run("syrk", {held, a}).value();
  EXPECT_EQ(At(held, 0, 0), before);
  EXPECT_NE(copy.data(), held.data());
  const void* const place = held.data();
  std::vector<Value> in;
  in.push_back(std::move(held));
  in.push_back(a);
  EXPECT_EQ(Run("syrk", std::move(in)).value().data(), place);
}

TEST_F(BlasKernelsTest, NamesThePivotThatIsNotPositive) {
  for (const double bad :
       {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    for (const int64_t pivot : {0, 17, 99}) {
      Value a = Value::Allocate(ElementType::kDouble, {100, 100});
      for (int64_t i = 0; i < 100; ++i) {
        for (int64_t j = 0; j < 100; ++j) {
          a.mutable_span<double>()[i * 100 + j] =
              i != j ? 0 : (i == pivot ? bad : 1);
        }
      }
      const absl::Status status = Run("potrf", {a}).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat("pivot ", pivot, " of the tile is")));
      EXPECT_THAT(
          std::string(Run("potrf", {a}, {384}).status().message()),
          HasSubstr(absl::StrCat("pivot ", pivot, " of the tile (column ",
                                 384 + pivot, ") is not")));
    }
  }
}

TEST_F(BlasKernelsTest, RefusesShapesThatDoNotFit) {
  Rng rng(5);
  const Value square = RandomTile(rng, 4, 4);
  const Value wide = RandomTile(rng, 4, 5);
  EXPECT_THAT(std::string(Run("potrf", {wide}).status().message()),
              HasSubstr("a is 4 x 5 instead of 4 x 4"));
  EXPECT_THAT(std::string(Run("trsm", {square, wide}).status().message()),
              HasSubstr("l is 4 x 4 instead of 5 x 5"));
  EXPECT_FALSE(Run("syrk", {wide, square}).ok());
  EXPECT_FALSE(Run("gemm", {square, wide, square}).ok());
  EXPECT_FALSE(Run("gemm", {square, Value::Scalar(1), square}).ok());
  EXPECT_FALSE(Run("gemm", {square, Value(), square}).ok());
}

TEST_F(BlasKernelsTest, EliminatesByAFactorsRowsFromItsDiagonalAlike) {
  Rng rng(9);
  constexpr int64_t kRows = 12, kFirst = 4, kColumns = 3;
  const Value c = RandomTile(rng, kRows, 5);
  const Value f = RandomTile(rng, kRows, kColumns);
  Value p = Value::Allocate(ElementType::kInt64, {kColumns});
  for (int64_t q = 0; q < kColumns; ++q) {
    p.mutable_span<int64_t>()[q] = kFirst + 2 * q;
  }
  p.Seal();
  const Value d = Run("rows_from", {f}, {kFirst}).value();
  EXPECT_EQ(d.shape(), Shape({kRows - kFirst, kColumns}));
  const Value whole = Run("eliminate", {c, f, p}, {kFirst}).value();
  const Value part = Run("eliminate", {c, d, p}, {kFirst}).value();
  EXPECT_EQ(whole.view(), part.view());
  EXPECT_NE(whole.view(), c.view());

  EXPECT_THAT(std::string(Run("eliminate", {c, RandomTile(rng, 7, kColumns), p},
                              {kFirst})
                              .status()
                              .message()),
              HasSubstr("f has 7 rows, neither 12 nor the 8 from row 4 on"));
  for (const double row : {-1.0, 12.0}) {
    EXPECT_THAT(std::string(Run("rows_from", {f}, {row}).status().message()),
                HasSubstr(absl::StrCat("f has 12 rows, none from row ", row)));
  }
}

TEST(NumericClass, NamesLibrariesAndProcessor) {
  ASSERT_TRUE(SetUpBlas().ok());
  const NumericParts parts = NumericPartsHere();
  EXPECT_THAT(parts.host, HasSubstr("OpenBLAS"));
  EXPECT_THAT(parts.host, HasSubstr("glibc 2."));
  EXPECT_TRUE(MeetsNumericClass(parts.host, parts.all_jobs));
  EXPECT_TRUE(MeetsNumericClass(parts.host, parts.mathematics));
  EXPECT_FALSE(MeetsNumericClass(parts.mathematics, parts.host));
  RecordProperty("numeric_class", parts.host);
  KernelRegistry registry;
  AddBlasKernels(registry);
  for (const std::string& name : registry.Names()) {
    const std::string& needs = registry.Find(name)->numeric_class;
    EXPECT_TRUE(MeetsNumericClass(parts.host, needs)) << name << needs;
    // The widest vectors have products of our own.
    if (blas::OwnProductsAreFaster()) {
      EXPECT_THAT(needs, Not(HasSubstr("OpenBLAS"))) << name;
    } else if (name == "gemm" || name == "eliminate") {
      EXPECT_THAT(needs, HasSubstr("OpenBLAS")) << name;
    }
  }
}

}  // namespace
}  // namespace dogged
