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
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/load_kernels.h"
#include "runtime/base/check.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/local_run.h"
#include "runtime/exec/worker_threads.h"

namespace dogged {
namespace {

using Tiles = absl::flat_hash_map<Task, Value>;

std::vector<Value> CopiesOf(absl::Span<const Value> values) {
  std::vector<Value> out;
  for (const Value& value : values) {
    out.push_back(value.IsNone() ? Value() : value.Copy());
  }
  return out;
}

// Hands out values that were made before.
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

// Adds up the time of another kernel.
class TimedKernel : public Kernel {
 public:
  TimedKernel(const Kernel& inner, FactorRun::KernelTime& time)
      : inner_(inner), time_(time) {}
  absl::Status Run(KernelCall& call) const override {
    // Before the call: it takes inputs.
    const double flops = inner_.Flops(call.task);
    absl::Status status;
    const double seconds = Seconds([&] { status = inner_.Run(call); });
    const std::lock_guard lock(mutex_);
    time_.seconds += seconds;
    time_.flops += flops;
    return status;
  }

 private:
  const Kernel& inner_;
  FactorRun::KernelTime& time_;
  mutable std::mutex mutex_;
};

// Notes the calls of another kernel.
class NotingKernel : public Kernel {
 public:
  NotingKernel(const Kernel& inner, FactorRun::Calls& calls)
      : inner_(inner), calls_(calls) {}
  absl::Status Run(KernelCall& call) const override {
    const double flops = inner_.Flops(call.task);
    {
      const std::lock_guard lock(mutex_);
      calls_.flops += flops;
      if (flops > calls_.largest_flops) {
        calls_.largest_flops = flops;
        calls_.largest = call.task;
        calls_.inputs = CopiesOf(call.inputs);
        calls_.output_count = call.outputs.size();
      }
    }
    return inner_.Run(call);
  }

 private:
  const Kernel& inner_;
  FactorRun::Calls& calls_;
  mutable std::mutex mutex_;
};

// Operations a second of `kernel` on one worker of `workers` that all run it.
double WarmRate(const Kernel& kernel, const FactorRun::Calls& calls,
                int workers) {
  constexpr int kRepeats = 20;
  std::vector<double> seconds(static_cast<size_t>(workers));
  {
    const WorkerThreads threads(PlaceWorkersHere(workers), [&](int worker) {
      std::vector<double> samples;
      for (int i = 0; i < kRepeats; ++i) {
        std::vector<Value> inputs = CopiesOf(calls.inputs);
        std::vector<Value> outputs(calls.output_count);
        KernelCall call{.task = calls.largest,
                        .inputs = absl::MakeSpan(inputs),
                        .outputs = absl::MakeSpan(outputs)};
        samples.push_back(
            Seconds([&] { DOGGED_CHECK(kernel.Run(call).ok()); }));
      }
      seconds[worker] = Median(std::move(samples));
    });
    DOGGED_CHECK(threads.status().ok()) << threads.status().ToString();
  }
  return calls.largest_flops / Median(std::move(seconds));
}

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

double FactorRun::RunWrapped(int workers, Wrap wrap) {
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
  KernelTable wrapped;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    wrapped.push_back(wrap(*kernels_[k], job_.program.kernels[k].name));
  }
  std::vector<Value> results;
  LocalRun run(relations, wrapped,
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

double FactorRun::Run(int workers) {
  const double seconds =
      RunWrapped(workers, [&](const Kernel& inner, const std::string& name) {
        return std::make_unique<TimedKernel>(inner, times_[name]);
      });
  worker_seconds_ += seconds * workers;
  return seconds;
}

double FactorRun::KernelBoundSeconds(int workers) {
  std::map<std::string, Calls> noted;
  RunWrapped(workers, [&](const Kernel& inner, const std::string& name) {
    return std::make_unique<NotingKernel>(inner, noted[name]);
  });
  double seconds = 0;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    const Calls& calls = noted[job_.program.kernels[k].name];
    if (calls.flops == 0) continue;
    seconds += calls.flops / WarmRate(*kernels_[k], calls, workers);
  }
  return seconds / workers;
}

}  // namespace dogged
