// The results that simulations are compared with, and the seeds that they take.
#ifndef DOGGED_TESTS_SIM_SERIAL_H_
#define DOGGED_TESTS_SIM_SERIAL_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"
#include "runtime/agent/job_tools.h"
#include "runtime/exec/local_run.h"
#include "tests/sim/programs.h"

namespace dogged {

// By one worker, without agents.
inline std::map<Label, Digest> SerialResults(
    const Job& job,
    absl::FunctionRef<absl::StatusOr<LoadedKernels>(const Job&)> load =
        LoadMixKernels) {
  const Relations relations(job.program);
  const KernelTable kernels = std::move(load(job)->table);
  std::map<Label, Digest> out;
  LocalRunOptions options;
  options.placement = PlaceWorkers(FlatCpuLayout(1), 1);
  options.on_result = [&out](const Label& label, const Value& value) {
    out[label] = value.digest();
    return absl::OkStatus();
  };
  LocalRun run(relations, kernels, options);
  EXPECT_TRUE(run.Run().ok());
  return out;
}

// DOGGED_TEST_SEEDS=A:B runs these seeds instead of the first `count`.
inline std::pair<int64_t, int64_t> SeedRange(int64_t count) {
  const char* text = std::getenv("DOGGED_TEST_SEEDS");
  long long first = 1;
  long long last = count;
  if (text != nullptr) std::sscanf(text, "%lld:%lld", &first, &last);
  return {first, last};
}

}  // namespace dogged

#endif  // DOGGED_TESTS_SIM_SERIAL_H_
