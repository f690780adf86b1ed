// Programs for simulations that read an input in chunks.
#ifndef DOGGED_TESTS_SIM_INPUT_PROGRAMS_H_
#define DOGGED_TESTS_SIM_INPUT_PROGRAMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/sim/programs.h"

namespace dogged {

// As a MixKernel, of three rows of the job's input, too: from that on which the
// task's index names.
class InputMixKernel : public MixKernel {
 public:
  explicit InputMixKernel(InputArray input) : input_(std::move(input)) {}
  absl::Status Run(KernelCall& call) const override {
    const absl::Status status = MixKernel::Run(call);
    const DenseBox box = BoxOf(call.task);
    std::vector<double> rows(static_cast<size_t>(ElementCount(box.extents)));
    if (absl::Status read = input_.Read(box, rows.data()); !read.ok()) {
      return read;
    }
    uint64_t mix = 0;
    for (const double x : rows) mix = Mix64(mix, static_cast<uint64_t>(x));
    const double number = call.outputs[0].span<double>()[0];
    call.outputs[0] = Value::Scalar(
        static_cast<double>(Mix64(mix, static_cast<uint64_t>(number)) >> 12));
    return status;
  }
  bool ReadsInputs() const override { return true; }
  void ForEachInputRead(
      const Task& task,
      absl::FunctionRef<void(int32_t, const DenseBox&)> f) const override {
    f(0, BoxOf(task));
  }

 private:
  DenseBox BoxOf(const Task& task) const {
    const int64_t first = std::min(task.index[0], input_.shape()[0] - 3);
    return {.first = {first, 0}, .extents = {3, input_.shape()[1]}};
  }

  const InputArray input_;
};

inline absl::StatusOr<KernelTable> LoadInputMixKernels(const Job& job) {
  KernelTable out;
  for (const KernelSpec& spec : job.program.kernels) {
    if (spec.name != "input") {
      out.push_back(std::make_unique<MixKernel>());
      continue;
    }
    InputArray input = job.InputAt(0);
    if (input.IsNone()) return absl::InvalidArgumentError("no input");
    out.push_back(std::make_unique<InputMixKernel>(std::move(input)));
  }
  return out;
}

// As `job`, whose first class reads an input of 128 x 128 numbers in 64 chunks.
inline Job WithInput(Job job) {
  job.program.classes[0].kernel =
      static_cast<int32_t>(job.program.kernels.size());
  job.program.kernels.push_back({"input", "test", ""});
  Value content = Value::Allocate(ElementType::kDouble, {128, 128});
  double next = 1;
  for (double& x : content.mutable_span<double>())
    x = next = std::fmod(next * 31 + 7, 1e6 + 3);
  content.Seal();
  job.inputs.push_back({.array = "S", .content = std::move(content)});
  job.cuts = {{16, 16}};
  job.CutInputs();
  return job;
}

}  // namespace dogged

#endif  // DOGGED_TESTS_SIM_INPUT_PROGRAMS_H_
