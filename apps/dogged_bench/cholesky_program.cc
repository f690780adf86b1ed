#include "apps/dogged_bench/cholesky_program.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "dsl/kernels/point_kernels.h"
#include "runtime/base/check.h"
#include "runtime/graph/builder.h"

namespace dogged {
namespace {

class TileKernel : public Kernel {
 public:
  explicit TileKernel(const NativeKernel& native) : native_(native) {}
  absl::Status Run(KernelCall& call) const override {
    NativeCall native{.in = call.inputs, .out = call.outputs};
    return native_.run(native);
  }

 private:
  const NativeKernel& native_;
};

class TakeKernel : public Kernel {
 public:
  explicit TakeKernel(std::vector<Value>& tiles) : tiles_(tiles) {}
  absl::Status Run(KernelCall& call) const override {
    const IndexVector& index = call.task.index;
    call.outputs[0] = std::move(tiles_[TileOffset(index[0], index[1])]);
    return absl::OkStatus();
  }

 private:
  std::vector<Value>& tiles_;
};

// A kernel that comes with dogged, of so many uses, in their order.
KernelSpec Native(const std::string& name, int32_t uses) {
  dsl::NativeBody body{.kernel = name,
                       .out_elements = {ElementType::kDouble},
                       .out = {0},
                       .names = {"r"}};
  body.out_shapes.ranks = {0};
  for (int32_t use = 0; use < uses; ++use) {
    body.in.push_back(use);
    body.names.emplace_back("a");
    body.in_shapes.ranks.push_back(0);
  }
  return {name, "native", body.Encode()};
}

}  // namespace

std::vector<Value> GenerateTiles(int64_t n, int64_t tile_size,
                                 const KernelRegistry& kernels) {
  const NativeKernel& spd = *kernels.Find("spd");
  std::vector<Value> out;
  for (int64_t row = 0; row < n; row += tile_size) {
    for (int64_t column = 0; column <= row; column += tile_size) {
      const Shape shape = {std::min(tile_size, n - row),
                           std::min(tile_size, n - column)};
      const double scalars[] = {static_cast<double>(row),
                                static_cast<double>(column),
                                static_cast<double>(n)};
      out.emplace_back();
      NativeCall call{.out = absl::MakeSpan(&out.back(), 1),
                      .scalars = scalars,
                      .out_shapes = absl::MakeConstSpan(&shape, 1)};
      DOGGED_CHECK(spd.run(call).ok());
    }
  }
  return out;
}

Program CholeskyProgram(int64_t tile_rows) {
  ProgramBuilder b("cholesky");
  const int32_t a = b.AddArray({.name = "A", .rank = 3, .version_index = 2});
  const int32_t l = b.AddArray({.name = "L", .rank = 2});
  const auto x0 = AffineExpr::Index(0);
  const auto x1 = AffineExpr::Index(1);
  const auto x2 = AffineExpr::Index(2);
  const auto one = AffineExpr::Constant(1);
  const auto zero = AffineExpr::Constant(0);
  const auto last = AffineExpr::Constant(tile_rows - 1);
  const auto span = [](const char* name, AffineExpr from, AffineExpr to) {
    return Dimension{.name = name, .lower = {{from}}, .upper = {{to}}};
  };
  // Earlier steps first; among them tasks that the next diagonal tile waits
  // for.
  const auto urgency = [&](AffineExpr position) {
    return AffineExpr::Constant(3 * tile_rows) - position;
  };
  b.AddClass({.name = "take",
              .domain = {{span("i", zero, last), span("j", zero, x0)}, {}},
              .creates = {{a, {x0, x1, zero}}},
              .kernel = b.AddKernel({"take", "bench", ""})});
  b.AddClass({.name = "factor",  // (k)
              .domain = {{span("k", zero, last)}, {}},
              .creates = {{l, {x0, x0}}},
              .uses = {{a, {x0, x0, x0}, {}}},
              .kernel = b.AddKernel(Native("potrf", 1)),
              .priority = urgency(x0 * 3)});
  b.AddClass(
      {.name = "panel",  // (k, i)
       .domain = {{span("k", zero, last), span("i", x0 + one, last)}, {}},
       .creates = {{l, {x1, x0}}},
       .uses = {{l, {x0, x0}, {}}, {a, {x1, x0, x0}, {}}},
       .kernel = b.AddKernel(Native("trsm", 2)),
       .priority = urgency(x0 * 2 + x1)});
  b.AddClass({.name = "diagonal",  // (i, k)
              .domain = {{span("i", one, last), span("k", zero, x0 - one)}, {}},
              .creates = {{a, {x0, x0, x1 + one}}},
              .uses = {{a, {x0, x0, x1}, {}}, {l, {x0, x1}, {}}},
              .kernel = b.AddKernel(Native("syrk", 2)),
              .priority = urgency(x0 * 2 + x1)});
  b.AddClass(
      {.name = "update",  // (i, j, k)
       .domain = {{span("i", one, last), span("j", one, x0 - one),
                   span("k", zero, x1 - one)},
                  {}},
       .creates = {{a, {x0, x1, x2 + one}}},
       .uses = {{a, {x0, x1, x2}, {}}, {l, {x0, x2}, {}}, {l, {x1, x2}, {}}},
       .kernel = b.AddKernel(Native("gemm", 3)),
       .priority = urgency(x0 + x1 + x2)});
  b.AddResult(l, {{span("i", zero, last), span("j", zero, x0)}, {}});
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

KernelTable CholeskyKernels(const Program& program,
                            const KernelRegistry& kernels,
                            std::vector<Value>& tiles) {
  KernelTable out;
  for (const KernelSpec& spec : program.kernels) {
    if (spec.kind == "native") {
      out.push_back(std::make_unique<TileKernel>(*kernels.Find(spec.name)));
    } else {
      out.push_back(std::make_unique<TakeKernel>(tiles));
    }
  }
  return out;
}

}  // namespace dogged
