// dogged-bench: measures this build against peers in the same run.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/multicast_node.h"
#include "apps/tiles/blas_kernels.h"
#include "runtime/exec/tile_pool.h"

namespace {

constexpr char kHelp[] =
    "Example: dogged-bench cholesky --n 4096 --nb 256,320,512 --json\n\n"
    "  tasks      empty tasks: independent, wavefront, wide release\n"
    "  cholesky   tiled Cholesky, best of the tile sizes\n"
    "  lu, qr     the same with partial pivoting, and by reflectors\n"
    "  kernels    what a tile's kernels give on one core\n"
    "  stencil    time steps on grids, coalesced into tiles\n"
    "  locality   share of reads from other agents, by affinity and hashed\n"
    "  dictionary values of another agent of this host\n"
    "  hop        task to task between two agents of this host\n"
    "  search     the backward walk at 1 to 16 agents, simulated\n"
    "  agents     agents of this host beside one alone\n"
    "  hosts      one copy and two between hosts, one that vanishes\n"
    "  apart      a call of a user's kernel, in a process of its own\n"
    "  to-all     a task to tasks of 8 agents of this host\n"
    "  multicast  one body to many agents; --n is the size of a segment\n"
    "  multicast-model   what the models of routing/model say\n\n"
    "  --hosts N        of multicast (this one alone) and hosts (4), made by\n"
    "                   scripts/hosts\n"
    "  --n N            problem size (1000 and 4096)\n"
    "  --nb N[,N...]    tile sizes; of a stencil: widths, then the depth\n"
    "  --only WORD[,WORD...]  contests whose names contain one of these, of\n"
    "                   cholesky, lu and qr peers; a word that none contains\n"
    "                   is answered by their names\n"
    "  --alone          stencils, multicast without their peers\n"
    "  --workers N      (2)\n"
    "  --agents N       of locality (4)\n"
    "  --samples N      (5)\n"
    "  --json           rows of name, value, unit, samples, ratio_to, ratio\n";

constexpr int64_t kTilePoolBytes = int64_t{16} << 30;  // of addresses

using Bench = std::vector<dogged::BenchRow> (*)(const dogged::BenchOptions&);
constexpr std::pair<const char*, Bench> kBenches[] = {
    {"tasks", dogged::BenchTasks},
    {"cholesky", dogged::BenchCholesky},
    {"lu", dogged::BenchLu},
    {"qr", dogged::BenchQr},
    {"stencil", dogged::BenchStencil},
    {"locality", dogged::BenchLocality},
    {"dictionary", dogged::BenchDictionary},
    {"hop", dogged::BenchHop},
    {"search", dogged::BenchSearch},
    {"agents", dogged::BenchAgents},
    {"hosts", dogged::BenchHosts},
    {"apart", dogged::BenchApart},
    {"to-all", dogged::BenchToAll},
    {"multicast", dogged::BenchMulticast},
    {"multicast-model", dogged::BenchMulticastModel},
    {"kernels", dogged::BenchKernels},
};

// Null if there is none of that name.
const Bench* FindBench(const std::string& name) {
  for (const auto& [known, bench] : kBenches) {
    if (name == known) return &bench;
  }
  return nullptr;
}

int Mistyped(const std::string& word) {
  std::fprintf(stderr, "dogged-bench: what is '%s'?\n%s", word.c_str(), kHelp);
  return 2;
}

// Sets the option of flag `name`; false if there is none.
bool SetOption(const std::string& name, const std::string& value,
               dogged::BenchOptions& options) {
  if (name == "--nb") {
    for (const auto part : absl::StrSplit(value, ',')) {
      int64_t size = 0;
      if (!absl::SimpleAtoi(part, &size) || size < 1) return false;
      options.tile_sizes.push_back(size);
    }
    return true;
  }
  if (name == "--only") {
    options.only = dogged::ContestFilter(value);
    return true;
  }
  int number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < 1) return false;
  if (name == "--n") options.n = number;
  if (name == "--hosts") options.hosts = number;
  if (name == "--workers") options.workers = number;
  if (name == "--samples") options.samples = number;
  if (name == "--agents") options.agents = number;
  return name == "--n" || name == "--agents" || name == "--workers" ||
         name == "--samples" || name == "--hosts";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "multicast-node") {
    return dogged::MulticastNode({words.begin() + 1, words.end()});
  }
  dogged::BenchOptions options;
  Bench bench = nullptr;
  bool json = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (const Bench* found = FindBench(words[i])) {
      bench = *found;
    } else if (words[i] == "--alone") {
      options.alone = true;
    } else if (words[i] == "--json") {
      json = true;
    } else if (i + 1 < words.size() &&
               SetOption(words[i], words[i + 1], options)) {
      ++i;
    } else {
      return Mistyped(words[i]);
    }
  }
  if (bench == nullptr) return Mistyped("");
  if (const absl::Status blas = dogged::SetUpBlas(); !blas.ok()) {
    std::fprintf(stderr, "%s\n", blas.ToString().c_str());
    return 1;
  }
  // As `dogged run` has it; peers that use our values have it, too.
  const auto tiles = dogged::TilePool::Create(kTilePoolBytes);
  if (tiles != nullptr) tiles->Install();
  const std::vector<dogged::BenchRow> rows = bench(options);
  if (const absl::Status taken = options.only.CheckTaken(); !taken.ok()) {
    std::fprintf(stderr, "dogged-bench: %s\n",
                 std::string(taken.message()).c_str());
    return 2;
  }
  const std::string text = json ? dogged::ToJson(rows) : dogged::ToTable(rows);
  std::fputs(text.c_str(), stdout);
  return 0;
}
