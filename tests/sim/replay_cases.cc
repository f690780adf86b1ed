#include "tests/sim/replay_cases.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/load_kernels.h"
#include "runtime/base/check.h"
#include "tests/sim/faults.h"
#include "tests/sim/input_programs.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

absl::StatusOr<LoadedKernels> LoadInterpreted(const Job& job) {
  return dsl::LoadKernels(job, KernelRegistry(), /*compile=*/nullptr);
}

// A program of the tree. Tiles are of a given shape, so that the choice of one
// may change.
Job Compiled(const std::string& file, dsl::ParameterValues parameters,
             std::optional<dsl::TileShape> shape = std::nullopt) {
  std::ifstream in(absl::StrCat(DOGGED_SOURCE_DIR, "/", file));
  std::ostringstream text;
  text << in.rdbuf();
  dsl::CompileOptions options;
  options.file = "replay.dog";
  options.analyze = dsl::AnalyzeWithIsl;
  options.parameters = std::move(parameters);
  options.compiled = false;
  options.coalesce = shape.has_value();
  options.shape = std::move(shape);
  dsl::Diagnostics diagnostics("", "");
  absl::StatusOr<Job> job =
      dsl::Compile(text.str(), options, KernelRegistry(), diagnostics);
  DOGGED_CHECK(job.ok()) << file << ": " << job.status().ToString()
                         << diagnostics.ToString();
  // Words for people, which change nothing.
  job->source.clear();
  job->lowering.clear();
  return *std::move(job);
}

class Cases {
 public:
  void Add(const std::string& name, Job job, SimOptions options, int64_t seeds,
           KernelLoader load = LoadMixKernels) {
    cases_.push_back(
        {name, std::move(job), std::move(load), std::move(options), seeds});
  }
  std::vector<ReplayCase> Take() { return std::move(cases_); }

 private:
  std::vector<ReplayCase> cases_;
};

void AddLanguage(Cases& out) {
  const SimOptions calm{.agents = 4};
  const SimOptions many{.agents = 6, .faults = ManyFaults()};
  const Job tiles =
      Compiled("apps/heat1d/heat1d.dog", {{"N", "101"}, {"T", "20"}},
               dsl::TileShape{.widths = {10}, .depth = 2});
  out.Add("heat1d_tiles/calm", tiles, calm, 10, LoadInterpreted);
  out.Add("heat1d_tiles/many", tiles, many, 30, LoadInterpreted);
  const Job points =
      Compiled("apps/heat1d/heat1d.dog", {{"N", "41"}, {"T", "12"}});
  out.Add("heat1d_points/calm", points, calm, 10, LoadInterpreted);
  out.Add("heat1d_points/many", points, many, 20, LoadInterpreted);
  const Job loop =
      Compiled("apps/jacobi/jacobi.dog", {{"N", "16"}, {"bound", "0.01"}},
               dsl::TileShape{.widths = {8, 8}, .depth = 5});
  out.Add("loop_tiles/calm", loop, calm, 5, LoadInterpreted);
  out.Add("loop_tiles/many", loop, many, 15, LoadInterpreted);
  const Job loop_points =
      Compiled("apps/jacobi/jacobi.dog", {{"N", "5"}, {"bound", "0.1"}});
  out.Add("loop_points/many", loop_points, many, 5, LoadInterpreted);
  const Job wide = Compiled("tests/sim/programs/wide_labels.dog",
                            {{"T", "3"}, {"early", "1"}});
  out.Add("wide_labels/calm", wide, calm, 5, LoadInterpreted);
  out.Add("wide_labels/many", wide, many, 10, LoadInterpreted);
  out.Add("wide_labels/search", wide,
          {.agents = 4, .job = {.search_only = true}}, 3, LoadInterpreted);
}

void AddGraphs(Cases& out) {
  const SimOptions many{.agents = 6, .faults = ManyFaults()};
  const SimOptions one_copy{
      .agents = 5, .job = {.replicas = 1}, .faults = {.crash = 1}};
  const Job cholesky = CholeskyJob(8);
  out.Add("cholesky/calm", cholesky, {.agents = 4}, 10);
  out.Add("cholesky/many", cholesky, many, 30);
  out.Add("cholesky/one_copy", cholesky, one_copy, 10);
  out.Add("qr/many", QrJob(8), many, 20);
  const Job stencil = Heat1dJob(61, 16, 8);
  out.Add("stencil/many", stencil, many, 30);
  out.Add("stencil/one_copy", stencil, one_copy, 10);
  out.Add("stencil/pairs", stencil, {.agents = 5, .faults = {.pair = 1}}, 10);
  out.Add("stencil/moves", stencil,
          {.agents = 5, .faults = {.join = 2, .leave = 2}}, 10);
  out.Add("chain/many", SweepsJob(30, 4, 10), many, 10);
  const SimOptions search{
      .agents = 6, .job = {.search_only = true}, .faults = ManyFaults()};
  out.Add("search/stencil", Heat1dJob(31, 8, 4), search, 10);
  out.Add("search/cholesky", CholeskyJob(6), search, 10);
  out.Add("search/no_claims", CholeskyJob(6),
          {.agents = 4, .job = {.search_only = true, .claims = false}}, 5);
}

void AddDisks(Cases& out) {
  FaultPlan plan{.crash = 1, .restart = 3, .join = 1, .blackout = 1};
  plan.network = {.drop = 0.02, .duplicate = 0.02, .reorder = 0.02};
  SimOptions disks{.agents = 5, .faults = plan, .directories = true};
  out.Add("directories/stencil", Heat1dJob(61, 16, 8), disks, 10);
  disks.disk = {.corrupt = 0.1};
  out.Add("directories/cholesky", CholeskyJob(8), disks, 10);
  SimOptions memory{.agents = 4,
                    .faults = {.crash = 1, .pause = 1, .join = 1},
                    .spill = true};
  memory.job_limits.memory_bytes_max = 150'000;
  out.Add("memory/cholesky", CholeskyJob(8), memory, 10, LoadLargeMixKernels);
  memory.disk = {.lose = 0.05};
  out.Add("memory/stencil", Heat1dJob(61, 10, 8), memory, 5,
          LoadLargeMixKernels);
}

void AddOthers(Cases& out) {
  FaultPlan plan = ManyFaults();
  plan.pause = 4;
  out.Add("lending/cholesky", CholeskyJob(8),
          {.agents = 6, .faults = plan, .hosts = 2, .arena_bytes = 1 << 18},
          10);
  SimOptions streams{.agents = 5,
                     .faults = {.crash = 1, .join = 1, .leave = 1},
                     .arena_bytes = 0,
                     .stream_bytes_min = 512};
  streams.job_limits.credit_bytes = 20'000;
  streams.job_limits.offer_bytes_min = 0;
  out.Add("streams/cholesky", CholeskyJob(6), streams, 5, LoadLargeMixKernels);
  out.Add("clients/two", Heat1dJob(41, 10, 8),
          {.agents = 4,
           .second_client = true,
           .faults = {.crash = 1, .join = 1, .leave = 1}},
          10);
  out.Add("clients/none", CholeskyJob(6),
          {.agents = 4,
           .client_stays = false,
           .faults = {.crash = 1, .join = 1},
           .fault_span = absl::Seconds(2)},
          10);
  out.Add("sick/cholesky", CholeskyJob(8),
          {.agents = 5, .faults = {.join = 1, .sick = 2}}, 10);
  Job foreign = CholeskyJob(6);
  foreign.numeric_class = "native";
  out.Add("foreign/cholesky", foreign,
          {.agents = 6, .foreign_agents = 2, .faults = {.crash = 1}}, 5);
  SimOptions inputs{.agents = 5, .faults = {.crash = 1, .join = 1}};
  inputs.limits.job_part_bytes = 2000;
  inputs.limits.input_window_bytes = 16 << 10;
  inputs.limits.input_cache_bytes = 16 << 10;
  out.Add("inputs/stencil", WithInput(Heat1dJob(61, 8, 8)), inputs, 10,
          LoadInputMixKernels);
}

}  // namespace

std::vector<ReplayCase> ReplayCases() {
  Cases out;
  AddLanguage(out);
  AddGraphs(out);
  AddDisks(out);
  AddOthers(out);
  return out.Take();
}

}  // namespace dogged
