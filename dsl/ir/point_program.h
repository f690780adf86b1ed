// PointProgram: a checked program with the numbers of its parameters and the
// meaning of its code, still with one task per point. Lowering writes it down
// as it is, coalescing makes tiles of it. Plain data.
#ifndef DOGGED_DSL_IR_POINT_PROGRAM_H_
#define DOGGED_DSL_IR_POINT_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/ir/kernel_ir.h"
#include "dsl/ir/point_bodies.h"
#include "dsl/ir/tile_plan.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/reduce_kind.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

struct PointArray {
  std::string name;
  int32_t rank = 0;
  ElementType element = ElementType::kDouble;
  int32_t block_rank = 0;  // 0: scalars
  int64_t elements = 1;    // of a value; of blocks that of the first label
  Box box;                 // of all labels; empty if unknown
  // From the `place` clause; empty: chosen here. As Array::affinity_block.
  std::vector<int64_t> place;
  // True if the labels are made outside of this program, before any step, of
  // arrays that tiles make at lower stages (see TileField).
  bool is_scalar_input = false;
  int32_t stage = 0;
};

struct PointClass {
  enum class Body : uint8_t { kCode, kNative, kInput };
  std::string name;
  Domain domain;
  AffineExpr time;                     // as Repeat::class_time
  std::optional<AffineExpr> priority;  // as the program says
  std::optional<Domain> needed;        // its points that some result needs
  std::vector<Create> creates;
  std::vector<Use> uses;
  Body body = Body::kCode;
  CodeBody code;      // if kCode: load k is use k, store c is create c
  NativeBody native;  // if kNative
  InputBody input;    // if kInput
  // By dimension of an input's file: where in the task's index it is read;
  // empty: as input.axis says.
  AffineMap input_at = {};
};

// array(map(o)) = kind of source(source_map(o, i)) for all points (o, i) of
// `over` with the same o, for each o of `domain`.
struct PointReduction {
  std::string name;  // "reduce total(t)"
  ReduceKind kind = ReduceKind::kSum;
  int32_t array = 0;
  Domain domain;
  AffineExpr time;               // as PointClass
  std::optional<Domain> needed;  // as PointClass
  bool is_all_needed = false;
  AffineMap map;
  int32_t source = 0;
  Domain over;  // the dimensions of `domain` first
  AffineMap source_map;
};

struct PointResult {
  int32_t array = 0;
  Domain domain;
  AffineMap map;
  // The smallest box of label indices around it, how far they are apart in it,
  // and which of them vary.
  Box box;
  std::vector<int64_t> step;
  std::vector<bool> varies;
  bool is_whole_box = false;  // every point of the box is wanted
  bool is_grid = false;       // or every point at its steps
  // In a loop, if not 0: only the time steps of the box count that are
  // multiples of this apart, from its lowest on; by steps of the loop, not its
  // points.
  int64_t time_interval = 0;
  Repeat::ResultTime time;
  SourceRange range;  // of the program text; none for one made here
  std::string file;   // that the program asks for; may be empty
};

struct PointProgram {
  std::string name;
  std::vector<PointArray> arrays;
  std::vector<PointClass> classes;
  std::vector<PointReduction> reductions;
  std::vector<PointResult> results;
  std::vector<std::string> inputs;  // arrays, by position in Job::inputs
  bool every_task_needed = false;
  bool has_static_labels = false;  // see CompileOptions::static_labels
  // The last index of arrays with all indices was added, and is a step: there
  // may be one step only.
  bool has_given_steps = false;
  // Without the lists of times, and with the array by its position here.
  std::optional<Repeat> repeat;
};

// Agents and workers that tiles and slabs are made for. A job depends on it.
struct TargetSize {
  int64_t agents = 1;
  int64_t workers = 1;  // per agent
};

// Map of a use, with a form where a table gives the index that differs from
// that of no label by a number: it has an index that no task has.
AffineMap MapWithoutTables(const Use& use);

// A task of which a use has tables; null if there is none.
const PointClass* FindGathering(const PointProgram& program);

// The only index that `expr` mentions, if it does so with factor 1.
std::optional<int> SingleIndex(const AffineExpr& expr);

// A box around a domain: exact where each bound depends on one index further
// out at most. Empty if the domain is.
Box HullOf(const Domain& domain);

// A result set and the box that it covers.
PointResult MakeResult(int32_t array, Domain domain, AffineMap map);

// The box of a result; for a result at a loop's end, the box if that is its
// last round.
Box LastBox(const PointResult& result);

// The index of `array` along which its versions follow one another, see
// Array::version_index; -1 if there is none.
int32_t VersionIndexOf(const PointProgram& program, int32_t array);

// Affinity blocks for labels whose index i runs over box, in slabs along the
// first index that counts; `version` does not count.
std::vector<int64_t> SlabsOf(const Box& box, int32_t version,
                             const TargetSize& target);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_POINT_PROGRAM_H_
