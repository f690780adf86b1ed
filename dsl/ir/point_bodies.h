// The bodies of kernels whose tasks are not coalesced, encoded in
// KernelSpec::body. Plain data.
#ifndef DOGGED_DSL_IR_POINT_BODIES_H_
#define DOGGED_DSL_IR_POINT_BODIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/ir/kernel_ir.h"
#include "dsl/ir/tile_plan.h"

namespace dogged::dsl {

// Integers that depend on a task's index, several values' extents: store s of
// `code` (int64) is the next extent. Nothing for scalars.
struct ShapeCode {
  std::vector<int32_t> ranks;  // of each value; 0 for a scalar
  CodeBlock code;

  void Encode(Encoder& out) const;
  static ShapeCode Decode(Decoder& in);
};

// An element of a dense array of Job::inputs that a task reads where `guard`
// holds: along dimension d the one at at[d] / step[d], without rest.
struct InputRead {
  int32_t position = 0;
  AffineMap at;  // of the task's index
  std::vector<int64_t> step;
  Guard guard;
};

// Kind "code". Load k is use k, store c is create c; loads behind those of the
// uses are `reads`. If `has_elements`, values are blocks and the last index of
// `code` runs over their elements; a scalar among the inputs stands for every
// element.
struct CodeBody {
  CodeBlock code;
  bool has_elements = false;
  ShapeCode shapes;  // of the creates
  std::vector<InputRead> reads;

  std::string Encode() const;
  static absl::StatusOr<CodeBody> Decode(absl::string_view body);
};

// Kind "input". The label's value is a block of a dense array, whose dimensions
// are the label's indices: along dimension d it starts at (index[axis[d]] -
// box.lower[d]) * block[d]. A dense array of twice the rank has the block's
// dimensions last.
struct InputBody {
  int32_t position = 0;  // in Job::inputs
  ElementType element = ElementType::kDouble;
  std::vector<int32_t> axis;   // by dimension: that of the task's domain
  Box box;                     // of the indices, in this order
  std::vector<int64_t> step;   // by dimension: how far its points are apart
  std::vector<int64_t> block;  // extents of a full block; empty: scalars
  ShapeCode shapes;            // of the one create

  // The task's index whose label has `place` in the box.
  IndexVector TaskIndex(const IndexVector& place) const;
  std::string Encode() const;
  static absl::StatusOr<InputBody> Decode(absl::string_view body);
};

// Kind "native".
struct NativeBody {
  std::string kernel;
  // The spec of kind "library" that it comes from; empty: known by name.
  std::string library;
  std::vector<ElementType> out_elements;  // by out formal
  std::vector<int32_t> in;                // positions of uses, by formal
  std::vector<int32_t> out;               // positions of creates
  std::vector<std::string> names;         // of these formals, `in` first
  // Stores a double for each scalar formal; behind them, if the program gives
  // it, a task's cost in operations.
  CodeBlock scalars;
  bool has_cost = false;
  ShapeCode in_shapes;  // in the order of `in`
  ShapeCode out_shapes;

  size_t scalar_count() const {
    return scalars.stores.size() - (has_cost ? 1 : 0);
  }
  std::string Encode() const;
  static absl::StatusOr<NativeBody> Decode(absl::string_view body);
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_POINT_BODIES_H_
