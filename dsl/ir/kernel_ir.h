// CodeBlock: a straight line of typed operations on one point. The row-chunk
// interpreter (interpreter.h) and the C generator (c_kernels.h) run it over a
// box of points, and give the same bits. Plain data.
#ifndef DOGGED_DSL_IR_KERNEL_IR_H_
#define DOGGED_DSL_IR_KERNEL_IR_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/base/codec.h"
#include "runtime/base/value.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"

namespace dogged::dsl {

enum class IrType : uint8_t { kDouble = 0, kFloat = 1, kInt64 = 2, kBool = 3 };

IrType IrTypeOf(ElementType element);

// Integers wrap around; x/0 and x%0 of integers are 0, so that an operand
// that is not selected can't trap. Division rounds towards minus infinity and
// the remainder has the divisor's sign.
enum class IrOp : uint8_t {
  kConstant = 0,  // integer or real
  kIndex,         // index `integer` of the point
  kLoad,          // load `integer`; with a >= 0: where a holds, else b
  kConvert,       // a as `type`
  kNegate,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,     // int64 only
  kLess,       // of two of one type, gives kBool, like the next three
  kLessEqual,  // a > b is b < a
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kSelect,  // a ? b : c; both are computed
  kMin,     // see functions.h
  kMax,     // see functions.h
  kAbs,
  kMath,  // libm function `integer` of a (and b), see MathFunctions()
};

struct IrNode {
  IrOp op = IrOp::kConstant;
  IrType type = IrType::kDouble;
  int32_t a = -1;  // operands: positions of earlier nodes
  int32_t b = -1;
  int32_t c = -1;
  int64_t integer = 0;
  double real = 0;
};

// A function of libm, for double and float.
struct MathFunction {
  absl::string_view name;
  int argument_count;
  bool is_exact;  // the compiler may put instructions in its place
  double (*of_double)(double);
  float (*of_float)(float);
  double (*of_doubles)(double, double);
  float (*of_floats)(float, float);
};
const std::vector<MathFunction>& MathFunctions();
// Position in MathFunctions(); -1 if there is none.
int FindMathFunction(absl::string_view name);

// How an address moves along the innermost index.
enum class Step : uint8_t { kUnit = 0, kNone = 1, kStrided = 2 };

struct IrLoad {
  ElementType element = ElementType::kDouble;
  Step step = Step::kUnit;
};

struct IrStore {
  ElementType element = ElementType::kDouble;
  Step step = Step::kUnit;
  int32_t node = 0;  // of the element's type
};

// The code of one point with its loads and stores. Points are visited in any
// order: no point loads an element that another one of the same box stores.
struct CodeBlock {
  std::string name;         // of the C function, after a prefix
  std::string comment;      // for the reader of the C code, one line
  int32_t index_count = 1;  // at least one
  std::vector<IrLoad> loads;
  std::vector<IrStore> stores;
  std::vector<IrNode> nodes;
  int32_t mask = -1;  // a kBool node: store only where it holds

  void Encode(Encoder& out) const;
  // Well-typed and with every position in range, or the decoder fails.
  static CodeBlock Decode(Decoder& in);
};

// Where the operands of one run over a box stand. Pointers are to the element
// of the box's first point. `strides`, in elements, holds index_count entries
// for each store, then for each load.
struct BoxCall {
  const int64_t* lower;  // the first point
  const int64_t* count;  // extents, all positive
  void* const* stores;
  const void* const* loads;  // may be null where the guard never holds
  const int64_t* strides;
};

// Runs a CodeBlock over a box. Immutable, thread-safe.
class BoxFunction {
 public:
  virtual ~BoxFunction() = default;
  virtual void Run(const BoxCall& call) const = 0;
};

// Adds nodes to a code block; equal nodes are one.
class CodeBuilder {
 public:
  // Appends to `block`, which outlives the builder and is changed by it only.
  explicit CodeBuilder(CodeBlock& block);

  int32_t Add(const IrNode& node);
  int32_t Integer(int64_t value);
  int32_t Real(double value, IrType type = IrType::kDouble);
  int32_t Bool(bool value);
  int32_t Index(int dimension);
  int32_t Unary(IrOp op, int32_t a);
  int32_t Binary(IrOp op, int32_t a, int32_t b);
  int32_t Convert(int32_t a, IrType type);
  // The value of an affine expression, given a node per index.
  int32_t Affine(const AffineExpr& expr, const std::vector<int32_t>& indices);
  int32_t Holds(const Constraint& constraint,
                const std::vector<int32_t>& indices);
  int32_t Holds(const Guard& guard, const std::vector<int32_t>& indices);

  const IrNode& node(int32_t position) const { return block_->nodes[position]; }

 private:
  using Key =
      std::tuple<IrOp, IrType, int32_t, int32_t, int32_t, int64_t, uint64_t>;
  CodeBlock* block_;
  std::map<Key, int32_t> known_;
};

// The code that stores its one load.
CodeBlock CopyCode(ElementType element, int index_count);
// True for code that does nothing else.
bool IsCopy(const CodeBlock& code);

// Integer operations as both consumers do them.
int64_t WrapDivide(int64_t a, int64_t b);
int64_t WrapModulo(int64_t a, int64_t b);
// Towards zero; INT64_MIN if it does not fit or is no number.
int64_t IntegerOf(double value);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_KERNEL_IR_H_
