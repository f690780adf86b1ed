// Aim: the residual tells a sound Cholesky factor from a spoilt one, for any
// tiling, and other programs are not taken for a Cholesky.
// Method: factor in this process, then spoil single elements and whole tiles;
// a small case against the definition, written as plain loops.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/cholesky/verify.h"
#include "apps/dogged_bench/cholesky_program.h"
#include "apps/tiles/blas_kernels.h"
#include "gmock/gmock.h"
#include "runtime/exec/local_run.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

class GiveCopies : public Kernel {
 public:
  explicit GiveCopies(const std::vector<Value>& tiles) : tiles_(tiles) {}
  absl::Status Run(KernelCall& call) const override {
    const IndexVector& index = call.task.index;
    Value tile = tiles_[TileOffset(index[0], index[1])];
    call.outputs[0] = TakeOrCopy(tile);
    return absl::OkStatus();
  }

 private:
  const std::vector<Value>& tiles_;
};

// A factored matrix of `n` rows in tiles of `tile_rows`.
class Factored {
 public:
  Factored(int64_t n, int64_t tile_rows) : n_(n), tile_rows_(tile_rows) {
    EXPECT_TRUE(SetUpBlas().ok());
    AddBlasKernels(registry_);
    job_.program = CholeskyProgram((n + tile_rows - 1) / tile_rows);
    tiles_ = GenerateTiles(n, tile_rows, registry_);
    kernels_ = CholeskyKernels(job_.program, registry_, tiles_);
    const Relations relations(job_.program);
    LocalRun run(relations, kernels_,
                 {.placement = PlaceWorkers(FlatCpuLayout(1), 1),
                  .on_result = [&](const Label& label, const Value& value) {
                    factor_[label.index] = value;
                    return absl::OkStatus();
                  }});
    DOGGED_CHECK(run.Run().ok());
  }

  // A copy of tile L(i)(j) to write to, which takes its place.
  absl::Span<double> Spoil(int64_t i, int64_t j) {
    Value& tile = factor_.at({i, j});
    Value copy = Value::Allocate(tile.type(), tile.shape());
    std::memcpy(copy.mutable_data(), tile.data(),
                static_cast<size_t>(tile.bytes()));
    tile = copy;
    return copy.mutable_span<double>();
  }

  absl::StatusOr<double> Residual() {
    const absl::StatusOr<Verdict> verdict = Judge();
    if (!verdict.ok()) return verdict.status();
    return verdict->residual;
  }

  absl::StatusOr<Verdict> Judge(int threads = 2) {
    // The tasks of the input took their tiles away: these give copies.
    tiles_ = GenerateTiles(n_, tile_rows_, registry_);
    KernelTable kernels = CholeskyKernels(job_.program, registry_, tiles_);
    for (size_t k = 0; k < kernels.size(); ++k) {
      if (job_.program.kernels[k].kind == "native") continue;
      kernels[k] = std::make_unique<GiveCopies>(tiles_);
    }
    return VerifyCholesky(
        job_, kernels,
        [&](const Label& label) -> absl::StatusOr<Value> {
          const auto found = factor_.find(label.index);
          if (found == factor_.end()) return absl::NotFoundError("no tile");
          return found->second;
        },
        threads);
  }

  // The same from the definition, element by element.
  double SlowResidual() const {
    const Value a = GenerateTiles(n_, n_, registry_)[0];
    double rest_sum = 0;
    double a_sum = 0;
    for (int64_t r = 0; r < n_; ++r) {
      for (int64_t c = 0; c < n_; ++c) {
        const double element =
            a.span<double>()[std::max(r, c) * n_ + std::min(r, c)];
        double rest = element;
        for (int64_t k = 0; k < n_; ++k) rest -= L(r, k) * L(c, k);
        rest_sum += rest * rest;
        a_sum += element * element;
      }
    }
    return std::sqrt(rest_sum / a_sum) /
           (static_cast<double>(n_) * std::numeric_limits<double>::epsilon());
  }

  const Program& program() const { return job_.program; }
  std::map<IndexVector, Value>& factor() { return factor_; }

 private:
  double L(int64_t r, int64_t c) const {
    const auto found = factor_.find({r / tile_rows_, c / tile_rows_});
    if (found == factor_.end()) return 0;
    const int64_t columns = found->second.shape()[1];
    return found->second
        .span<double>()[r % tile_rows_ * columns + c % tile_rows_];
  }

  const int64_t n_;
  const int64_t tile_rows_;
  KernelRegistry registry_;
  Job job_;
  std::vector<Value> tiles_;
  KernelTable kernels_;
  std::map<IndexVector, Value> factor_;
};

TEST(CholeskyVerify, AcceptsSoundFactorsOfAnySize) {
  for (const auto& [n, tile_rows] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 4}, {3, 4}, {64, 16}, {101, 16}, {130, 64}, {7, 1}}) {
    SCOPED_TRACE(testing::Message() << n << " by " << tile_rows);
    Factored factored(n, tile_rows);
    EXPECT_TRUE(IsCholesky(factored.program()));
    const absl::StatusOr<double> residual = factored.Residual();
    ASSERT_TRUE(residual.ok()) << residual.status().message();
    EXPECT_LT(*residual, 1);
    EXPECT_GE(*residual, 0);
    const Verdict verdict = factored.Judge().value();
    EXPECT_LT(verdict.solve_error, 1);
    for (const int threads : {1, 3}) {
      const Verdict other = factored.Judge(threads).value();
      EXPECT_EQ(other.residual, verdict.residual) << threads << " threads";
      EXPECT_EQ(other.solve_error, verdict.solve_error);
    }
  }
}

TEST(CholeskyVerify, IsTheDefinitionOnASpoiltFactor) {
  for (const int64_t tile_rows : {37, 8, 5}) {
    Factored factored(37, tile_rows);
    const int64_t last = (37 + tile_rows - 1) / tile_rows - 1;
    factored.Spoil(last, 0)[1] += 0.25;
    const double expected = factored.SlowResidual();
    EXPECT_GT(expected, 1e6);
    EXPECT_NEAR(*factored.Residual(), expected, expected * 1e-9);
  }
}

TEST(CholeskyVerify, RejectsOneWrongElementAnywhere) {
  for (const auto& [i, j, at] :
       std::vector<std::tuple<int64_t, int64_t, size_t>>{
           {0, 0, 0},     // the first of all
           {2, 1, 7},     // inside
           {3, 3, 3},     // the last of all, of a ragged tile
           {1, 1, 6},     // right above the diagonal, which must be zero
           {3, 3, 1}}) {  // the same in the last tile
    SCOPED_TRACE(testing::Message() << "L(" << i << ")(" << j << ") " << at);
    Factored factored(14, 4);
    ASSERT_LT(*factored.Residual(), 1);
    factored.Spoil(i, j)[at] += 1e-6;
    EXPECT_GT(*factored.Residual(), 100);
  }
}

TEST(CholeskyVerify, RejectsSwappedTilesAndNaN) {
  Factored swapped(64, 16);
  std::swap(swapped.factor().at({2, 0}), swapped.factor().at({2, 1}));
  EXPECT_GT(*swapped.Residual(), 1e6);
  Factored spoilt(64, 16);
  spoilt.Spoil(3, 2)[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(*spoilt.Residual()));
}

TEST(CholeskyVerify, NamesATileThatIsMissingOrDoesNotFit) {
  Factored factored(14, 4);
  factored.factor().at({3, 1}) = factored.factor().at({2, 1});
  EXPECT_EQ(factored.Residual().status(),
            absl::InvalidArgumentError(
                "L(3)(1) is no 2 x 4 matrix of doubles or floats"));
  factored.factor().erase({3, 1});
  EXPECT_EQ(factored.Residual().status(), absl::NotFoundError("no tile"));
}

TEST(CholeskyVerify, TakesNoOtherProgramForACholesky) {
  EXPECT_FALSE(IsCholesky(Wavefront(4)));
  EXPECT_FALSE(IsCholesky(Stencil(8, 3, 3, 7)));
  EXPECT_TRUE(IsCholesky(CholeskyProgram(3)));
  Program twice = CholeskyProgram(3);
  twice.results.push_back(twice.results[0]);
  EXPECT_TRUE(IsCholesky(twice));
  Program renamed = CholeskyProgram(3);
  renamed.arrays[1].name = "U";
  EXPECT_TRUE(IsCholesky(renamed));
  // Arrays of these names, made by other kernels.
  for (KernelSpec& kernel : renamed.kernels) kernel.kind = "code";
  EXPECT_FALSE(IsCholesky(renamed));
  // The same tasks, of which one takes what another step has made.
  Program other = CholeskyProgram(3);
  other.classes[4].uses[2].map = other.classes[4].uses[1].map;
  EXPECT_FALSE(IsCholesky(other));
  // Asking for fewer tiles leaves nothing to judge.
  Program fewer = CholeskyProgram(3);
  fewer.results[0].domain = Domain::Box({{"i", 0, 2}, {"j", 0, 0}});
  EXPECT_FALSE(IsCholesky(fewer));
  Job job;
  job.program = fewer;
  const KernelTable none;
  EXPECT_EQ(VerifyCholesky(
                job, none,
                [](const Label&) -> absl::StatusOr<Value> {
                  return absl::NotFoundError("");
                },
                /*threads=*/1)
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace dogged
