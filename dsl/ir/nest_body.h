// NestBody: the tile of a loop nest as data. A task copies what it reads from
// the blocks that other tiles gave it into buffers, runs its part of the nest
// in sequence, and packs what others need into the blocks that it creates. All
// positions in blocks are affine in the point and in the tile's indices, and
// loops are those that isl's AST generator made, so that this can be written as
// C (nest_c.h) and be walked without a compiler (nest_walk.h). Plain data; part
// of the job.
//
// Source: Bondhugula 2013 (what leaves a tile is packed); Verdoolaege (code
// from schedules).
#ifndef DOGGED_DSL_IR_NEST_BODY_H_
#define DOGGED_DSL_IR_NEST_BODY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/ir/kernel_ir.h"
#include "dsl/text/reduce_kind.h"
#include "runtime/base/value.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {

// Elements of one type side by side, row-major.
struct NestBlock {
  enum class Kind : uint8_t {
    kBuffer = 0,  // of the task alone
    kUse = 1,     // the value of use `position`
    kCreate = 2,  // that of create `position`, zero where nothing is stored
    kInput = 3,   // elements of the job's input `position`, from `first` on
  };
  Kind kind = Kind::kBuffer;
  int32_t position = 0;
  ElementType element = ElementType::kDouble;
  std::vector<int64_t> extents;
  // Of an input: by dimension, from the tile's indices. Of a created block with
  // `limits`: likewise, and the value ends at these, so that a tile at an edge
  // gives a smaller one. Of one with `stored_lower`: likewise, and each tile
  // stores all elements of its block from these to `stored_upper`, both
  // included, so that only the others are cleared.
  std::vector<AffineExpr> first;
  std::vector<int64_t> limits;
  std::vector<int64_t> stored_lower;
  std::vector<int64_t> stored_upper;

  int64_t Count() const;
  bool IsClipped() const { return kind == Kind::kCreate && !limits.empty(); }
};

// An element of a block: by_point of a point plus by_tile of the tile.
struct NestElement {
  int32_t block = 0;
  AffineExpr by_point;
  AffineExpr by_tile;  // without a constant
};

// A step of a reduction in place of code. The accumulator of an exact sum is
// several elements wide.
struct NestReduce {
  enum class Step : uint8_t {
    kClear = 0,   // store 0 is the accumulator, in all steps but the last
    kAdd = 1,     // load 0: an element of the source
    kJoin = 2,    // load 0: another accumulator, which is finished
    kFinish = 3,  // from here on equal sums have equal bits
    kRound = 4,   // load 0 is the accumulator, store 0 the result
  };
  Step step = Step::kAdd;
  ReduceKind kind = ReduceKind::kSum;
  ElementType element = ElementType::kDouble;  // of the source
};

// The code of one point, with the elements that its operands are.
struct NestStatement {
  CodeBlock code;
  std::vector<NestElement> stores;
  std::vector<NestElement> loads;
  std::optional<NestReduce> reduce = std::nullopt;
};

// A node of an integer expression; operands are positions of earlier ones.
struct NestExpr {
  enum class Op : uint8_t {
    kNumber = 0,  // value
    kTile,        // index `value` of the tile
    kVariable,    // of loop `value`
    kAdd,
    kSubtract,
    kMultiply,
    kNegate,
    kMinimum,
    kMaximum,
    kFloorDivide,  // by a positive number
    kRemainder,    // likewise; not negative
    kLess,         // 0 or 1, as the following
    kLessEqual,
    kEqual,
    kAnd,
    kOr,
    kSelect,  // a != 0 ? b : c
  };
  Op op = Op::kNumber;
  int32_t a = -1;
  int32_t b = -1;
  int32_t c = -1;
  int64_t value = 0;
};

struct NestNode {
  enum class Kind : uint8_t {
    kSequence = 0,  // children, one after another
    kLoop,          // child 0 for variable = first ... last by step
    kIf,            // child 0 if `first` is not 0, else child 1 if it is there
    kCall,          // a statement at the point `arguments`
    kPresent,       // child 0 if the value of block `number` is there
  };
  Kind kind = Kind::kSequence;
  std::vector<int32_t> children;  // positions of later nodes
  int32_t number = 0;             // the variable, statement or block
  int32_t first = -1;             // positions of expressions, likewise `last`
  int32_t last = -1;
  int64_t step = 1;
  bool is_parallel = false;  // no point of the loop needs another one
  std::vector<int32_t> arguments;
};

struct NestBody {
  // Indices of tiles and variables of loops.
  int32_t tile_rank = 0;
  int32_t variable_count = 0;
  std::vector<NestBlock> blocks;
  std::vector<NestStatement> statements;
  std::vector<NestExpr> exprs;
  std::vector<NestNode> nodes;  // the first is the root

  std::string Encode() const;
  // With every position in range, children behind their parents, and sizes
  // bounded; kInvalidArgument otherwise.
  static absl::StatusOr<NestBody> Decode(absl::string_view body);
};

// The most elements that all blocks of a tile have together.
inline constexpr int64_t kNestElementsMax = int64_t{1} << 26;

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_NEST_BODY_H_
