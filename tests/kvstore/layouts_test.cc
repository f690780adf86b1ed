// Aim: a layout sends as little between hosts as the ones that textbooks name,
// gives each host its share all along, and fits any number of hosts. Method:
// traffic of known programs, against their volumes by formula.
#include "kvstore/placement/layouts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "gmock/gmock.h"

namespace dogged {
namespace {

// Tiled Cholesky of n x n tiles: tile (i)(k) goes to row i right of column k,
// and to column i.
KeyTraffic CholeskyTraffic(int64_t n) {
  KeyTraffic out;
  std::map<std::pair<int64_t, int64_t>, int32_t> position;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      position[{i, j}] = static_cast<int32_t>(out.keys.size());
      out.keys.push_back(
          {.key = static_cast<uint64_t>(i * n + j), .block = {i, j}});
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    std::vector<KeyTraffic::Load> stage;
    for (int64_t i = k; i < n; ++i) {
      std::set<int32_t> to;
      for (int64_t j = k + 1; j <= i; ++j) to.insert(position[{i, j}]);
      for (int64_t j = i; j < n; ++j) {
        if (i > k || j > k) to.insert(position[{j, i}]);
      }
      to.erase(position[{i, k}]);
      out.flows.push_back(
          {position[{i, k}], {to.begin(), to.end()}, /*labels=*/1});
      for (int64_t j = k; j <= i; ++j) stage.push_back({position[{i, j}], 1});
    }
    out.stages.push_back(stage);
  }
  return out;
}

// A stencil on n slabs for some steps.
KeyTraffic SlabTraffic(int64_t n) {
  KeyTraffic out;
  std::vector<KeyTraffic::Load> all;
  for (int32_t i = 0; i < n; ++i) {
    out.keys.push_back({.key = static_cast<uint64_t>(i), .block = {i}});
    all.push_back({i, 10});
    if (i > 0) out.flows.push_back({i, {i - 1}, 10});
    if (i + 1 < n) out.flows.push_back({i, {i + 1}, 10});
  }
  out.stages.assign(4, all);
  return out;
}

std::vector<int32_t> Scattered(const KeyTraffic& traffic, int hosts) {
  std::vector<int32_t> out;
  for (const KeyTraffic::Key& key : traffic.keys) {
    out.push_back(static_cast<int32_t>(key.key * 2654435761 % 1000003 %
                                       static_cast<uint64_t>(hosts)));
  }
  return out;
}

int64_t BlockCyclicVolume(const KeyTraffic& traffic, int64_t rows,
                          int64_t columns) {
  int64_t out = 0;
  const auto host = [&](int32_t key) {
    const std::vector<int64_t>& block = traffic.keys[key].block;
    return block[0] % rows * columns + block[1] % columns;
  };
  for (const KeyTraffic::Flow& flow : traffic.flows) {
    std::set<int64_t> to;
    for (const int32_t key : flow.to) to.insert(host(key));
    to.erase(host(flow.from));
    out += std::ssize(to) * flow.labels;
  }
  return out;
}

TEST(Layouts, CholeskyGetsAGrid) {
  for (const auto& [hosts, rows] :
       std::vector<std::pair<int, int64_t>>{{4, 2}, {16, 4}, {64, 8}}) {
    const KeyTraffic traffic = CholeskyTraffic(64);
    const std::vector<int64_t> weights(static_cast<size_t>(hosts), 1);
    const std::vector<int32_t> scattered = Scattered(traffic, hosts);
    const Layout best = BestLayout(traffic, weights, scattered);
    const LayoutCost cost = CostOf(traffic, weights, best.hosts);
    const LayoutCost cost_scattered = CostOf(traffic, weights, scattered);
    EXPECT_LE(cost.labels * 10, BlockCyclicVolume(traffic, rows, rows) * 13)
        << best.name;
    EXPECT_LT(cost.labels, cost_scattered.labels) << best.name;
    EXPECT_LE(cost.work, 1.1 * cost_scattered.work) << best.name;
  }
}

// Between the volumes of the grids with a host less and a host more.
TEST(Layouts, ANumberOfHostsThatIsNoProductGetsAGridToo) {
  const KeyTraffic traffic = CholeskyTraffic(40);
  for (const int hosts : {5, 7, 11, 13, 23}) {
    const std::vector<int64_t> weights(static_cast<size_t>(hosts), 1);
    const Layout best = BestLayout(traffic, weights, Scattered(traffic, hosts));
    const LayoutCost cost = CostOf(traffic, weights, best.hosts);
    int64_t rows = 1;
    while ((rows + 1) * (rows + 1) <= hosts) ++rows;
    EXPECT_LE(cost.labels * 20,
              BlockCyclicVolume(traffic, rows + 1, rows + 1) * 21)
        << hosts << ": " << best.name;
    EXPECT_LE(cost.work, 1.5) << hosts << ": " << best.name;
  }
}

TEST(Layouts, SlabsStayWithTheirNeighbours) {
  const KeyTraffic traffic = SlabTraffic(64);
  const std::vector<int64_t> weights(8, 1);
  const Layout best = BestLayout(traffic, weights, Scattered(traffic, 8));
  const LayoutCost cost = CostOf(traffic, weights, best.hosts);
  EXPECT_EQ(cost.labels, 7 * 2 * 10) << best.name;
  EXPECT_DOUBLE_EQ(cost.work, 1) << best.name;
}

// Tiles that are slabs have one block along their other index, and slabs along
// that one would all be on one host, which sends nothing.
TEST(Layouts, NoHostIsIdleToSpareLabels) {
  for (const int hosts : {2, 3, 4}) {
    KeyTraffic traffic = SlabTraffic(hosts);
    for (KeyTraffic::Key& key : traffic.keys) key.block.push_back(0);
    const std::vector<int64_t> weights(static_cast<size_t>(hosts), 1);
    const std::vector<int32_t> all_on_one(traffic.keys.size(), 0);
    const Layout best = BestLayout(traffic, weights, all_on_one);
    EXPECT_DOUBLE_EQ(CostOf(traffic, weights, best.hosts).work, 1) << best.name;
  }
}

TEST(Layouts, HostsGetTheirShareByWorkers) {
  const KeyTraffic traffic = SlabTraffic(80);
  const std::vector<int64_t> weights = {4, 2, 2};
  const Layout best = BestLayout(traffic, weights, Scattered(traffic, 3));
  EXPECT_EQ(std::count(best.hosts.begin(), best.hosts.end(), 0), 40);
  EXPECT_EQ(std::count(best.hosts.begin(), best.hosts.end(), 1), 20);
  for (const int rows : {1, 2, 3, 4}) {
    const std::vector<int32_t> grid =
        CyclicGrid(CholeskyTraffic(64), weights, 0, 1, rows);
    const auto all = static_cast<double>(grid.size());
    EXPECT_NEAR(
        static_cast<double>(std::count(grid.begin(), grid.end(), 0)) / all, 0.5,
        0.05)
        << rows;
  }
}

// A row of slabs of which each waits for the one before: whole slabs in
// sequence would leave all hosts but one without work.
TEST(Layouts, HostsThatWouldWaitCostMoreThanLabels) {
  KeyTraffic traffic;
  for (int32_t i = 0; i < 32; ++i) {
    traffic.keys.push_back({.key = static_cast<uint64_t>(i), .block = {i}});
    if (i > 0) traffic.flows.push_back({i - 1, {i}, 8});
    // Slab i is worked on in stages i / 4 to i / 4 + 3.
    if (i % 4 == 0) traffic.stages.emplace_back();
    traffic.stages.back().push_back({i, 100});
  }
  const std::vector<int64_t> weights(4, 1);
  const Layout best = BestLayout(traffic, weights, Scattered(traffic, 4));
  EXPECT_DOUBLE_EQ(CostOf(traffic, weights, best.hosts).work, 1) << best.name;
}

TEST(Layouts, OneThatSendsLessThanAllOthersStays) {
  const KeyTraffic traffic = SlabTraffic(64);
  std::vector<int32_t> slabs;
  for (int32_t i = 0; i < 64; ++i) slabs.push_back(i / 16);
  const Layout best = BestLayout(traffic, {1, 1, 1, 1}, slabs);
  EXPECT_EQ(best.hosts, slabs);
  EXPECT_EQ(best.name, "hashed");
}

}  // namespace
}  // namespace dogged
