// CheckedProgram: names are positions; indices, bounds and conditions are
// affine forms over the dimensions in scope and the parameters; expressions
// have types. Parameters stay symbolic here, for the analysis; Instantiate()
// puts in their numbers, for all later passes. Plain data.
#ifndef DOGGED_DSL_CHECK_CHECKED_H_
#define DOGGED_DSL_CHECK_CHECKED_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/reduce_kind.h"
#include "runtime/base/value.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"
#include "runtime/graph/gather.h"

namespace dogged::dsl {

// sum(dims[d] * dimension d) + sum(params[p] * parameter p) + constant.
// dims has one entry per dimension in scope, params one per parameter.
struct LinearForm {
  std::vector<int64_t> dims;
  std::vector<int64_t> params;
  int64_t constant = 0;

  // It mentions no index: one number, whatever the task is.
  bool IsNumber() const {
    return std::all_of(dims.begin(), dims.end(),
                       [](int64_t factor) { return factor == 0; });
  }
  friend bool operator==(const LinearForm&, const LinearForm&) = default;
};

// form / divisor; a lower bound is rounded up, an upper one down.
struct CheckedBound {
  LinearForm form;
  int64_t divisor = 1;
};

// As graph's Constraint: form >= 0, form == 0, or form divisible by modulus.
struct CheckedConstraint {
  LinearForm form;
  Constraint::Kind kind = Constraint::Kind::kAtLeastZero;
  int64_t modulus = 1;
};

// True if all of one alternative hold; without alternatives always.
struct CheckedGuard {
  std::vector<std::vector<CheckedConstraint>> any_of;
};

// max(lower) <= index <= min(upper). Bounds mention dimensions further out
// only (their forms have an entry for all dimensions, zero from here on).
struct CheckedDimension {
  std::string name;
  SourceRange range;
  std::vector<CheckedBound> lower;
  std::vector<CheckedBound> upper;
};

// Steps (x = 0:N:2) are in the guard.
struct CheckedDomain {
  std::vector<CheckedDimension> dimensions;
  CheckedGuard guard;
};

struct CheckedParameter {
  std::string name;
  ElementType element = ElementType::kInt64;
  int64_t integer = 0;  // the value, if element is int64
  double real = 0;      // the value in any case
  // True if the program multiplies an index by it or the like, so that only
  // its number can be analysed.
  bool is_fixed = false;
  // Definition of the parameter, if that is affine in earlier ones and not
  // overruled.
  std::optional<LinearForm> definition;
  SourceRange range;
};

struct CheckedArray {
  std::string name;
  int32_t rank = 0;
  ElementType element = ElementType::kDouble;
  // Extents of one value, over the array's own indices; empty: a scalar.
  std::vector<ast::Expr> block;
  // As declared; none if there is no `array` line.
  std::optional<CheckedDomain> declared;
  std::vector<ast::Expr> place;
  // The smallest box of all its labels (declared, or created and read), by
  // index, with numbers for parameters. After Analyze; empty if no label is.
  std::vector<int64_t> lower;
  std::vector<int64_t> upper;
  SourceRange range;  // where it is declared or first named
};

struct CheckedKernel {
  std::string name;
  std::vector<ast::Formal> formals;
  std::string library;  // behind `from`; empty: known by name
  // Element types of its inputs, then of its outputs; empty: any.
  std::vector<ElementType> elements;
  SourceRange range;
};

struct CheckedRef {
  int32_t array = 0;
  std::vector<LinearForm> index;
  SourceRange range;
};

struct CheckedCreate {
  CheckedRef ref;
  std::string name;
};

// Indices of a use that are no affine forms, but known before the run: that of
// `ref` at `position` is its form plus `value`, an int64 expression over the
// task's indices, parameters and elements of inputs.
struct CheckedGather {
  struct Entry {
    int32_t position = 0;
    ast::Expr value;
  };
  std::vector<Entry> entries;            // by position
  std::shared_ptr<const Gather> tables;  // after FillTables()

  bool Has(size_t position) const {
    return std::any_of(
        entries.begin(), entries.end(), [position](const Entry& entry) {
          return entry.position == static_cast<int32_t>(position);
        });
  }
};

struct CheckedUse {
  CheckedRef ref;
  std::optional<CheckedGather> gather;
  std::string name;
  CheckedGuard guard;  // where it fails, else_value stands for the label
  std::optional<ast::Expr> else_value;  // of the array's element type
  // For a reduction: it uses the labels `ref` of all points of this domain,
  // whose first dimensions are the task's. The forms of `ref` are over it.
  std::optional<CheckedDomain> over;
};

struct CheckedStatement {
  ast::NameKind target = ast::NameKind::kLocal;  // kCreate or kLocal
  int32_t index = 0;  // position of the create; of this statement if kLocal
  std::string name;
  ast::Expr value;  // of the create's element type
};

struct CheckedArgument {
  ast::Formal::Kind kind = ast::Formal::Kind::kIn;
  int32_t index = 0;  // position of the use (kIn) or the create (kOut)
  ast::Expr scalar;   // kScalar: of type double
};

// Arguments: one for each formal of the kernel, in their order.
struct CheckedCall {
  int32_t kernel = 0;
  std::vector<CheckedArgument> args;
};

struct CheckedTask {
  enum class Origin : uint8_t { kTask, kBoundary, kInput, kReduction };
  enum class Body : uint8_t {
    kCode,    // code
    kCall,    // call
    kFile,    // an input from a file: creates[0] is a slice of it
    kReduce,  // creates[0] is the `reduce` of uses[0]
  };
  std::string name;
  Origin origin = Origin::kTask;
  CheckedDomain domain;
  std::vector<CheckedCreate> creates;
  std::vector<CheckedUse> uses;
  Body body = Body::kCode;
  std::vector<CheckedStatement> code;
  ReduceKind reduce = ReduceKind::kSum;
  CheckedCall call;
  std::optional<ast::Expr> cost;  // of a call, in operations
  std::optional<LinearForm> priority;
  // The points of `domain` that some result needs, if they could be found
  // exactly and have this form. After Analyze.
  std::optional<CheckedDomain> needed;
  // All of them are. After Analyze.
  bool is_all_needed = false;
  SourceRange range;  // of its name
};

// phi(0)(t) = 0, or phi(x)(t) = periodic(x). Analyze finds where its free
// indices range and makes tasks of it, with origin kBoundary, which the back
// end sees like any others.
struct CheckedBoundary {
  std::string name;               // for its tasks
  std::vector<std::string> free;  // dimensions of the forms below
  CheckedRef ref;
  ast::Expr value;  // of the array's element type; not if periodic
  // periodic(x): where x stands in `free` and in `ref`; else -1.
  int32_t periodic_free = -1;
  int32_t periodic_index = -1;
  CheckedGuard where;
  SourceRange range;
};

// The labels ref(domain). Where the program says ":", or says nothing, Analyze
// fills in the domain. A dimension for FIRST:LAST has a name with a blank until
// Analyze knows the program's name of the index.
struct CheckedResult {
  CheckedRef ref;
  CheckedDomain domain;
  std::vector<bool> is_slice;  // by index of ref: one that Analyze is to find
  std::vector<SourceRange> index_range;  // by index of ref
  std::string file;                      // behind `to`; may be empty
  SourceRange file_range;
  SourceRange range;
  // A result of the command line: labels that the program has anyway.
  bool is_selection = false;
};

// A loop; the numbers of the program are those of its last round.
struct CheckedRepeat {
  int32_t parameter = 0;  // its value: first + a multiple of step
  int64_t first = 0;
  int64_t step = 1;
  SourceRange range;
};

struct CheckedProgram {
  std::vector<CheckedParameter> parameters;
  std::vector<CheckedArray> arrays;
  std::vector<CheckedKernel> kernels;
  std::vector<CheckedTask> tasks;  // inputs too; boundaries after Analyze
  std::vector<CheckedBoundary> boundaries;
  std::vector<CheckedResult> results;
  std::optional<CheckedRepeat> repeat;
  // Read by the condition of a loop whose parameter is given, and so maybe by
  // nobody else.
  std::vector<int32_t> condition_arrays;
  // Every point of every task's domain is needed by a result. After Analyze.
  bool every_task_needed = false;

  // Position of the array; -1 if there is none of that name.
  int32_t FindArray(absl::string_view name) const;
};

// With the numbers of the parameters. CHECKs that no value overflows: Check
// has bounded parameters and coefficients.
AffineExpr Instantiate(const LinearForm& form, const CheckedProgram& program);
AffineMap Instantiate(const CheckedRef& ref, const CheckedProgram& program);
Guard Instantiate(const CheckedGuard& guard, const CheckedProgram& program);
Domain Instantiate(const CheckedDomain& domain, const CheckedProgram& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECKED_H_
