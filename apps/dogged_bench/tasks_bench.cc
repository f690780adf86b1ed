#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/peers/openmp.h"
#ifdef DOGGED_TBB_PEER
#include "apps/dogged_bench/peers/tbb.h"
#endif
#include "runtime/base/check.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/local_run.h"
#include "runtime/graph/builder.h"

namespace dogged {
namespace {

// Binds one double and does nothing else.
class EmptyKernel : public Kernel {
 public:
  absl::Status Run(KernelCall& call) const override {
    for (Value& output : call.outputs) {
      output = Value::Allocate(ElementType::kDouble, {});
      output.mutable_span<double>()[0] = 1;
    }
    return absl::OkStatus();
  }
};

// The only result is the last task, which starts last.
Program Independent(int64_t count) {
  ProgramBuilder b("independent");
  const int32_t x = b.AddArray({.name = "x", .rank = 1});
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"i", 0, count - 1}}),
              .creates = {{x, {AffineExpr::Index(0)}}},
              .kernel = b.AddKernel({"empty", "bench", ""})});
  b.AddResult(x, Domain::Box({{"i", count - 1, count - 1}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

Program Wavefront(int64_t n) {
  ProgramBuilder b("wavefront");
  const int32_t w = b.AddArray({.name = "w", .rank = 2});
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr j = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"i", 0, n - 1}, {"j", 0, n - 1}}),
              .creates = {{w, {i, j}}},
              .uses = {{w, {i - one, j}, {{{{.expr = i - one}}}}},
                       {w, {i, j - one}, {{{{.expr = j - one}}}}}},
              .kernel = b.AddKernel({"empty", "bench", ""})});
  b.AddResult(w, Domain::Box({{"i", n - 1, n - 1}, {"j", n - 1, n - 1}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

Program WideRelease(int64_t count) {
  ProgramBuilder b("wide");
  const int32_t root = b.AddArray({.name = "root", .rank = 0});
  const int32_t x = b.AddArray({.name = "x", .rank = 1});
  const int32_t empty = b.AddKernel({"empty", "bench", ""});
  b.AddClass({.name = "start", .creates = {{root, {}}}, .kernel = empty});
  b.AddClass({.name = "fan",
              .domain = Domain::Box({{"i", 0, count - 1}}),
              .creates = {{x, {AffineExpr::Index(0)}}},
              .uses = {{root, {}, {}}},
              .kernel = empty});
  b.AddResult(x, Domain::Box({{"i", 0, count - 1}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

// Seconds that a run of `program` takes, threads' start included.
double RunSeconds(const Program& program, int workers) {
  const Relations relations(program);
  KernelTable kernels;
  kernels.push_back(std::make_unique<EmptyKernel>());
  LocalRun run(relations, kernels, {.placement = PlaceWorkersHere(workers)});
  return Seconds([&] {
    const absl::Status status = run.Run();
    DOGGED_CHECK(status.ok()) << status.ToString();
  });
}

struct Peer {
  std::string name;
  std::function<void()> run;
};

struct Contest {
  std::string name;
  Program program;
  std::vector<Peer> peers;
};

// By turns; nanoseconds of each of `tasks` tasks.
void Measure(const Contest& contest, double tasks, const BenchOptions& options,
             std::vector<BenchRow>& rows) {
  std::vector<double> ours;
  std::vector<std::vector<double>> theirs(contest.peers.size());
  for (int sample = 0; sample < options.samples; ++sample) {
    ours.push_back(RunSeconds(contest.program, options.workers) * 1e9 / tasks);
    for (size_t p = 0; p < theirs.size(); ++p) {
      theirs[p].push_back(Seconds(contest.peers[p].run) * 1e9 / tasks);
    }
  }
  const auto row = [&](const std::string& name, double value) {
    return BenchRow{.name = name,
                    .value = value,
                    .unit = "ns/task",
                    .samples = options.samples};
  };
  if (theirs.empty()) rows.push_back(row(contest.name, Median(ours)));
  for (size_t p = 0; p < theirs.size(); ++p) {
    const std::string peer = contest.name + "_" + contest.peers[p].name;
    rows.push_back(row(contest.name, Median(ours)));
    rows.back().ratio_to = peer;
    rows.back().ratio = Median(ours) / Median(theirs[p]);
    rows.push_back(row(peer, Median(theirs[p])));
  }
}

}  // namespace

std::vector<BenchRow> BenchTasks(const BenchOptions& options) {
  const int64_t n = options.n > 0 ? options.n : 1000;
  const int workers = options.workers;
  const auto tasks = static_cast<double>(n * n);
  std::vector<BenchRow> rows;
  // First, while the peak is still ours alone.
  RunSeconds(Wavefront(100), workers);
  const int64_t before = PeakRssBytes();
  RunSeconds(Wavefront(n), workers);
  rows.push_back({.name = "wavefront_bytes",
                  .value = static_cast<double>(PeakRssBytes() - before) / tasks,
                  .unit = "B/task",
                  .samples = 1});
  Contest contests[] = {{"independent", Independent(n * n), {}},
                        {"wavefront", Wavefront(n), {}},
                        {"wide_release", WideRelease(n * n), {}}};
  if (!options.alone) {
    contests[0].peers = {
        {"openmp", [=] { OpenMpIndependent(n * n, workers); }}};
    contests[1].peers = {{"openmp", [=] { OpenMpWavefront(n, workers); }}};
    contests[2].peers = {
        {"openmp", [=] { OpenMpWideRelease(n * n, workers); }}};
#ifdef DOGGED_TBB_PEER
    contests[0].peers.push_back(
        {"tbb", [=] { TbbIndependent(n * n, workers); }});
    contests[1].peers.push_back({"tbb", [=] { TbbWavefront(n, workers); }});
    contests[2].peers.push_back(
        {"tbb", [=] { TbbWideRelease(n * n, workers); }});
#endif
  }
  for (const Contest& contest : contests) {
    if (options.only.Takes(contest.name)) {
      Measure(contest, tasks, options, rows);
    }
  }
  return rows;
}

}  // namespace dogged
