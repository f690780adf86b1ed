// Figures of the models of routing/model: multicasts at once on irregular
// switch networks, prefix tables of a million agents, pipelines of a thousand
// hosts.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/bench.h"
#include "routing/model/chain_order.h"
#include "routing/model/multi_multicast.h"
#include "routing/model/pipeline.h"
#include "routing/model/prefix_multicast.h"
#include "routing/model/scale.h"

namespace dogged {
namespace {

constexpr int kSwitches = 64;
constexpr int kProcessorsEach = 4;
constexpr int kPorts = 4;

struct Scheme {
  const char* name;
  MulticastSchedule (*make)(const SwitchNetwork&, int, const std::vector<int>&,
                            Rng&);
};

template <PrimaryAgent primary, PrimaryExchange exchange>
MulticastSchedule MakeAgents(const SwitchNetwork& network, int source,
                             const std::vector<int>& to, Rng& rng) {
  return AgentMulticast(network, source, to, primary, exchange, rng);
}

template <EntryChoice choice>
MulticastSchedule MakePrefix(const SwitchNetwork& network, int source,
                             const std::vector<int>& to, Rng&) {
  return PrefixMulticast(network, source, to, choice);
}

const Scheme kSchemes[] = {
    {"SPCCO", [](const SwitchNetwork& n, int s, const std::vector<int>& d,
                 Rng&) { return SpccoMulticast(n, s, d); }},
    {"CCO", [](const SwitchNetwork& n, int s, const std::vector<int>& d,
               Rng&) { return CcoMulticast(n, s, d); }},
    {"SameTree-Binomial",
     MakeAgents<PrimaryAgent::kSameTree, PrimaryExchange::kBinomial>},
    {"SameTree-Cyclic",
     MakeAgents<PrimaryAgent::kSameTree, PrimaryExchange::kCyclic>},
    {"Random-Binomial",
     MakeAgents<PrimaryAgent::kRandom, PrimaryExchange::kBinomial>},
    {"Random-Cyclic",
     MakeAgents<PrimaryAgent::kRandom, PrimaryExchange::kCyclic>},
    {"Prefix", MakePrefix<EntryChoice::kHashed>},
    {"Prefix-Nearest", MakePrefix<EntryChoice::kNearest>},
};

// Time of the last of `count` multicasts to `size` destinations each, mean
// over `networks` random networks.
void Contend(int count, int size, int networks, std::vector<BenchRow>& rows) {
  std::vector<double> last(std::size(kSchemes), 0);
  std::vector<double> blocked(std::size(kSchemes), 0);
  for (int seed = 0; seed < networks; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const SwitchNetwork network =
        SwitchNetwork::Random(rng, kSwitches, kProcessorsEach, kPorts);
    std::vector<std::pair<int, std::vector<int>>> groups;
    for (int m = 0; m < count; ++m) {
      std::vector<int> all(static_cast<size_t>(network.processor_count()));
      std::iota(all.begin(), all.end(), 0);
      for (int i = 0; i <= size; ++i) {
        std::swap(all[i], all[i + rng.Below(std::ssize(all) - i)]);
      }
      groups.emplace_back(
          all[0], std::vector<int>(all.begin() + 1, all.begin() + 1 + size));
    }
    for (size_t i = 0; i < std::size(kSchemes); ++i) {
      Rng choices = rng.Stream(kSchemes[i].name);
      std::vector<MulticastSchedule> schedules;
      for (const auto& [source, to] : groups) {
        schedules.push_back(kSchemes[i].make(network, source, to, choices));
      }
      const WormholeResult result = PlayWormhole(network, schedules, {});
      last[i] += static_cast<double>(result.last) / networks;
      blocked[i] += static_cast<double>(result.blocked) / networks;
    }
  }
  for (size_t i = 0; i < std::size(kSchemes); ++i) {
    rows.push_back({.name = absl::StrCat(count, " multicasts to ", size, " ",
                                         kSchemes[i].name),
                    .value = last[i],
                    .unit = "flit times",
                    .samples = networks,
                    .ratio_to = "SPCCO",
                    .ratio = last[i] / last[0]});
    rows.push_back({.name = absl::StrCat(count, " multicasts to ", size, " ",
                                         kSchemes[i].name, " blocked"),
                    .value = blocked[i],
                    .unit = "flit times",
                    .samples = networks});
  }
}

void Million(std::vector<BenchRow>& rows) {
  const auto row = [&](std::string name, double value, std::string unit) {
    rows.push_back({.name = std::move(name),
                    .value = value,
                    .unit = std::move(unit),
                    .samples = 1});
  };
  const ScaleModel model(1'000'000, 16, 1);
  std::vector<int64_t> others(999'999);
  std::iota(others.begin(), others.end(), 1);
  const ScaleModel::Tree tree =
      model.Multicast(MulticastPlan::kPrefix, 0, others);
  row("10^6 agents, base 16: steps to all", tree.depth, "");
  row("10^6 agents: bytes of a table", static_cast<double>(model.table_bytes()),
      "B");
  Rng rng(3);
  int64_t most = 0;
  int64_t wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const ScaleModel::JoinResult join = model.Join(rng);
    most = std::max(most, join.messages);
    wrong += join.wrong;
  }
  row("10^6 agents: messages to build a newcomer's table, at most",
      static_cast<double>(most), "");
  row("10^6 agents: wrong entries after 1000 joins", static_cast<double>(wrong),
      "");
}

// The example of [MC 5.1]: eight nodes of three binary digits, 001 to 010, 100
// and 101. Values of the tree are steps; the table has none.
void Example(std::vector<BenchRow>& rows) {
  const ScaleModel model(8, 2, 1);
  const auto name = [](int64_t node) {
    return absl::StrCat(node >> 2 & 1, node >> 1 & 1, node & 1);
  };
  for (int level = 0; level < 3; ++level) {
    for (int digit = 0; digit < 2; ++digit) {
      const int64_t entry = model.Entry(1, level, digit);
      if (entry < 0) continue;  // its own digit
      rows.push_back(
          {.name = absl::StrCat("table of 001, level ", level, ", digit ",
                                digit, ": ", name(entry)),
           .samples = 1});
    }
  }
  const ScaleModel::Tree tree =
      model.Multicast(MulticastPlan::kPrefix, 1, {2, 4, 5});
  std::vector<int> steps(tree.parents.size(), 0);
  for (size_t i = 1; i < tree.parents.size(); ++i) {
    const auto parent = static_cast<size_t>(tree.parents[i]);
    steps[i] = steps[parent] + 1;
    rows.push_back(
        {.name = absl::StrCat("multicast from 001: ", name(tree.places[parent]),
                              " to ", name(tree.places[i])),
         .value = static_cast<double>(steps[i]),
         .unit = "",
         .samples = 1});
  }
}

// A body from one host to all of 1024, by each plan with its best segment.
void Thousand(int64_t bytes, int64_t group_hosts, std::vector<BenchRow>& rows) {
  const ScaleModel model(1024, 4, 1);
  std::vector<int64_t> others(1023);
  std::iota(others.begin(), others.end(), 1);
  const PipelineCosts costs{.group_hosts = group_hosts};
  const std::string hosts =
      group_hosts == 0 ? "1024 hosts, " : "1024 hosts, dragonfly, ";
  const double bound = PipelineBound(1024, bytes, costs);
  for (MulticastPlan plan :
       {MulticastPlan::kFlat, MulticastPlan::kPrefix, MulticastPlan::kBinomial,
        MulticastPlan::kChain, MulticastPlan::kAgents,
        MulticastPlan::kTwoTrees}) {
    std::vector<ScaleModel::Tree> trees;
    for (int tree = 0; tree < PlannerOf(plan).tree_count(); ++tree) {
      trees.push_back(model.Multicast(plan, 0, others, tree));
    }
    double best = 0;
    const std::string name(MulticastPlanName(plan));
    for (int64_t segment = std::min<int64_t>(1024, bytes); segment <= bytes;
         segment *= 2) {
      const double time = PlayPipelined(trees, bytes, segment, costs);
      if (best == 0 || time < best) best = time;
      rows.push_back({.name = absl::StrCat(hosts, bytes >> 10, " KB in ",
                                           segment >> 10, " KB: ", name),
                      .value = time * 1e3,
                      .unit = "ms",
                      .samples = 1});
    }
    rows.push_back(
        {.name = absl::StrCat(hosts, bytes >> 10, " KB, best segment: ", name),
         .value = best * 1e3,
         .unit = "ms",
         .samples = 1,
         .ratio_to = "bound",
         .ratio = best / bound});
  }
}

}  // namespace

std::vector<BenchRow> BenchMulticastModel(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  const ContestFilter& only = options.only;
  for (int count : {1, 4, 16, 64}) {
    for (int size : {16, 64, 192}) {
      if (!only.Takes("contention")) continue;
      Contend(count, size, std::max(5, options.samples), rows);
    }
  }
  for (int64_t bytes : {64, 2 << 10, 4 << 10, 8 << 10, 64 << 10, 1 << 20}) {
    if (only.Takes("hosts")) Thousand(bytes, /*group_hosts=*/0, rows);
  }
  if (only.Takes("hosts")) Thousand(1 << 20, /*group_hosts=*/64, rows);
  if (only.Takes("example")) Example(rows);
  if (only.Takes("million")) Million(rows);
  return rows;
}

}  // namespace dogged
