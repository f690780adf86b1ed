// The kernels of reductions: leaves that read points or a tile, inner nodes
// that join the partial results of others, and the root that makes a number of
// the last one. The order of joining does not show in the bits: sums are exact
// until the root, and all other kinds don't round.
#ifndef DOGGED_DSL_KERNELS_REDUCE_KERNEL_H_
#define DOGGED_DSL_KERNELS_REDUCE_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "dsl/text/reduce_kind.h"
#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// Kind "reduce".
struct ReduceBody {
  enum class Step : uint8_t {
    kPoints = 0,   // uses: scalars, none where a guard fails -> a partial
    kTile = 1,     // one use: a dense block -> a partial
    kCombine = 2,  // uses: partials, none where a guard fails -> a partial
    kRoot = 3,     // one use: a partial -> a scalar
  };
  Step step = Step::kPoints;
  ReduceKind kind = ReduceKind::kSum;
  ElementType element = ElementType::kDouble;  // of the source
  // In a tile that holds several time steps only one counts, if time_dim >= 0:
  // dimension time_dim of its shape has all time steps first_time_step +
  // k*time_interval that are among the `tile_depth` steps from origin +
  // index[block_index]*tile_depth on, and the one at index[time_step_index]
  // behind that counts.
  int32_t time_dim = -1;
  int32_t block_index = 0;
  int32_t time_step_index = 0;
  int64_t origin = 0;
  int64_t tile_depth = 1;
  int64_t first_time_step = 0;
  int64_t time_interval = 1;

  std::string Encode() const;
  static absl::StatusOr<ReduceBody> Decode(absl::string_view body);
};

// Element type of partial results.
ElementType PartialElement(ReduceKind kind, ElementType element);

// Elements of that type of an accumulator of RunReduceStep().
int64_t AccumulatorWidth(ReduceKind kind, ElementType element);

// Runs a step of a reduction in a tile of a loop nest; the numbers are those of
// NestReduce, for compiled code calls it as well. `value` is what the step
// takes; the last step gives it.
void RunReduceStep(int64_t step, int64_t kind, int64_t element,
                   void* accumulator, void* value);

// Bytes of a partial result.
int64_t PartialBytes(ReduceKind kind, ElementType element);

// The partial result of all operands, of `count` elements each.
Value ReduceAlong(ReduceKind kind, ElementType element,
                  absl::Span<const void* const> operands, int64_t count);

// Reduces `count` points: point j of `out` is the reduction of element j of
// each operand.
void ReduceEach(ReduceKind kind, ElementType element,
                absl::Span<const void* const> operands, int64_t count,
                void* out);

std::unique_ptr<Kernel> MakeReduceKernel(ReduceBody body);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_REDUCE_KERNEL_H_
