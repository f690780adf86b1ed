#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/peers/stencil.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/load_kernels.h"
#include "dsl/results.h"
#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/kernels/kernel_library.h"
#include "runtime/exec/local_run.h"

namespace dogged {
namespace {

struct Contest {
  std::string name;
  std::string file;  // in apps/
  StencilPeer peer;
};

std::vector<Contest> Contests() {
  std::vector<Contest> out;
  out.push_back({"heat1d", "heat1d/heat1d.dog", Heat1dPeer(10'000'000, 1000)});
  out.push_back({"heat2d", "heat2d/heat2d.dog", Heat2dPeer(4096, 200)});
  out.push_back({"heat3d", "heat3d/heat3d.dog", Heat3dPeer(256, 100)});
  out.push_back({"wave2d", "wave2d/wave2d.dog", Wave2dPeer(4096, 200)});
  out.push_back({"slides", "heat1d/heat1d.dog", Heat1dPeer(5001, 100)});
  return out;
}

dsl::CompileSource CachedCompiler() {
  return [](absl::string_view source) -> absl::StatusOr<dsl::FindSymbol> {
    auto symbols =
        KernelCompiler(
            {.compiler = "cc", .cache_directory = KernelCacheDirectory("", "")})
            .Load(source);
    if (!symbols.ok()) return symbols.status();
    return dsl::FindSymbol(*symbols);
  };
}

// `file` is in apps/.
std::string ReadProgram(const std::string& file) {
  std::ifstream in(absl::StrCat(DOGGED_APPS_DIR, "/", file));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// OurRun: compiled before, timed from the first task to the last.
class OurRun {
 public:
  OurRun(const Contest& contest, const BenchOptions& options)
      : workers_(options.workers) {
    const std::string text = ReadProgram(contest.file);
    dsl::CompileOptions compile;
    compile.file = contest.file;
    compile.analyze = dsl::AnalyzeWithIsl;
    compile.target = {.agents = 1, .workers = options.workers};
    const int64_t steps =
        contest.peer.steps + (contest.peer.is_second_order ? 1 : 0);
    compile.parameters = {{"N", absl::StrCat(contest.peer.extent[2])},
                          {"T", absl::StrCat(steps)}};
    if (!options.tile_sizes.empty()) {
      // The last one is the depth.
      dsl::TileShape shape{.widths = options.tile_sizes, .depth = 1};
      shape.depth = shape.widths.back();
      shape.widths.pop_back();
      compile.shape = std::move(shape);
    }
    dsl::Diagnostics diagnostics("", "");
    auto job = dsl::Compile(text, compile, KernelRegistry(), diagnostics);
    DOGGED_CHECK(job.ok()) << diagnostics.ToString();
    job_ = *std::move(job);
    auto kernels = dsl::LoadKernels(job_, KernelRegistry(), CachedCompiler());
    DOGGED_CHECK(kernels.ok()) << kernels.status().ToString();
    kernels_ = *std::move(kernels);
    Log(LogLevel::kInfo, absl::StrCat(contest.name, ": ", job_.lowering));
  }

  double Run() {
    values_.clear();
    const Relations relations(job_.program);
    LocalRun run(relations, kernels_,
                 {.placement = PlaceWorkersHere(workers_),
                  .on_result = [this](const Label& label, const Value& value) {
                    values_.emplace(label, value);
                    return absl::OkStatus();
                  }});
    return Seconds([&] {
      const absl::Status status = run.Run();
      DOGGED_CHECK(status.ok()) << status.ToString();
    });
  }

  bool HasBits(const std::vector<double>& expected) const {
    const auto dense =
        dsl::AssembleView(job_.program, job_.program.views.front(),
                          [this](const Label& label) -> absl::StatusOr<Value> {
                            return values_.at(label);
                          });
    DOGGED_CHECK(dense.ok()) << dense.status().ToString();
    const auto bytes = static_cast<int64_t>(expected.size() * sizeof(double));
    return dense->bytes() == bytes &&
           std::memcmp(dense->data(), expected.data(),
                       static_cast<size_t>(bytes)) == 0;
  }

 private:
  const int workers_;
  Job job_;
  KernelTable kernels_;
  absl::flat_hash_map<Label, Value> values_;
};

// Agents of this host, each contender started anew; heat2d of the contests.
struct AgentsContender {
  const char* name;
  int agents;
  int workers;
  int replicas;
  const char* ratio_to;  // one above; may be empty
};
constexpr AgentsContender kAgentsContenders[] = {
    {"heat2d_agents_1", 1, 2, 1, ""},
    {"heat2d_agents_4", 4, 1, 1, "heat2d_agents_1"},
    {"heat2d_agents_2", 2, 1, 1, ""},
    {"heat2d_agents_2_replicas_2", 2, 1, 2, "heat2d_agents_2"}};

// Times from a job's submission to its last result, also of processors, and the
// result.
struct AgentsOutcome {
  double seconds = 0;
  double cpu_seconds = 0;
  Value result;
};

AgentsOutcome RunOnAgents(const AgentsContender& contender, int64_t n,
                          int64_t steps) {
  AgentsRun agents(contender.agents, contender.workers);
  const double cpu_before = agents.CpuSeconds();
  AgentsOutcome out;
  AgentsRun::Outcome run;
  out.seconds = Seconds([&] {
    run = agents.Run(
        {.text = ReadProgram("heat2d/heat2d.dog"),
         .parameters = {{"N", std::to_string(n)}, {"T", std::to_string(steps)}},
         .replicas = contender.replicas});
  });
  out.cpu_seconds = agents.CpuSeconds() - cpu_before;
  const auto dense =
      dsl::AssembleView(run.program, run.program.views.front(),
                        [&](const Label& label) -> absl::StatusOr<Value> {
                          return run.results.at(label);
                        });
  DOGGED_CHECK(dense.ok()) << dense.status().ToString();
  out.result = *dense;
  return out;
}

std::vector<BenchRow> BenchStencilAgents(const BenchOptions& options) {
  std::map<std::string, std::vector<double>> seconds;
  std::map<std::string, std::vector<double>> cpu_seconds;
  Value first;
  for (int sample = 0; sample < options.samples; ++sample) {
    for (const AgentsContender& contender : kAgentsContenders) {
      const AgentsOutcome outcome =
          RunOnAgents(contender, options.n > 0 ? options.n : 4096, 200);
      seconds[contender.name].push_back(outcome.seconds);
      cpu_seconds[contender.name].push_back(outcome.cpu_seconds);
      if (first.IsNone()) first = outcome.result;
      DOGGED_CHECK(outcome.result.view() == first.view())
          << contender.name << ": bits differ";
    }
  }
  std::vector<BenchRow> rows;
  const auto add = [&](const AgentsContender& contender,
                       const std::string& suffix, auto& times) {
    BenchRow row{.name = contender.name + suffix,
                 .value = Median(times[contender.name]),
                 .unit = "s",
                 .samples = options.samples};
    if (*contender.ratio_to != '\0') {
      row.ratio_to = contender.ratio_to + suffix;
      row.ratio = row.value / Median(times[contender.ratio_to]);
    }
    rows.push_back(std::move(row));
  };
  for (const AgentsContender& contender : kAgentsContenders) {
    add(contender, "", seconds);
    add(contender, "_cpu", cpu_seconds);
  }
  return rows;
}

}  // namespace

std::vector<BenchRow> BenchStencil(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  for (const Contest& contest : Contests()) {
    if (!options.only.Takes(contest.name)) continue;
    OurRun ours(contest, options);
    std::vector<double> our_seconds;
    std::vector<double> naive_seconds;
    std::vector<double> tiled_seconds;
    std::vector<double> cpu_seconds;
    const auto run = [&] {
      const double before = CpuSeconds();
      our_seconds.push_back(ours.Run());
      cpu_seconds.push_back(CpuSeconds() - before);
    };
    for (int sample = 0; sample < options.samples; ++sample) {
      if (options.alone) {
        run();
        continue;
      }
      std::vector<double> naive;
      std::vector<double> tiled;
      naive_seconds.push_back(
          Seconds([&] { naive = RunNaive(contest.peer, options.workers); }));
      tiled_seconds.push_back(
          Seconds([&] { tiled = RunTiled(contest.peer, options.workers); }));
      run();
      DOGGED_CHECK(naive == tiled) << contest.name << ": the peers differ";
      DOGGED_CHECK(ours.HasBits(naive)) << contest.name << ": bits differ";
    }
    const std::string naive_name = contest.name + "_naive_openmp";
    const auto add = [&](const std::string& name,
                         const std::vector<double>& seconds) {
      // The ratio is of speeds: how many times as fast as the loop.
      rows.push_back({.name = name,
                      .value = Median(seconds),
                      .unit = "s",
                      .samples = options.samples,
                      .ratio_to = naive_name,
                      .ratio = Median(naive_seconds) / Median(seconds)});
    };
    rows.push_back({.name = contest.name + "_cpu",
                    .value = Median(cpu_seconds),
                    .unit = "s",
                    .samples = options.samples});
    if (options.alone) {
      rows.push_back({.name = contest.name,
                      .value = Median(our_seconds),
                      .unit = "s",
                      .samples = options.samples});
      continue;
    }
    add(contest.name, our_seconds);
    add(contest.name + "_tiled_by_hand", tiled_seconds);
    rows.push_back({.name = naive_name,
                    .value = Median(naive_seconds),
                    .unit = "s",
                    .samples = options.samples});
  }
  if (!options.alone && options.only.Takes("heat2d_agents")) {
    for (BenchRow& row : BenchStencilAgents(options)) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace dogged
