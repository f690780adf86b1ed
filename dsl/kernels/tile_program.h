// TileProgram: common state of the kernels of one tile program; and
// FieldTimeSteps, the time steps that a task holds. Internal to tile_kernel and
// tile_sweep.
#ifndef DOGGED_DSL_KERNELS_TILE_PROGRAM_H_
#define DOGGED_DSL_KERNELS_TILE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "dsl/ir/kernel_ir.h"
#include "dsl/ir/tile_plan.h"
#include "dsl/kernels/tile_window.h"
#include "runtime/base/value.h"
#include "runtime/graph/input_array.h"

namespace dogged::dsl {

// Buffers between tasks, so that a task does not pay for fresh pages.
class ScratchPool {
 public:
  // At least `bytes`, aligned to 64; the content is arbitrary.
  Value Take(int64_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        Value out = std::move(free_.back());
        free_.pop_back();
        if (out.bytes() >= bytes) return out;
      }
    }
    return Value::Allocate(ElementType::kInt64, {bytes / 8 + 8});
  }
  void Give(Value buffer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;
  std::vector<Value> free_;  // at most one per worker
};

// Planes beyond those needed that blocks copy to each other at a time: each
// copy costs some calls.
constexpr int64_t kPlanesAtOnce = 4;

// SweepOrder: a task computes its points in slabs along the first dimension of
// space, each as many time steps deep as dependences let it, so that new points
// are still in the cache. Piece p at time step l lags l * step + offsets[p]
// points behind.
struct SweepOrder {
  int64_t step = 0;
  std::vector<int64_t> offsets;  // by piece
  // How far pieces read beyond their own points, and before them.
  int64_t ahead = 0;
  int64_t behind = 0;

  // The lag of the last of `time_steps` time steps.
  int64_t LagMax(int64_t time_steps) const;
  // Planes between the first that is read and the last that is written, for
  // slabs of `slab` planes.
  int64_t Span(int64_t time_steps, int64_t slab) const {
    return LagMax(time_steps) + ahead + behind + kPlanesAtOnce + slab;
  }
};
SweepOrder FindSweepOrder(const TilePlan& plan);

class TileProgram {
 public:
  TilePlan plan;
  HaloWidths halos;
  SweepOrder order;
  bool has_masks = false;  // some piece computes a part of its box only
  std::vector<std::unique_ptr<BoxFunction>> functions;
  std::vector<InputArray> inputs;
  std::vector<IndexVector> directions;
  mutable ScratchPool scratch;
};

// The time steps of a field that a task holds: a ring of windows.
struct FieldTimeSteps {
  std::vector<Window> ring;  // one for a static field, all for a coefficient
  // The last time step, if it goes straight to where the next task finds it.
  std::optional<Window> given;
  int64_t given_time_step = 0;

  const Window& At(int64_t time_step) const {
    if (given.has_value() && time_step == given_time_step) return *given;
    const auto n = std::ssize(ring);
    return ring[((time_step % n) + n) % n];
  }
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_TILE_PROGRAM_H_
