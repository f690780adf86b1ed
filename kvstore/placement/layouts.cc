#include "kvstore/placement/layouts.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/division.h"

namespace dogged {
namespace {

// Shares of hosts, a host of twice the weight twice, in all at most about:
constexpr int64_t kSharesMax = 512;
// Tasks that a label weighs as much as, on its way to another host: of tiled
// Cholesky by default sizes on this kind of processor it takes the time of
// 0.4 tasks at 10 Gbit/s, 4 at 1 Gbit/s.
constexpr double kTasksALabel = 4;
// A layout may make the work as much longer as with the most even one, whatever
// it spares in labels: how much a label weighs is a guess, which is forty times
// too high for slabs of a stencil, and all keys on one host send nothing.
constexpr double kWorkMax = 1.5;
// Grids whose rows are many times as many as their columns, or the other way
// round, are not tried, but for slabs.
constexpr int64_t kFlattestGrid = 8;

int64_t SumOf(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

// Hosts, each as often as its weight says, repetitions in sequence.
std::vector<int32_t> SharesOf(const std::vector<int64_t>& weights) {
  int64_t unit = 0;
  for (const int64_t weight : weights) unit = std::gcd(unit, weight);
  while (SumOf(weights) / unit > kSharesMax) unit *= 2;
  std::vector<int32_t> out;
  for (size_t host = 0; host < weights.size(); ++host) {
    const int64_t count = std::max<int64_t>(1, weights[host] / unit);
    out.insert(out.end(), static_cast<size_t>(count),
               static_cast<int32_t>(host));
  }
  return out;
}

// The block number of key `k` along index `d`; 0 if it has no such index.
int64_t BlockOf(const KeyTraffic& traffic, size_t k, size_t d) {
  const std::vector<int64_t>& block = traffic.keys[k].block;
  return d < block.size() ? block[d] : 0;
}

std::vector<int64_t> TasksOf(const KeyTraffic& traffic) {
  std::vector<int64_t> out(traffic.keys.size());
  for (const std::vector<KeyTraffic::Load>& stage : traffic.stages) {
    for (const KeyTraffic::Load& load : stage) {
      out[load.key] += load.tasks;
    }
  }
  return out;
}

// `parts` parts of the blocks along index `d`, in sequence, with about equal
// numbers of tasks; by key.
std::vector<int64_t> PartsAlong(const KeyTraffic& traffic, size_t d,
                                int64_t parts) {
  const std::vector<int64_t> tasks = TasksOf(traffic);
  std::map<int64_t, int64_t> tasks_of;  // by block number
  for (size_t k = 0; k < tasks.size(); ++k) {
    tasks_of[BlockOf(traffic, k, d)] += tasks[k];
  }
  const int64_t all = std::max<int64_t>(1, SumOf(tasks));
  std::map<int64_t, int64_t> part_of;
  int64_t before = 0;
  for (const auto& [block, count] : tasks_of) {
    // By the middle of its tasks.
    part_of[block] =
        std::min(parts - 1, (2 * before + count) * parts / (2 * all));
    before += count;
  }
  std::vector<int64_t> out;
  for (size_t k = 0; k < tasks.size(); ++k) {
    out.push_back(part_of[BlockOf(traffic, k, d)]);
  }
  return out;
}

// `rows` x `columns` blocks of blocks, for as many shares.
std::vector<int32_t> BlockGrid(const KeyTraffic& traffic,
                               const std::vector<int32_t>& shares, size_t row,
                               int64_t rows, size_t column, int64_t columns) {
  const std::vector<int64_t> row_of = PartsAlong(traffic, row, rows);
  const std::vector<int64_t> column_of = PartsAlong(traffic, column, columns);
  std::vector<int32_t> out;
  for (size_t k = 0; k < traffic.keys.size(); ++k) {
    out.push_back(shares[row_of[k] * columns + column_of[k]]);
  }
  return out;
}

// The numbers 0 to widths.size() - 1, each as often as its width says, evenly
// mixed.
std::vector<size_t> Mixed(const std::vector<int64_t>& widths) {
  const int64_t all = SumOf(widths);
  std::vector<int64_t> given(widths.size());
  std::vector<size_t> out;
  for (int64_t n = 1; n <= all; ++n) {
    size_t next = 0;
    for (size_t i = 1; i < widths.size(); ++i) {
      // The row that is further behind its share of n is next.
      if (widths[i] * n - given[i] * all >
          widths[next] * n - given[next] * all) {
        next = i;
      }
    }
    ++given[next];
    out.push_back(next);
  }
  return out;
}

// Layouts to choose from, of which the cheapest is taken.
class Chooser {
 public:
  Chooser(const KeyTraffic& traffic, const std::vector<int64_t>& weights)
      : traffic_(traffic), weights_(weights) {}

  void Add(std::string name, std::vector<int32_t> hosts) {
    const LayoutCost cost = CostOf(traffic_, weights_, hosts);
    least_work_ = std::min(least_work_, cost.work);
    layouts_.push_back(
        {cost, {.name = std::move(name), .hosts = std::move(hosts)}});
  }

  // The first of several that are equally cheap.
  Layout Take() {
    const auto total = [&](const Candidate& candidate) {
      return candidate.cost.work > kWorkMax * least_work_
                 ? std::numeric_limits<double>::infinity()
                 : candidate.cost.total;
    };
    return std::move(std::min_element(layouts_.begin(), layouts_.end(),
                                      [&](const auto& a, const auto& b) {
                                        return total(a) < total(b);
                                      })
                         ->layout);
  }

 private:
  struct Candidate {
    LayoutCost cost;
    Layout layout;
  };

  const KeyTraffic& traffic_;
  const std::vector<int64_t>& weights_;
  std::vector<Candidate> layouts_;
  double least_work_ = std::numeric_limits<double>::infinity();
};

}  // namespace

LayoutCost CostOf(const KeyTraffic& traffic,
                  const std::vector<int64_t>& weights,
                  const std::vector<int32_t>& hosts) {
  const auto all_weights = static_cast<double>(SumOf(weights));
  LayoutCost out;
  double all = 0;
  double time = 0;
  std::vector<int64_t> tasks(weights.size());
  for (const std::vector<KeyTraffic::Load>& stage : traffic.stages) {
    std::fill(tasks.begin(), tasks.end(), 0);
    for (const KeyTraffic::Load& load : stage) {
      tasks[hosts[static_cast<size_t>(load.key)]] += load.tasks;
      all += static_cast<double>(load.tasks);
    }
    double longest = 0;
    for (size_t host = 0; host < weights.size(); ++host) {
      longest =
          std::max(longest, static_cast<double>(tasks[host]) * all_weights /
                                static_cast<double>(weights[host]));
    }
    time += longest;
  }
  if (all > 0) out.work = time / all;
  std::vector<int64_t> received(weights.size());
  std::vector<size_t> sent_for(weights.size());  // flow + 1 that came last
  for (size_t f = 0; f < traffic.flows.size(); ++f) {
    const KeyTraffic::Flow& flow = traffic.flows[f];
    sent_for[hosts[static_cast<size_t>(flow.from)]] = f + 1;
    for (const int32_t key : flow.to) {
      const auto host = static_cast<size_t>(hosts[key]);
      if (std::exchange(sent_for[host], f + 1) == f + 1) continue;
      received[host] += flow.labels;
      out.labels += flow.labels;
    }
  }
  const auto count = static_cast<double>(weights.size());
  const auto busiest =
      static_cast<double>(*std::max_element(received.begin(), received.end()));
  const double mean = static_cast<double>(out.labels) / count;
  out.total = out.work * all / count + kTasksALabel * (mean + busiest) / 2;
  return out;
}

std::vector<int32_t> CyclicGrid(const KeyTraffic& traffic,
                                const std::vector<int64_t>& weights, size_t row,
                                size_t column, int rows) {
  const std::vector<int32_t> shares = SharesOf(weights);
  std::vector<int64_t> widths;
  std::vector<size_t> first;  // in `shares`, by row of the grid
  for (int r = 0; r < rows; ++r) {
    const size_t begin =
        shares.size() * static_cast<size_t>(r) / static_cast<size_t>(rows);
    const size_t end =
        shares.size() * static_cast<size_t>(r + 1) / static_cast<size_t>(rows);
    first.push_back(begin);
    widths.push_back(static_cast<int64_t>(end - begin));
  }
  const bool are_equal =
      std::adjacent_find(widths.begin(), widths.end(), std::not_equal_to<>()) ==
      widths.end();
  if (are_equal) std::fill(widths.begin(), widths.end(), 1);
  const std::vector<size_t> row_of = Mixed(widths);
  const auto width = std::ssize(shares) / rows;
  std::vector<int32_t> out;
  for (size_t k = 0; k < traffic.keys.size(); ++k) {
    const int64_t i = BlockOf(traffic, k, row);
    const int64_t j = BlockOf(traffic, k, column);
    const size_t r = row_of[FloorMod(i, std::ssize(row_of))];
    const int64_t columns = are_equal ? width : widths[r];
    out.push_back(shares[first[r] + static_cast<size_t>(FloorMod(j, columns))]);
  }
  return out;
}

Layout BestLayout(const KeyTraffic& traffic,
                  const std::vector<int64_t>& weights,
                  std::vector<int32_t> hashed) {
  Chooser chooser(traffic, weights);
  chooser.Add("hashed", std::move(hashed));
  size_t indices = 0;
  for (const KeyTraffic::Key& key : traffic.keys) {
    indices = std::max(indices, key.block.size());
  }
  const std::vector<int32_t> shares = SharesOf(weights);
  const auto count = std::ssize(shares);
  for (size_t d = 0; d < indices; ++d) {
    chooser.Add(absl::StrCat("slabs along index ", d),
                BlockGrid(traffic, shares, d, count, d, 1));
    // A grid of as many rows as there are shares.
    chooser.Add(absl::StrCat("cyclic along index ", d),
                CyclicGrid(traffic, weights, d, d, static_cast<int>(count)));
  }
  for (size_t row = 0; row < indices; ++row) {
    for (size_t column = 0; column < indices; ++column) {
      if (row == column) continue;
      for (int64_t rows = 2; rows < count; ++rows) {
        const int64_t columns = count / rows;
        if (rows > kFlattestGrid * columns || columns > kFlattestGrid * rows) {
          continue;
        }
        const std::string grid = absl::StrCat(
            rows, " x ", columns, " of indices ", row, " and ", column);
        if (rows * columns == count) {
          chooser.Add(absl::StrCat("blocks ", grid),
                      BlockGrid(traffic, shares, row, rows, column, columns));
        }
        chooser.Add(
            absl::StrCat("cyclic ", grid),
            CyclicGrid(traffic, weights, row, column, static_cast<int>(rows)));
      }
    }
  }
  return chooser.Take();
}

}  // namespace dogged
