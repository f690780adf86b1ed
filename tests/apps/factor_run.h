// Runs a factorisation of apps/ from its text in this process, for tests.
#ifndef DOGGED_TESTS_APPS_FACTOR_RUN_H_
#define DOGGED_TESTS_APPS_FACTOR_RUN_H_

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/tiles/blas_kernels.h"
#include "apps/verify/verdict.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/load_kernels.h"
#include "dsl/results.h"
#include "runtime/base/random.h"
#include "runtime/base/status.h"
#include "tests/dsl/foretold_kernels.h"

namespace dogged {

struct FactorRun {
  Job job;
  KernelTable kernels;
  std::map<Label, Value> results;

  absl::StatusOr<Value> Find(const Label& label) const {
    const auto found = results.find(label);
    if (found == results.end()) return absl::NotFoundError("no such result");
    return found->second;
  }
  // The result set at that position as one array.
  absl::StatusOr<Value> View(size_t position) const {
    return dsl::AssembleView(
        job.program, job.program.views[position],
        [this](const Label& label) { return Find(label); });
  }
  // A copy of a result to write to, which takes its place.
  Value& Spoil(absl::string_view array, const IndexVector& index) {
    Value& value = results.at({*job.program.FindArray(array), index});
    Value copy = Value::Allocate(value.type(), value.shape());
    std::memcpy(copy.mutable_data(), value.data(),
                static_cast<size_t>(value.bytes()));
    value = copy;
    return value;
  }
};

// apps/`name`/`name`.dog; `registry` outlives the run. `input` may be none.
inline absl::StatusOr<FactorRun> RunFactor(const std::string& name, int64_t n,
                                           int64_t tile_columns,
                                           const Value& input,
                                           const KernelRegistry& registry) {
  std::ifstream file(DOGGED_APPS_DIR "/" + name + "/" + name + ".dog");
  std::stringstream text;
  text << file.rdbuf();
  dsl::CompileOptions options;
  options.file = name + ".dog";
  options.analyze = dsl::AnalyzeWithIsl;
  options.parameters = {{"N", std::to_string(n)},
                        {"NB", std::to_string(tile_columns)}};
  if (!input.IsNone()) options.inputs.emplace("A", input);
  dsl::Diagnostics diagnostics("", "");
  FactorRun out;
  DOGGED_ASSIGN_OR_RETURN(
      out.job, dsl::Compile(text.str(), options, registry, diagnostics));
  DOGGED_ASSIGN_OR_RETURN(KernelTable kernels,
                          dsl::LoadKernels(out.job, registry, nullptr));
  out.kernels = Foretold(std::move(kernels));
  const Relations relations(out.job.program);
  DOGGED_RETURN_IF_ERROR(
      dsl::RunSerially(relations, out.kernels,
                       [&](const Label& label, const Value& value) {
                         out.results[label] = value;
                         return absl::OkStatus();
                       })
          .status());
  return out;
}

inline Value Dense(int64_t n, const std::vector<double>& elements) {
  Value out = Value::Allocate(ElementType::kDouble, {n, n});
  std::memcpy(out.mutable_data(), elements.data(),
              static_cast<size_t>(out.bytes()));
  out.Seal();
  return out;
}

inline std::vector<double> RandomMatrix(int64_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<double> out(static_cast<size_t>(n * n));
  for (double& x : out) x = rng.Unit() - 0.5;
  return out;
}

}  // namespace dogged

#endif  // DOGGED_TESTS_APPS_FACTOR_RUN_H_
