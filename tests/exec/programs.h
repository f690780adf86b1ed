// Small programs and kernels that the tests of exec run.
#ifndef DOGGED_TESTS_EXEC_PROGRAMS_H_
#define DOGGED_TESTS_EXEC_PROGRAMS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/graph/builder.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"

namespace dogged {

// A kernel that is a function.
class FunctionKernel : public Kernel {
 public:
  explicit FunctionKernel(std::function<absl::Status(KernelCall&)> function)
      : function_(std::move(function)) {}
  absl::Status Run(KernelCall& call) const override { return function_(call); }
  double Flops(const Task&) const override { return 1; }

 private:
  const std::function<absl::Status(KernelCall&)> function_;
};

inline KernelTable OneKernel(
    std::function<absl::Status(KernelCall&)> function) {
  KernelTable out;
  out.push_back(std::make_unique<FunctionKernel>(std::move(function)));
  return out;
}

// Binds every output to the sum of all inputs plus 1.
inline absl::Status AddUp(KernelCall& call) {
  double sum = 1;
  for (const Value& input : call.inputs) {
    if (!input.IsNone()) sum += input.span<double>()[0];
  }
  for (Value& output : call.outputs) output = Value::Scalar(sum);
  return absl::OkStatus();
}

inline Guard AtLeastZero(AffineExpr expr) { return {{{{.expr = expr}}}}; }

// n x n tasks, each requiring its left and its upper neighbour where it has
// one. With AddUp the corner value is C(2n, n) - 1 modulo rounding.
inline Program Wavefront(int64_t n) {
  ProgramBuilder b("wavefront");
  const int32_t w = b.AddArray({.name = "w", .rank = 2});
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr j = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"i", 0, n - 1}, {"j", 0, n - 1}}),
              .creates = {{w, {i, j}}},
              .uses = {{w, {i - one, j}, AtLeastZero(i - one)},
                       {w, {i, j - one}, AtLeastZero(j - one)}},
              .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(w, Domain::Box({{"i", n - 1, n - 1}, {"j", n - 1, n - 1}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

// A task that `width` tasks require, whose outputs are all results.
inline Program WideRelease(int64_t width) {
  ProgramBuilder b("wide");
  const int32_t root = b.AddArray({.name = "root", .rank = 0});
  const int32_t leaf = b.AddArray({.name = "leaf", .rank = 1});
  const int32_t add = b.AddKernel({"add", "test", ""});
  b.AddClass({.name = "start", .creates = {{root, {}}}, .kernel = add});
  b.AddClass({.name = "fan",
              .domain = Domain::Box({{"i", 0, width - 1}}),
              .creates = {{leaf, {AffineExpr::Index(0)}}},
              .uses = {{root, {}, {}}},
              .kernel = add});
  b.AddResult(leaf, Domain::Box({{"i", 0, width - 1}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

// A stencil of `n` points and `steps` steps, edges from themselves; the results
// are points 0 to `result_last` of step `result_step`. Not proved needed.
inline Program Stencil(int64_t n, int64_t steps, int64_t result_step,
                       int64_t result_last) {
  ProgramBuilder b("stencil");
  const int32_t phi = b.AddArray({.name = "phi", .rank = 2});
  const AffineExpr x = AffineExpr::Index(0);
  const AffineExpr t = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  const AffineExpr last = AffineExpr::Constant(n - 1);
  const AffineExpr before = t - one;
  const auto inner = [&](AffineExpr bound) {
    return Guard{{{{.expr = before}, {.expr = bound}}}};
  };
  b.AddClass({.name = "diff",
              .domain = Domain::Box({{"x", 0, n - 1}, {"t", 0, steps}}),
              .creates = {{phi, {x, t}}},
              .uses = {{phi, {x - one, before}, inner(x - one)},
                       {phi, {x, before}, AtLeastZero(before)},
                       {phi, {x + one, before}, inner(last - x - one)}},
              .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(phi, Domain::Box({{"x", 0, result_last},
                                {"t", result_step, result_step}}));
  return std::move(b).Build().value();
}

}  // namespace dogged

#endif  // DOGGED_TESTS_EXEC_PROGRAMS_H_
