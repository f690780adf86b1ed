// Small programs for simulations, with kernels whose result depends on every
// input and on the task.
#ifndef DOGGED_TESTS_SIM_PROGRAMS_H_
#define DOGGED_TESTS_SIM_PROGRAMS_H_

#include <memory>
#include <string>

#include "runtime/graph/builder.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"

namespace dogged {

// Mixes task and inputs into one number; any lost, doubled or swapped input
// shows in every result behind it.
class MixKernel : public Kernel {
 public:
  absl::Status Run(KernelCall& call) const override {
    uint64_t mix = call.task.Hash();
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      mix = Mix64(mix, i);
      if (!call.inputs[i].IsNone()) {
        // Digest of the bytes as they are, not as announced.
        mix = Mix64(mix, Hash128(call.inputs[i].view()).low);
      }
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      call.outputs[i] = Value::Scalar(static_cast<double>(Mix64(mix, i) >> 12));
    }
    return absl::OkStatus();
  }
};

inline absl::StatusOr<KernelTable> LoadMixKernels(const Job& job) {
  KernelTable out;
  for (size_t i = 0; i < job.program.kernels.size(); ++i) {
    out.push_back(std::make_unique<MixKernel>());
  }
  return out;
}

// As MixKernel, in the place of the first input if nobody else holds that.
class UpdatingMixKernel : public MixKernel {
 public:
  // `in_place` counts; outlives the kernel.
  explicit UpdatingMixKernel(int64_t* in_place) : in_place_(in_place) {}
  bool Updates(int use) const override { return use == 0; }
  absl::Status Run(KernelCall& call) const override {
    const absl::Status status = MixKernel::Run(call);
    if (call.inputs.empty() || !call.inputs[0].IsUnique()) return status;
    ++*in_place_;
    const double number = call.outputs[0].span<double>()[0];
    call.outputs[0] = TakeOrCopy(call.inputs[0]);
    call.outputs[0].mutable_span<double>()[0] = number;
    return status;
  }

 private:
  int64_t* const in_place_;
};

// As MixKernel, in values of `count` numbers, one per task: for tests of
// memory.
class LargeMixKernel : public Kernel {
 public:
  explicit LargeMixKernel(int64_t count) : count_(count) {}
  absl::Status Run(KernelCall& call) const override {
    const absl::Status status = MixKernel().Run(call);
    for (Value& output : call.outputs) {
      const double number = output.span<double>()[0];
      output = Value::Allocate(ElementType::kDouble, {count_});
      for (double& element : output.mutable_span<double>()) element = number;
      output.Seal();
    }
    return status;
  }
  ByteCounts OutputBytes(const Task&) const override {
    return {count_ * ElementBytes(ElementType::kDouble)};
  }

 private:
  const int64_t count_;
};

inline absl::StatusOr<KernelTable> LoadLargeMixKernels(const Job& job) {
  KernelTable out;
  for (size_t i = 0; i < job.program.kernels.size(); ++i) {
    out.push_back(std::make_unique<LargeMixKernel>(1000));
  }
  return out;
}

// phi(x)(t), 3-point, initial and edge tasks; results at the last step. Keys
// are slabs of `slab` points.
inline Job Heat1dJob(int64_t n, int64_t steps, int64_t slab) {
  const AffineExpr x = AffineExpr::Index(0);
  const AffineExpr t = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  ProgramBuilder b("heat1d");
  const int32_t phi = b.AddArray({.name = "phi",
                                  .rank = 2,
                                  .affinity_block = {slab, 0},
                                  .version_index = 1});
  const int32_t kernel = b.AddKernel({"mix", "test", ""});
  b.AddClass({.name = "initial",
              .domain = Domain::Box({{"x", 0, n - 1}}),
              .creates = {{phi, {x, AffineExpr::Constant(0)}}},
              .kernel = kernel});
  for (const int64_t edge : {int64_t{0}, n - 1}) {
    b.AddClass({.name = "edge",
                .domain = Domain::Box({{"t", 1, steps}}),
                .creates = {{phi, {AffineExpr::Constant(edge), x}}},
                .kernel = kernel});
  }
  b.AddClass({.name = "finDiff",
              .domain = Domain::Box({{"x", 1, n - 2}, {"t", 1, steps}}),
              .creates = {{phi, {x, t}}},
              .uses = {{phi, {x, t - one}, {}},
                       {phi, {x - one, t - one}, {}},
                       {phi, {x + one, t - one}, {}}},
              .kernel = kernel,
              .priority = t * -1});
  b.AddResult(phi, Domain::Box({{"x", 0, n - 1}, {"t", steps, steps}}));
  b.SetEveryTaskNeeded();
  return Job{.program = *std::move(b).Build()};
}

// n x n tasks, each after its upper and its left neighbour; the last is the
// result. A row has one key.
inline Job WavefrontJob(int64_t n) {
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr j = AffineExpr::Index(1);
  const AffineExpr zero = AffineExpr::Constant(0);
  const AffineExpr one = AffineExpr::Constant(1);
  ProgramBuilder b("wavefront");
  const int32_t w = b.AddArray(
      {.name = "w", .rank = 2, .affinity_block = {1, 0}, .version_index = 1});
  const int32_t kernel = b.AddKernel({"mix", "test", ""});
  b.AddClass(
      {.name = "corner", .creates = {{w, {zero, zero}}}, .kernel = kernel});
  b.AddClass({.name = "top",
              .domain = Domain::Box({{"j", 1, n - 1}}),
              .creates = {{w, {zero, i}}},
              .uses = {{w, {zero, i - one}, {}}},
              .kernel = kernel});
  b.AddClass({.name = "left",
              .domain = Domain::Box({{"i", 1, n - 1}}),
              .creates = {{w, {i, zero}}},
              .uses = {{w, {i - one, zero}, {}}},
              .kernel = kernel});
  b.AddClass({.name = "inner",
              .domain = Domain::Box({{"i", 1, n - 1}, {"j", 1, n - 1}}),
              .creates = {{w, {i, j}}},
              .uses = {{w, {i - one, j}, {}}, {w, {i, j - one}, {}}},
              .kernel = kernel});
  b.AddResult(w, Domain::Box({{"i", n - 1, n - 1}, {"j", n - 1, n - 1}}));
  b.SetEveryTaskNeeded();
  return Job{.program = *std::move(b).Build()};
}

// In each step a sweep forward, d(1) to d(n), and a sweep back, u(n) to u(1): a
// single chain of 2 n steps tasks, which only one agent at a time can work on.
inline Job SweepsJob(int64_t n, int64_t steps, int64_t slab) {
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr t = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  ProgramBuilder b("sweeps");
  const auto array = [&](const char* name) {
    return b.AddArray({.name = name,
                       .rank = 2,
                       .affinity_block = {slab, 0},
                       .version_index = 1});
  };
  const int32_t u = array("u");
  const int32_t d = array("d");
  const int32_t kernel = b.AddKernel({"mix", "test", ""});
  const auto all = Domain::Box({{"i", 1, n}, {"t", 1, steps}});
  const auto at_least = [](AffineExpr e) { return Guard{{{{.expr = e}}}}; };
  b.AddClass({.name = "initial",
              .domain = Domain::Box({{"i", 1, n}}),
              .creates = {{u, {i, AffineExpr::Constant(0)}}},
              .kernel = kernel});
  b.AddClass({.name = "forward",
              .domain = all,
              .creates = {{d, {i, t}}},
              .uses = {{d, {i - one, t}, at_least(i - one - one)},
                       {u, {i, t - one}, {}}},
              .kernel = kernel});
  b.AddClass(
      {.name = "back",
       .domain = all,
       .creates = {{u, {i, t}}},
       .uses = {{u, {i + one, t}, at_least(AffineExpr::Constant(n - 1) - i)},
                {d, {i, t}, {}}},
       .kernel = kernel});
  b.AddResult(u, Domain::Box({{"i", 1, n}, {"t", steps, steps}}));
  b.SetEveryTaskNeeded();
  return Job{.program = *std::move(b).Build()};
}

// Tiled Cholesky's graph on n x n tiles: potrf, trsm, syrk and gemm over
// A(i)(j)(k), the tile after k updates; L(i)(j) is the result.
inline Job CholeskyJob(int64_t n) {
  const AffineExpr a = AffineExpr::Index(0);
  const AffineExpr b = AffineExpr::Index(1);
  const AffineExpr c = AffineExpr::Index(2);
  const AffineExpr one = AffineExpr::Constant(1);
  const AffineBound last{.expr = AffineExpr::Constant(n - 1)};
  const auto at = [](AffineExpr e) { return AffineBound{.expr = e}; };
  ProgramBuilder build("cholesky");
  const int32_t A = build.AddArray({.name = "A",
                                    .rank = 3,
                                    .affinity_block = {1, 1, 0},
                                    .version_index = 2});
  const int32_t L = build.AddArray({.name = "L", .rank = 2});
  const int32_t kernel = build.AddKernel({"mix", "test", ""});
  const Dimension k_all{"k", {{.expr = AffineExpr::Constant(0)}}, {last}};
  build.AddClass(
      {.name = "load",
       .domain = {.dimensions = {{"i", {{}}, {last}}, {"j", {{}}, {at(a)}}}},
       .creates = {{A, {a, b, AffineExpr::Constant(0)}}},
       .kernel = kernel});
  build.AddClass({.name = "potrf",
                  .domain = {.dimensions = {k_all}},
                  .creates = {{L, {a, a}}},
                  .uses = {{A, {a, a, a}, {}}},
                  .kernel = kernel,
                  .priority = a * -3});
  build.AddClass(
      {.name = "trsm",
       .domain = {.dimensions = {k_all, {"i", {at(a + one)}, {last}}}},
       .creates = {{L, {b, a}}},
       .uses = {{A, {b, a, a}, {}}, {L, {a, a}, {}}},
       .kernel = kernel,
       .priority = a * -3 - one});
  build.AddClass(
      {.name = "gemm",
       .domain = {.dimensions = {k_all,
                                 {"i", {at(a + one)}, {last}},
                                 {"j", {at(a + one)}, {at(b)}}}},
       .creates = {{A, {b, c, a + one}}},
       .uses = {{A, {b, c, a}, {}}, {L, {b, a}, {}}, {L, {c, a}, {}}},
       .kernel = kernel,
       .priority = a * -3 - one * 2});
  build.AddResult(L,
                  {.dimensions = {{"i", {{}}, {last}}, {"j", {{}}, {at(a)}}}});
  build.SetEveryTaskNeeded();
  return Job{.program = *std::move(build).Build()};
}

// QR's graph on n block columns: a panel makes V(k) and T(k), whose homes
// differ; A(j)(k) is block column j after k updates. V and T are the results.
inline Job QrJob(int64_t n) {
  const AffineExpr a = AffineExpr::Index(0);
  const AffineExpr b = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  const AffineBound last{.expr = AffineExpr::Constant(n - 1)};
  ProgramBuilder build("qr");
  const int32_t A = build.AddArray(
      {.name = "A", .rank = 2, .affinity_block = {1, 0}, .version_index = 1});
  const int32_t V = build.AddArray({.name = "V", .rank = 1});
  const int32_t T =
      build.AddArray({.name = "T", .rank = 1, .affinity_group = 1});
  const int32_t kernel = build.AddKernel({"mix", "test", ""});
  build.AddClass({.name = "load",
                  .domain = Domain::Box({{"j", 0, n - 1}}),
                  .creates = {{A, {a, AffineExpr::Constant(0)}}},
                  .kernel = kernel});
  build.AddClass({.name = "panel",
                  .domain = Domain::Box({{"k", 0, n - 1}}),
                  .creates = {{V, {a}}, {T, {a}}},
                  .uses = {{A, {a, a}, {}}},
                  .kernel = kernel,
                  .priority = a * -2});
  build.AddClass(
      {.name = "update",
       .domain =
           {.dimensions = {{"k", {{}}, {{.expr = AffineExpr::Constant(n - 2)}}},
                           {"j", {{.expr = a + one}}, {last}}}},
       .creates = {{A, {b, a + one}}},
       .uses = {{A, {b, a}, {}}, {V, {a}, {}}, {T, {a}, {}}},
       .kernel = kernel,
       .priority = a * -2 - one});
  for (const int32_t array : {V, T}) {
    build.AddResult(array, Domain::Box({{"k", 0, n - 1}}));
  }
  build.SetEveryTaskNeeded();
  return Job{.program = *std::move(build).Build()};
}

}  // namespace dogged

#endif  // DOGGED_TESTS_SIM_PROGRAMS_H_
