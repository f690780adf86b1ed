// Multicasts between real processes: every planner, and MPI_Bcast, over hosts
// with rate-limited links (scripts/hosts) or on this host alone.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/hosts_peers.h"
#include "routing/plans/planner.h"
#include "routing/topology/topology_id.h"
#include "runtime/base/check.h"
#include "runtime/base/random.h"

extern char** environ;

namespace dogged {
namespace {

constexpr int kLocalNodes = 8;
constexpr int kTopologyBase = 4;
constexpr int kDigitsBase = 16;  // so that there may be more than 16 hosts

// Topology IDs of the nodes: as if four hosts shared a switch, or those that
// agents have where nothing is said of their site.
enum class NodeIds { kSwitches, kHashed };

TopologyId IdOf(NodeIds ids, int node, absl::string_view host) {
  if (ids == NodeIds::kHashed) return HashedHostId(host);
  const std::string digits = {static_cast<char>(node / kTopologyBase),
                              static_cast<char>(node % kTopologyBase)};
  return *TopologyId::FromDigits(kDigitsBase, digits);
}

// NodeProcess: a node in a process, spoken to over pipes.
class NodeProcess {
 public:
  NodeProcess(int number, bool in_namespace) {
    const std::string id = absl::StrCat(number + 1);
    std::vector<std::string> words;
    host_ = absl::StrCat("dogh", number);
    if (in_namespace) words = {"ip", "netns", "exec", host_};
    char self[4096] = "";
    DOGGED_CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    words.insert(words.end(),
                 {self, "multicast-node", id,
                  in_namespace ? absl::StrCat("10.77.0.", id) : "127.0.0.1"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int down[2], up[2];
    DOGGED_CHECK(pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
    DOGGED_CHECK(posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(),
                              environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(down[0]);
    close(up[1]);
    to_ = down[1];
    from_ = fdopen(up[0], "r");
  }
  ~NodeProcess() {
    close(to_);  // the node ends at the end of its input
    waitpid(pid_, nullptr, 0);
    std::fclose(from_);
  }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  void Say(const std::string& line) {
    const std::string text = line + "\n";
    DOGGED_CHECK(write(to_, text.data(), text.size()) ==
                 static_cast<ssize_t>(text.size()));
  }
  // The next line that begins with `word`, in words. Lines with other words are
  // kept: a node that is source and destination may get a body before it sends
  // its own.
  std::vector<std::string> Hear(absl::string_view word) {
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (it->front() != word) continue;
      std::vector<std::string> words = std::move(*it);
      kept_.erase(it);
      return words;
    }
    char line[4096];
    while (std::fgets(line, sizeof(line), from_) != nullptr) {
      std::vector<std::string> words = absl::StrSplit(
          absl::string_view(line), absl::ByAnyChar(" \n"), absl::SkipEmpty());
      if (words.empty()) continue;
      if (words[0] == word) return words;
      kept_.push_back(std::move(words));
    }
    std::fprintf(stderr,
                 "dogged-bench: a node ended; are the hosts up? See "
                 "scripts/hosts\n");
    std::exit(4);
  }
  int64_t HearNanos(absl::string_view word, size_t at) {
    int64_t nanos = 0;
    DOGGED_CHECK(absl::SimpleAtoi(Hear(word)[at], &nanos));
    return nanos;
  }
  void Kill() { kill(pid_, SIGKILL); }
  const std::string& host() const { return host_; }

 private:
  std::string host_;
  pid_t pid_ = 0;
  int to_ = -1;
  FILE* from_ = nullptr;
  std::list<std::vector<std::string>> kept_;
};

// Source and targets of a multicast.
struct Group {
  int source = 0;
  std::vector<int> targets;
};

// `source` to the `targets` behind it, of so many.
Group GroupOf(int count, int source, int targets) {
  Group group{source, {}};
  for (int i = 1; i <= targets; ++i) {
    group.targets.push_back((source + i) % count);
  }
  return group;
}

class Nodes {
 public:
  Nodes(int count, bool in_namespace, NodeIds ids = NodeIds::kSwitches) {
    for (int i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<NodeProcess>(i, in_namespace));
    }
    std::vector<std::string> lines;
    for (int i = 0; i < count; ++i) {
      const std::string host = in_namespace ? node(i).host() : "local";
      lines.push_back(absl::StrCat("member ", i + 1, " ",
                                   IdOf(ids, i, host).ToString(), " ", host,
                                   " ", node(i).Hear("address")[1]));
    }
    for (auto& one : nodes_) {
      for (const std::string& line : lines) one->Say(line);
    }
    SetPlan(MulticastPlan::kFlat, 0);
    // Connections are made before anything is measured.
    for (int i = 0; i < count; ++i) Time({ToAll(i)}, 64);
  }

  NodeProcess& node(int i) { return *nodes_[i]; }
  int count() const { return static_cast<int>(nodes_.size()); }
  Group ToAll(int source) const { return ToNext(source, count() - 1); }
  Group ToNext(int source, int targets) const {
    return GroupOf(count(), source, targets);
  }

  void SetPlan(MulticastPlan plan, int64_t segment_bytes) {
    for (auto& one : nodes_) {
      one->Say(absl::StrCat("plan ", std::string(MulticastPlanName(plan)), " ",
                            segment_bytes));
    }
    for (auto& one : nodes_) one->Hear("ok");
  }

  // Seconds from the first start to the last arrival. `victim`, if there is
  // one, is killed a third of `expected` seconds after the start.
  double Time(const std::vector<Group>& groups, int64_t bytes, int victim = -1,
              double expected = 0) {
    for (const Group& group : groups) {
      node(group.source)
          .Say(absl::StrCat(
              "go ", bytes, " ",
              absl::StrJoin(group.targets, ",", [](std::string* out, int i) {
                absl::StrAppend(out, i + 1);
              })));
    }
    int64_t first = INT64_MAX;
    for (const Group& group : groups) {
      first = std::min(first, node(group.source).HearNanos("sent", 1));
    }
    if (victim >= 0) KillDuring(victim, expected);
    int64_t last = 0;
    for (const Group& group : groups) {
      for (int target : group.targets) {
        if (target == victim) continue;
        last = std::max(last, node(target).HearNanos("got", 2));
      }
    }
    return static_cast<double>(last - first) * 1e-9;
  }

 private:
  void KillDuring(int victim, double expected) {
    timespec wait = {0, static_cast<long>(expected / 3 * 1e9)};
    sigset_t none;
    sigemptyset(&none);
    sigtimedwait(&none, nullptr, &wait);
    node(victim).Kill();
    // An agent learns this by the end of its life line.
    for (int i = 0; i < count(); ++i) {
      if (i != victim) node(i).Say(absl::StrCat("dead ", victim + 1));
    }
  }

  std::vector<std::unique_ptr<NodeProcess>> nodes_;
};

// Idle and all time of the processor so far.
std::pair<double, double> ProcessorTimes() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  file >> cpu;
  double idle = 0, all = 0, time = 0;
  for (int i = 0; i < 8 && file >> time; ++i) {
    all += time;
    if (i == 3 || i == 4) idle += time;
  }
  return {idle, all};
}

struct Cell {
  std::string name;
  int64_t bytes = 0;
  std::vector<Group> groups;
};

std::string BytesText(int64_t bytes) {
  if (bytes >= 1 << 20) return absl::StrCat(bytes >> 20, "MB");
  if (bytes >= 1 << 10) return absl::StrCat(bytes >> 10, "KB");
  return absl::StrCat(bytes, "B");
}

std::vector<Cell> CellsFor(const Nodes& nodes, bool is_local,
                           const ContestFilter& only) {
  std::vector<Cell> cells;
  const auto add = [&](int64_t bytes, std::string tail,
                       std::vector<Group> groups) {
    std::string name = absl::StrCat(BytesText(bytes), "/", tail);
    if (only.Takes(name)) {
      cells.push_back({std::move(name), bytes, std::move(groups)});
    }
  };
  if (is_local) {
    for (int64_t bytes : {64, 512 << 10}) {
      add(bytes, "7/1", {nodes.ToAll(0)});
    }
    return cells;
  }
  for (int64_t bytes : {64, 8 << 10, 256 << 10, 1 << 20}) {
    for (int targets : {3, 15}) {
      for (int sources : {1, 8}) {
        std::vector<Group> groups;
        for (int i = 0; i < sources; ++i) {
          groups.push_back(nodes.ToNext(2 * i, targets));
        }
        add(bytes, absl::StrCat(targets, "/", sources), std::move(groups));
      }
    }
  }
  std::vector<Group> skewed;
  for (int targets : {15, 12, 9, 7, 5, 4, 3, 2}) {
    skewed.push_back(
        nodes.ToNext(2 * static_cast<int>(skewed.size()), targets));
  }
  add(64 << 10, "skewed/8", std::move(skewed));
  return cells;
}

// By how many destinations prefix routing is as good as any plan: bodies that
// travel whole, so that the plan is all that differs.
std::vector<Cell> SweepCells(int hosts, absl::string_view ids,
                             const ContestFilter& only) {
  std::vector<Cell> cells;
  for (int64_t bytes : {64, 512, 1024, 2048}) {
    for (int targets : {2, 3, 5, 7, 11, 15, 23, 31, 47, 63}) {
      for (int sources : {1, 8}) {
        if (std::max(targets + 1, sources) > hosts) continue;
        std::string name =
            absl::StrCat(ids, " ", bytes, "B/", targets, "/", sources);
        if (!only.Takes(name)) continue;
        std::vector<Group> groups;
        for (int i = 0; i < sources; ++i) {
          groups.push_back(GroupOf(hosts, i * hosts / sources, targets));
        }
        cells.push_back({std::move(name), bytes, std::move(groups)});
      }
    }
  }
  return cells;
}

// Seconds of one MPI_Bcast to `ranks` - 1 others; 0 if there is no MPI here.
double TimeMpi(int hosts, int ranks, int64_t bytes) {
  const std::string command =
      absl::StrCat(MpirunOnHosts(hosts), " " DOGGED_MPI_PEER " 1 ", ranks, " ",
                   bytes, " 2>/dev/null");
  FILE* out = popen(command.c_str(), "r");
  if (out == nullptr) return 0;
  double seconds = 0;
  long long got_ranks = 0, got_bytes = 0;
  if (std::fscanf(out, "%lld %lld %lf", &got_ranks, &got_bytes, &seconds) !=
      3) {
    seconds = 0;
  }
  pclose(out);
  return seconds;
}

constexpr MulticastPlan kPlans[] = {
    MulticastPlan::kFlat,    MulticastPlan::kPrefix, MulticastPlan::kBinomial,
    MulticastPlan::kChain,   MulticastPlan::kAgents, MulticastPlan::kTwoTrees,
    MulticastPlan::kKnomial, MulticastPlan::kAuto};

class Contest {
 public:
  Contest(Nodes& nodes, const BenchOptions& options)
      : nodes_(nodes), options_(options) {}

  void Run(const Cell& cell, bool with_mpi) {
    std::map<std::string, std::vector<double>> times;
    const bool is_single = cell.groups.size() == 1;
    for (int sample = 0; sample < options_.samples; ++sample) {
      if (is_single) {
        nodes_.SetPlan(MulticastPlan::kFlat, 0);
        times["one copy"].push_back(
            nodes_.Time({nodes_.ToNext(0, 1)}, cell.bytes));
      }
      // The order changes each time, for it matters below 1 ms.
      std::vector<MulticastPlan> plans(std::begin(kPlans), std::end(kPlans));
      for (size_t i = plans.size() - 1; i > 0; --i) {
        std::swap(plans[i], plans[rng_.Below(static_cast<int64_t>(i) + 1)]);
      }
      for (MulticastPlan plan : plans) {
        nodes_.SetPlan(plan, options_.n);
        times[std::string(MulticastPlanName(plan))].push_back(
            nodes_.Time(cell.groups, cell.bytes));
      }
      if (with_mpi && is_single) {
        const double seconds = TimeMpi(
            nodes_.count(), static_cast<int>(cell.groups[0].targets.size()) + 1,
            cell.bytes);
        if (seconds > 0) times["MPI_Bcast"].push_back(seconds);
      }
    }
    Report(cell, times);
  }

  std::vector<BenchRow> TakeRows() { return std::move(rows_); }

 private:
  void Report(const Cell& cell,
              const std::map<std::string, std::vector<double>>& times) {
    std::string best;
    for (const auto& [name, samples] : times) {
      const bool is_plan =
          name != "one copy" && name != "MPI_Bcast" && name != "auto";
      if (is_plan &&
          (best.empty() || Median(samples) < Median(times.at(best)))) {
        best = name;
      }
    }
    const auto row = [&](const std::string& name, const std::string& peer) {
      if (!times.contains(name) || !times.contains(peer)) return;
      const double value = Median(times.at(name));
      rows_.push_back({.name = absl::StrCat(cell.name, " ", name),
                       .value = value * 1e3,
                       .unit = "ms",
                       .samples = std::ssize(times.at(name)),
                       .ratio_to = peer,
                       .ratio = value / Median(times.at(peer))});
    };
    for (const auto& [name, samples] : times) row(name, "flat");
    row("auto", best);
    row("prefix", best);
    row("auto", "one copy");
    row("auto", "MPI_Bcast");
  }

  Nodes& nodes_;
  const BenchOptions& options_;
  Rng rng_{1};
  std::vector<BenchRow> rows_;
};

void Sweep(const BenchOptions& options, NodeIds ids, absl::string_view name,
           std::vector<BenchRow>& rows) {
  const std::vector<Cell> cells = SweepCells(options.hosts, name, options.only);
  if (cells.empty()) return;
  Nodes nodes(options.hosts, true, ids);
  Contest contest(nodes, options);
  for (const Cell& cell : cells) contest.Run(cell, /*with_mpi=*/false);
  for (BenchRow& row : contest.TakeRows()) rows.push_back(std::move(row));
}

// By how much the death of a relay prolongs 1 MB along a chain.
double ExtraTimeOfDeath(int hosts) {
  Nodes nodes(hosts, true);
  nodes.SetPlan(MulticastPlan::kChain, 0);
  const std::vector<Group> groups = {nodes.ToAll(0)};
  const double usual = nodes.Time(groups, 1 << 20);
  return nodes.Time(groups, 1 << 20, hosts / 2, usual) - usual;
}

// Effect of the size of segments on 256 KB to all others.
void SweepSegments(const BenchOptions& options, std::vector<BenchRow>& rows) {
  Nodes nodes(options.hosts, true);
  std::map<std::string, std::vector<double>> times;
  for (int sample = 0; sample < options.samples; ++sample) {
    for (int64_t segment = 1; segment <= 16; segment *= 2) {
      for (MulticastPlan plan :
           {MulticastPlan::kPrefix, MulticastPlan::kBinomial,
            MulticastPlan::kChain, MulticastPlan::kTwoTrees}) {
        nodes.SetPlan(plan, segment << 10);
        times[absl::StrCat("256KB/", options.hosts - 1, "/1 in ", segment,
                           " KB: ", std::string(MulticastPlanName(plan)))]
            .push_back(nodes.Time({nodes.ToAll(0)}, 256 << 10));
      }
    }
  }
  for (const auto& [name, samples] : times) {
    rows.push_back({.name = name,
                    .value = Median(samples) * 1e3,
                    .unit = "ms",
                    .samples = std::ssize(samples)});
  }
}

}  // namespace

std::vector<BenchRow> BenchMulticast(const BenchOptions& options) {
  const bool is_local = options.hosts == 0;
  const auto before = ProcessorTimes();
  std::vector<BenchRow> rows;
  {
    Nodes nodes(is_local ? kLocalNodes : options.hosts, !is_local);
    Contest contest(nodes, options);
    for (const Cell& cell : CellsFor(nodes, is_local, options.only)) {
      contest.Run(cell, !is_local && !options.alone);
    }
    rows = contest.TakeRows();
  }
  if (!is_local) {
    Sweep(options, NodeIds::kSwitches, "switches", rows);
    Sweep(options, NodeIds::kHashed, "hashed", rows);
  }
  if (!is_local && options.only.Takes("death")) {
    std::vector<double> extra;
    for (int i = 0; i < options.samples; ++i) {
      extra.push_back(ExtraTimeOfDeath(options.hosts));
    }
    rows.push_back({.name = "1MB/15/1 chain, a relay dies: extra time",
                    .value = Median(extra) * 1e3,
                    .unit = "ms",
                    .samples = std::ssize(extra)});
  }
  if (!is_local && options.only.Takes("segments")) {
    SweepSegments(options, rows);
  }
  const auto after = ProcessorTimes();
  rows.push_back(
      {.name = "idle share of the processor",
       .value = (after.first - before.first) / (after.second - before.second),
       .unit = "",
       .samples = 1});
  return rows;
}

}  // namespace dogged
