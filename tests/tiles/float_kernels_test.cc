// Aim: a tile kernel over floats is the one over doubles, rounded; what does
// not fit into a float is an error that names it. Method: each kernel on tiles
// of both types, and the failing inputs one by one.
#include "apps/tiles/float_kernels.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "apps/tiles/blas_kernels.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/graph/float_kernel.h"

namespace dogged {
namespace {

using testing::HasSubstr;

constexpr int64_t kN = 24;

Value Tile(int64_t rows, int64_t columns, const std::vector<float>& elements) {
  Value out = Value::Allocate(ElementType::kFloat, {rows, columns});
  std::copy(elements.begin(), elements.end(),
            out.mutable_span<float>().begin());
  return out;
}

Value Floats(const Value& wide) {
  Value out = Value::Allocate(ElementType::kFloat, wide.shape());
  for (int64_t i = 0; i < wide.element_count(); ++i) {
    const auto at = static_cast<size_t>(i);
    out.mutable_span<float>()[at] = static_cast<float>(wide.span<double>()[at]);
  }
  return out;
}

class FloatKernelsTest : public testing::Test {
 protected:
  FloatKernelsTest() {
    EXPECT_TRUE(SetUpBlas().ok());
    AddBlasKernels(registry_);
  }
  absl::StatusOr<std::vector<Value>> Run(const std::string& name,
                                         std::vector<Value> in,
                                         std::vector<double> scalars = {}) {
    const NativeKernel* const kernel = registry_.Find(name);
    std::vector<Value> out(static_cast<size_t>(kernel->out_count));
    const std::vector<Shape> shapes(out.size(), Shape({kN, kN}));
    const std::vector<std::string> names = {"a", "r"};
    NativeCall call{.in = absl::MakeSpan(in),
                    .out = absl::MakeSpan(out),
                    .scalars = scalars,
                    .out_shapes = shapes,
                    .names = in.size() == 1 ? absl::MakeConstSpan(names)
                                            : absl::Span<const std::string>()};
    const absl::Status status = kernel->run(call);
    if (!status.ok()) return status;
    return out;
  }
  std::string Error(const std::string& name, std::vector<Value> in,
                    std::vector<double> scalars = {}) {
    const absl::Status status =
        Run(name, std::move(in), std::move(scalars)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  }
  KernelRegistry registry_;
};

TEST_F(FloatKernelsTest, AreThoseOverDoublesRounded) {
  Rng rng(7);
  Value exchanges = Value::Allocate(ElementType::kInt64, {kN});
  for (int64_t q = 0; q < kN; ++q) {
    exchanges.mutable_span<int64_t>()[q] = kN - 1;
  }
  for (const std::string& name : registry_.Names()) {
    SCOPED_TRACE(name);
    const NativeKernel& kernel = *registry_.Find(name);
    const NativeKernel* const variant = registry_.Find(FloatVariantOf(name));
    ASSERT_NE(variant, nullptr);
    EXPECT_EQ(variant->numeric_class, kernel.numeric_class);
    EXPECT_EQ(variant->updates, kernel.updates);
    std::vector<Value> floats;
    std::vector<Value> doubles;
    for (int i = 0; i < kernel.in_count; ++i) {
      if (kernel.elements[i] == ElementType::kInt64) {
        floats.push_back(exchanges);
        doubles.push_back(exchanges);
        continue;
      }
      Value tile = Value::Allocate(ElementType::kFloat, {kN, kN});
      for (float& x : tile.mutable_span<float>()) {
        x = static_cast<float>(rng.Unit() - 0.5);
      }
      for (size_t d = 0; d < kN; ++d)
        tile.mutable_span<float>()[d * kN + d] = 9;
      doubles.push_back(Widened(tile));
      floats.push_back(std::move(tile));
    }
    std::vector<double> scalars(static_cast<size_t>(kernel.scalar_count), 0);
    if (name == "spd") scalars = {3, 0, 99};
    const auto expected = Run(name, std::move(doubles), scalars);
    const auto found = Run(variant->name, std::move(floats), scalars);
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(found.ok()) << found.status();
    for (size_t o = 0; o < found->size(); ++o) {
      const Value& wide = (*expected)[o];
      const bool is_real = wide.type() == ElementType::kDouble;
      EXPECT_EQ((*found)[o].view(),
                is_real ? Floats(wide).view() : wide.view());
    }
  }
}

TEST_F(FloatKernelsTest, NamesHaveNoVariants) {
  for (const std::string& name : registry_.Names()) {
    EXPECT_FALSE(IsFloatVariant(name)) << name;
    EXPECT_EQ(WrittenName(FloatVariantOf(name)), name);
  }
}

TEST_F(FloatKernelsTest, UpdateInPlaceOnlyWhatNobodyElseHolds) {
  const Value a = Tile(2, 2, {1, 2, 3, 4});
  Value held = Tile(2, 2, {5, 6, 7, 8});
  const Value copy = Run("syrk:float", {held, a}).value()[0];
  EXPECT_EQ(held.span<float>()[0], 5);
  EXPECT_EQ(copy.span<float>()[0], 0);
  const void* const place = held.data();
  std::vector<Value> in;
  in.push_back(std::move(held));
  in.push_back(a);
  EXPECT_EQ(Run("syrk:float", std::move(in)).value()[0].data(), place);
}

TEST_F(FloatKernelsTest, NameTheElementThatIsBeyondAllFloats) {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Value one = Tile(1, 1, {1});
  const Value max = Tile(1, 1, {kMax});
  EXPECT_THAT(
      Error("gemm:float", {Tile(1, 2, {0, -kMax}), max, Tile(2, 1, {1, 0.5})}),
      HasSubstr("element (0, 1) of output 0 of the kernel is larger "
                "than the largest float: scale the matrix"));
  EXPECT_THAT(
      Error("geqrt:float", {Tile(2, 1, {kMax, kMax})}, {0}),
      HasSubstr("element (0, 0) of r is larger than the largest float"));
  // The largest of all is none.
  EXPECT_EQ(Run("gemm:float", {Tile(1, 1, {0}), max, Tile(1, 1, {-1})})
                .value()[0]
                .span<float>()[0],
            kMax);
  // Numbers of one's own that are not finite pass, as they do in doubles.
  const auto passed =
      Run("gemm:float", {Tile(1, 1, {kInfinity}), one, one}).value();
  EXPECT_EQ(passed[0].span<float>()[0], kInfinity);
}

TEST_F(FloatKernelsTest, NameThePivotThatIsLost) {
  constexpr float kLeast = 0x1p-149F;
  // Half of the least float is rounded to 0.
  const Value a = Tile(3, 2, {7, 7, kLeast, kLeast, 2 * kLeast, kLeast});
  EXPECT_THAT(Error("getrf:float", {a}, {1}),
              HasSubstr("pivot 1 of the tile is zero as a float: the matrix is "
                        "singular, or too small to tell: scale it"));
  EXPECT_THAT(Error("potrf:float", {Tile(2, 2, {1, 0, 1, 1})}),
              HasSubstr("pivot 1 of the tile is not positive"));
}

TEST_F(FloatKernelsTest, RefuseOtherTypes) {
  const Value wide = Value::Allocate(ElementType::kDouble, {1, 1});
  EXPECT_THAT(Error("potrf:float", {wide}),
              HasSubstr("a is no matrix of floats"));
  EXPECT_THAT(Error("syrk:float", {Tile(1, 1, {1}), Value()}),
              HasSubstr("argument 1 is no matrix of floats"));
}

}  // namespace
}  // namespace dogged
