// The tree of a program, as written: plain structs with value semantics, each
// with the range of the text that it came from. The parser makes it, Check
// resolves its names and types (the fields marked "after Check"), print.h
// turns it into text again.
#ifndef DOGGED_DSL_TEXT_AST_H_
#define DOGGED_DSL_TEXT_AST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/text/diagnostics.h"
#include "dsl/text/reduce_kind.h"
#include "runtime/base/value.h"

namespace dogged::dsl {

// The type of an expression.
enum class Type : uint8_t { kNone, kBool, kInt64, kFloat, kDouble };

inline Type TypeOf(ElementType element) {
  switch (element) {
    case ElementType::kDouble:
      return Type::kDouble;
    case ElementType::kFloat:
      return Type::kFloat;
    case ElementType::kInt64:
      return Type::kInt64;
  }
  return Type::kNone;
}

namespace ast {

enum class Op : uint8_t {
  kNegate,  // -a
  kNot,     // not a
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,  // of two int64: rounds towards minus infinity
  kModulo,  // int64 only; 0 <= a % b < b for b > 0
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
};

// Kind of thing that a name in an expression stands for.
enum class NameKind : uint8_t {
  kNone,
  kParameter,  // position in CheckedProgram::parameters
  kDimension,  // position in the dimensions of the task (or array, input ...)
  kUse,        // position in the task's uses
  kCreate,     // position in the task's creates
  kLocal,      // position of the statement that assigns it
  kArray,      // of a function: position of the array that it is an element of
};

struct Expr {
  enum class Kind : uint8_t {
    kInteger,      // integer
    kReal,         // real
    kName,         // text
    kUnary,        // op, args[0]
    kBinary,       // op, args[0], args[1]
    kConditional,  // args[0] ? args[1] : args[2]
    kFunction,     // text: min, sqrt, ...; args. See functions.h
    kConvert,      // args[0] as `type`; made by Check, and by double(x) etc.
  };
  Kind kind = Kind::kInteger;
  SourceRange range;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  Op op = Op::kAdd;
  std::vector<Expr> args;

  // After Check. The operands of an arithmetic operation have its type, those
  // of a comparison have one type, all conversions are nodes of their own.
  Type type = Type::kNone;
  NameKind name_kind = NameKind::kNone;
  int32_t index = -1;
  // Made of number literals alone: takes the type of the other operand.
  bool is_constant = false;
};

// A name where it is defined.
struct Name {
  std::string text;
  SourceRange range;
};

// phi(x)(t-1). In a `result` an index may be ":", all of them, FIRST:LAST or
// FIRST:LAST:STEP.
struct Ref {
  Name array;
  std::vector<Expr> index;     // where it says FIRST:LAST, the first one
  std::vector<bool> is_slice;  // by index; the Expr is empty where true
  // By index: LAST; shorter where nothing more says FIRST:LAST.
  std::vector<std::optional<Expr>> last;
  std::vector<int64_t> step;  // by index: STEP; as long as `last`
  SourceRange range;
};

// lower:upper or lower:upper:step, both ends included.
struct Range {
  Expr lower;
  Expr upper;
  int64_t step = 1;
  SourceRange range;
};

// x = 1:N-2
struct Dimension {
  Name name;
  Range range;
};

// param N : int64 from A, B = 5001
struct Parameter {
  Name name;
  ElementType element = ElementType::kInt64;
  std::vector<Name> from;  // inputs
  std::optional<Expr> value;
  SourceRange range;
};

// array A(i = 0:NT-1)(j = 0:i) : double [NB, NB] place i, j/2
struct Array {
  Name name;
  std::vector<Dimension> indices;  // the name may be empty
  ElementType element = ElementType::kDouble;
  std::vector<Expr> block;  // extents of a value; none: a scalar
  std::vector<Expr> place;
  SourceRange range;
};

// call gemm(c, a, b, r)
struct Call {
  Name kernel;
  std::vector<Expr> args;
  SourceRange range;
};

// input A(i)(j)(0) for i = 0:NT-1 j = 0:i else call spd(A, N, i*NB, j*NB)
struct Input {
  Ref ref;
  std::vector<Dimension> dimensions;
  std::optional<Expr> else_value;
  std::optional<Call> else_call;
  SourceRange range;
};

// kernel gemm(in c, in a, in b, out r) from "lib.so"
struct Formal {
  enum class Kind : uint8_t { kIn, kOut, kScalar };
  Kind kind = Kind::kIn;
  Name name;
};
struct Kernel {
  Name name;
  std::vector<Formal> formals;
  std::string library;  // empty: found by name
  SourceRange range;
};

// phi(x)(t) as n
struct Create {
  Ref ref;
  Name name;
};

// phi(x-1)(t-1) as l where x > 1 else 0
struct Use {
  Ref ref;
  Name name;
  std::optional<Expr> where;
  std::optional<Expr> else_value;
};

// n = c + 0.0125*(l + r - 2*c)
struct Statement {
  Name target;
  Expr value;
  SourceRange range;
};

struct Task {
  Name name;
  std::vector<Create> creates;
  std::vector<Dimension> dimensions;
  std::optional<Expr> where;
  std::vector<Use> uses;
  std::vector<Statement> code;  // or:
  std::optional<Call> call;
  std::optional<Expr> cost;
  std::optional<Expr> priority;
  SourceRange range;
};

// reduce heat(t) = sum(phi(x)(t)) for t = 0:T over x = 1:N-2 where x % 2 == 0
struct Reduction {
  Ref ref;
  ReduceKind kind = ReduceKind::kSum;
  Ref source;
  std::vector<Dimension> dimensions;
  std::vector<Dimension> over;
  std::optional<Expr> where;
  SourceRange range;
};

// boundary phi(0)(t) = 0 where t > 0
struct Boundary {
  Ref ref;
  Expr value;
  Name periodic;  // the index of periodic(x); else an empty name
  std::optional<Expr> where;
  SourceRange range;
};

// result phi(x)(T) for x = 0:N-1 where x != 3 to "heat.npy"
struct Result {
  Ref ref;
  std::vector<Dimension> dimensions;
  std::optional<Expr> where;
  std::string file;
  SourceRange file_range;  // with its quotes; empty without a file
  SourceRange range;
};

// repeat T = 100:100000:100 until change(T) < 1.0e-6. A label in `until` is a
// function of its indices.
struct Repeat {
  Name name;
  Range rounds;
  Expr until;
  SourceRange range;
};

// include "grid.dog", if it could not be followed.
struct Include {
  std::string file;
  SourceRange range;
};

struct Program {
  std::vector<Include> includes;
  std::vector<Parameter> parameters;
  std::vector<Repeat> repeats;  // at most one, after Check
  std::vector<Array> arrays;
  std::vector<Input> inputs;
  std::vector<Kernel> kernels;
  std::vector<Boundary> boundaries;
  std::vector<Task> tasks;
  std::vector<Reduction> reductions;
  std::vector<Result> results;
};

}  // namespace ast
}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_AST_H_
