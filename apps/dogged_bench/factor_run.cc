#include "apps/dogged_bench/factor_run.h"

#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/report.h"
#include "dsl/analysis_isl.h"
#include "dsl/compile.h"
#include "runtime/base/check.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/local_run.h"

namespace dogged {
namespace {

using Tiles = absl::flat_hash_map<Task, Value>;

// Hands out what was made before.
class TakeKernel : public Kernel {
 public:
  explicit TakeKernel(Tiles& tiles) : tiles_(tiles) {}
  absl::Status Run(KernelCall& call) const override {
    call.outputs[0] = std::move(tiles_.at(call.task));
    return absl::OkStatus();
  }

 private:
  Tiles& tiles_;
};

}  // namespace

FactorRun::FactorRun(const std::string& name, int64_t n, int64_t tile_size,
                     const KernelRegistry& registry) {
  std::ifstream in(absl::StrCat(DOGGED_APPS_DIR, "/", name, "/", name, ".dog"));
  std::ostringstream text;
  text << in.rdbuf();
  dsl::CompileOptions compile;
  compile.file = name + ".dog";
  compile.analyze = dsl::AnalyzeWithIsl;
  compile.parameters = {{"N", absl::StrCat(n)}};
  if (tile_size > 0) {
    compile.parameters.emplace_back("NB", absl::StrCat(tile_size));
  }
  dsl::Diagnostics diagnostics("", "");
  auto job = dsl::Compile(text.str(), compile, registry, diagnostics);
  DOGGED_CHECK(job.ok()) << diagnostics.ToString();
  job_ = *std::move(job);
  auto kernels = dsl::LoadKernels(job_, registry, nullptr);
  DOGGED_CHECK(kernels.ok()) << kernels.status().ToString();
  kernels_ = *std::move(kernels);
}

double FactorRun::Run(int workers) {
  const Relations relations(job_.program);
  // All tasks of the input, in the place of their kernel one that takes.
  Tiles tiles;
  std::vector<std::pair<size_t, std::unique_ptr<Kernel>>> taken;
  for (size_t c = 0; c < job_.program.classes.size(); ++c) {
    const TaskClass& task_class = job_.program.classes[c];
    if (!task_class.uses.empty()) continue;
    const auto k = static_cast<size_t>(task_class.kernel);
    task_class.domain.ForEach([&](const IndexVector& index) {
      const Task task{.task_class = static_cast<int32_t>(c), .index = index};
      std::vector<Value> out(1);
      KernelCall call{
          .task = task, .inputs = {}, .outputs = absl::MakeSpan(out)};
      DOGGED_CHECK(kernels_[k]->Run(call).ok());
      tiles.emplace(task, std::move(out[0]));
      return true;
    });
    taken.emplace_back(
        k, std::exchange(kernels_[k], std::make_unique<TakeKernel>(tiles)));
  }
  std::vector<Value> results;
  LocalRun run(relations, kernels_,
               {.placement = PlaceWorkersHere(workers),
                .on_result = [&](const Label&, const Value& value) {
                  results.push_back(value);
                  return absl::OkStatus();
                }});
  const double seconds = Seconds([&] {
    const absl::Status status = run.Run();
    DOGGED_CHECK(status.ok()) << status.ToString();
  });
  for (auto& [k, kernel] : taken) kernels_[k] = std::move(kernel);
  return seconds;
}

}  // namespace dogged
