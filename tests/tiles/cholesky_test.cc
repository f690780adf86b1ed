// Aim: a tiled Cholesky through LocalRun is right for any size, the same bits
// at any number of workers, and in place.
// Method: residual ||A - LL'|| / (n ||A|| eps) in the maximum norm, digests,
// and a count of live bytes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "apps/dogged_bench/cholesky_program.h"
#include "apps/tiles/blas_kernels.h"
#include "gmock/gmock.h"
#include "runtime/exec/local_run.h"

namespace dogged {
namespace {

struct Factor {
  absl::Status status;
  std::map<Label, Value> tiles;
  int64_t live_bytes_max = 0;
};

Factor FactorOf(std::vector<Value> tiles, int64_t tile_rows, int workers) {
  KernelRegistry kernels;
  AddBlasKernels(kernels);
  const Program program = CholeskyProgram(tile_rows);
  const Relations relations(program);
  const KernelTable table = CholeskyKernels(program, kernels, tiles);
  Factor out;
  LocalRun run(relations, table,
               {.placement = PlaceWorkers(FlatCpuLayout(2), workers),
                .on_result = [&](const Label& label, const Value& value) {
                  out.live_bytes_max =
                      std::max(out.live_bytes_max, Value::LiveBytes());
                  out.tiles.emplace(label, value);
                  return absl::OkStatus();
                }});
  out.status = run.Run();
  return out;
}

std::vector<Value> Tiles(int64_t n, int64_t tile_size) {
  KernelRegistry kernels;
  AddBlasKernels(kernels);
  return GenerateTiles(n, tile_size, kernels);
}

double Residual(const std::map<Label, Value>& factor, int64_t n,
                int64_t tile_size) {
  const auto order = static_cast<size_t>(n);
  std::vector<double> l(order * order, 0);
  for (const auto& [label, tile] : factor) {
    const int64_t row = label.index[0] * tile_size;
    const int64_t column = label.index[1] * tile_size;
    for (int64_t i = 0; i < tile.shape()[0]; ++i) {
      for (int64_t j = 0; j < tile.shape()[1]; ++j) {
        l[(row + i) * n + column + j] =
            tile.span<double>()[i * tile.shape()[1] + j];
      }
    }
  }
  const Value a = Tiles(n, n)[0];
  double worst = 0;
  for (size_t i = 0; i < order; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double rest = a.span<double>()[i * order + j];
      for (size_t k = 0; k <= j; ++k)
        rest -= l[i * order + k] * l[j * order + k];
      worst = std::max(worst, std::abs(rest));
    }
  }
  const auto size = static_cast<double>(n);
  return worst / (size * size * std::numeric_limits<double>::epsilon());
}

TEST(Cholesky, IsRightForAnySizeAndEqualAtAnyWorkerCount) {
  EXPECT_TRUE(SetUpBlas().ok());
  for (const auto& [n, tile_size] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 4}, {3, 4}, {64, 16}, {101, 16}, {130, 64}, {7, 1}}) {
    SCOPED_TRACE(testing::Message() << n << " by " << tile_size);
    const int64_t tile_rows = (n + tile_size - 1) / tile_size;
    const Factor one = FactorOf(Tiles(n, tile_size), tile_rows, 1);
    ASSERT_TRUE(one.status.ok()) << one.status.message();
    EXPECT_LT(Residual(one.tiles, n, tile_size), 1);
    for (const int workers : {2, 5}) {
      const Factor more = FactorOf(Tiles(n, tile_size), tile_rows, workers);
      ASSERT_EQ(more.tiles.size(), one.tiles.size());
      for (const auto& [label, tile] : one.tiles) {
        EXPECT_EQ(tile.digest(), more.tiles.at(label).digest());
      }
    }
  }
}

TEST(Cholesky, UpdatesInPlace) {
  constexpr int64_t kSize = 64;
  std::vector<Value> tiles = Tiles(8 * kSize, kSize);
  const int64_t before = Value::LiveBytes();
  const Factor factor = FactorOf(std::move(tiles), 8, 2);
  ASSERT_TRUE(factor.status.ok());
  EXPECT_LT(factor.live_bytes_max, before + 4 * kSize * kSize * 8);
}

TEST(Cholesky, NamesTileAndPivotOfAnIndefiniteMatrix) {
  std::vector<Value> tiles = Tiles(64, 16);
  Value& tile = tiles[TileOffset(2, 2)];
  tile.mutable_span<double>()[5 * 16 + 5] = -1;
  const Factor factor = FactorOf(std::move(tiles), 4, 2);
  EXPECT_EQ(factor.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(factor.status.message()),
              testing::HasSubstr("task factor(2): pivot 5 "));
}

}  // namespace
}  // namespace dogged
