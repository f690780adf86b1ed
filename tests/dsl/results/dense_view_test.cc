// Aim: the pieces of a result, one behind another, are the result, however
// large they are, and none is larger than it may be: results that are larger
// than memory are written by them. Method: results in tiles, in tiles of nests,
// in points and in blocks, cut into pieces of every size and of random sizes;
// lookups are counted.
#include "dsl/dense_view.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "dsl/nest/lower_nest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

struct Results {
  Program program;
  std::map<Label, Value> values;
};

Results RunOf(const std::string& text, const CompileOptions& options) {
  const Job job = MustCompile(text, options);
  const auto kernels = LoadKernels(job, KernelRegistry(), nullptr);
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  Results out{.program = job.program, .values = {}};
  const auto run = RunSerially(Relations(job.program), *kernels,
                               [&out](const Label& label, const Value& value) {
                                 out.values.emplace(label, value);
                                 return absl::OkStatus();
                               });
  EXPECT_TRUE(run.ok()) << run.status();
  return out;
}

class Lookups {
 public:
  explicit Lookups(const Results& results) : results_(results) {}
  absl::StatusOr<Value> operator()(const Label& label) const {
    ++count_;
    return results_.values.at(label);
  }
  int64_t TakeCount() const { return std::exchange(count_, 0); }

 private:
  const Results& results_;
  mutable int64_t count_ = 0;
};

void ExpectPieces(const DenseView& dense, const Value& whole, int64_t bytes_max,
                  const Lookups& lookup) {
  SCOPED_TRACE(absl::StrCat("pieces of ", bytes_max, " bytes"));
  std::string all;
  const int64_t bytes_least = std::max(bytes_max, ElementBytes(whole.type()));
  const absl::Status status =
      dense.ForEachPiece(bytes_max, lookup, [&](const DensePiece& piece) {
        EXPECT_LE(piece.value.bytes(), bytes_least);
        int64_t at = 0;
        for (int d = 0; d < piece.first.size(); ++d) {
          at = at * dense.shape()[d] + piece.first[d];
        }
        EXPECT_EQ(at * ElementBytes(whole.type()), std::ssize(all));
        absl::StrAppend(&all, piece.value.view());
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(all == whole.view()) << all.size() << " of " << whole.bytes();
}

// Pieces of each view, in sizes that `rng` chooses.
void ExpectPieces(const std::string& text, const CompileOptions& options,
                  Rng& rng) {
  SCOPED_TRACE(text);
  const Results results = RunOf(text, options);
  const Lookups lookup(results);
  for (const ResultView& view : results.program.views) {
    const auto dense = DenseView::Of(results.program, view, lookup);
    ASSERT_TRUE(dense.ok()) << dense.status();
    const auto whole = dense->Assemble(lookup);
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_EQ(dense->bytes(), whole->bytes());
    EXPECT_EQ(dense->shape(), whole->shape());
    ExpectPieces(*dense, *whole, 1, lookup);
    for (int i = 0; i < 6; ++i) {
      ExpectPieces(*dense, *whole, 1 + rng.Below(whole->bytes() + 100), lookup);
    }
  }
}

TEST(DenseView, PiecesOfTilesAreTheWhole) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const RandomStencil stencil(rng.Stream("stencil"));
    CompileOptions options = Options();
    options.shape = ShapeFor(stencil, rng);
    options.coalesce = rng.Chance(0.7);
    ExpectPieces(stencil.Text(), options, rng);
  }
}

constexpr absl::string_view kRecurrence = R"(
task fill
  creates f(x)(y)(z) as n
  for
    x = 0:10
    y = 0:7
    z = 0:8
  using
    f(x-1)(y)(z) as a where x > 0 else 0
    f(x)(y-1)(z+1) as b where y > 0 and z < 8 else 0
    f(x)(y)(z-1) as c where z > 0 else 0
  code
    n = 0.1*x + 0.25*y + z + 0.5*a - 0.25*b + 0.125*c
  end code
end task
result f(x)(y)(z) for x = 0:10  y = 0:7  z = 0:8
result f(x)(3)(z) for x = 2:10:2  z = 1:7:3
)";

TEST(DenseView, PiecesOfTilesOfNestsAreTheWhole) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    CompileOptions options = Options();
    options.lower_nest = LowerNestWithIsl;
    options.nest_widths = {3 + rng.Below(6), 3 + rng.Below(6)};
    EXPECT_THAT(MustCompile(std::string(kRecurrence), options).lowering,
                testing::StartsWith(kLoopNest));
    ExpectPieces(std::string(kRecurrence), options, rng);
  }
}

// A tile is looked up once where pieces may hold whole tiles, and not for
// pieces that have none of it.
TEST(DenseView, PiecesAreOfWholeTiles) {
  CompileOptions options = Options();
  options.parameters = {{"N", "34"}, {"T", "2"}};
  options.shape = TileShape{.widths = {8, 8}, .depth = 2};
  const Results results = RunOf(ReadApp("heat2d/heat2d.dog"), options);
  const Lookups lookup(results);
  const ResultView& view = results.program.views.front();
  const auto dense = DenseView::Of(results.program, view, lookup);
  ASSERT_TRUE(dense.ok()) << dense.status();
  EXPECT_EQ(lookup.TakeCount(), 0);
  const auto whole = dense->Assemble(lookup);
  const int64_t tiles = lookup.TakeCount();
  EXPECT_EQ(tiles, std::ssize(results.values));
  EXPECT_EQ(tiles, 9);
  const int64_t row = 34 * 8;
  ExpectPieces(*dense, *whole, view.extent[0] * row, lookup);
  EXPECT_LE(lookup.TakeCount(), 2 * tiles);
  ExpectPieces(*dense, *whole, row, lookup);
  EXPECT_EQ(lookup.TakeCount(), 34 * 3);
}

}  // namespace
}  // namespace dogged::dsl
