// IslSets: the sets and maps of a program as isl objects, and the way back.
// Part of the isl adapter (target dogged_dsl_isl): nothing else includes this
// header.
#ifndef DOGGED_DSL_ISL_ISL_SETS_H_
#define DOGGED_DSL_ISL_ISL_SETS_H_

#include <isl/cpp.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/checked.h"

namespace dogged::dsl {

// Owns the context that all objects live in. Errors of isl become exceptions
// of its binding, and nothing is printed; so does a computation of more than
// `operations_max` steps.
class IslContext {
 public:
  explicit IslContext(uint64_t operations_max);
  ~IslContext();
  IslContext(const IslContext&) = delete;
  IslContext& operator=(const IslContext&) = delete;
  isl::ctx get() const { return isl::ctx(context_); }

 private:
  isl_ctx* context_;
};

// Steps that computations of a context, which has a bound, may still take.
uint64_t OperationsLeft(isl::ctx context);

// OperationBudget: computations take at most `operations_max` steps while it
// lives, and no more than the context has left. They count for the context,
// too, once its own bound holds again.
class OperationBudget {
 public:
  OperationBudget(isl::ctx context, uint64_t operations_max);
  ~OperationBudget();
  OperationBudget(const OperationBudget&) = delete;
  OperationBudget& operator=(const OperationBudget&) = delete;

 private:
  isl::ctx context_;
  uint64_t left_before_;
  uint64_t granted_;
};

// Task class k is tuple T<k>, array a is tuple A<a>.
class IslSets {
 public:
  // If `symbolic`, parameters stay parameters, each at least as large as it
  // is now or kSymbolicMin; otherwise they are numbers.
  IslSets(const CheckedProgram& program, const IslContext& context,
          bool symbolic);

  static constexpr int64_t kSymbolicMin = 8;

  isl::ctx context() const { return context_; }

  isl::set TaskDomain(int32_t task_class) const;
  // Points of a task to the labels that they create and use; `domain` is that
  // of TaskDomain.
  isl::map CreateMap(const isl::set& domain, int32_t task_class,
                     const CheckedCreate& create) const;
  isl::map UseMap(const isl::set& domain, int32_t task_class,
                  const CheckedUse& use) const;
  // The declared range of an array; none if it is not declared.
  const std::optional<isl::set>& Declared(int32_t array) const {
    return declared_[array];
  }
  isl::set NoLabel(int32_t array) const;
  // Tuple `tuple` with `guard` and `domain`; dimensions of `domain` without
  // bounds are free.
  isl::set Points(const std::string& tuple, const CheckedDomain& domain) const;
  // Where the use has tables: its labels, and if there are many places those
  // between them, too.
  isl::map GatherMap(const isl::set& domain, int32_t task_class,
                     const CheckedUse& use) const;
  isl::map RefMap(const std::string& tuple, size_t dim_count,
                  const CheckedRef& ref) const;

  // `set` as a domain with these names; none if it has no such form. Exact:
  // the result has just the points of `set`.
  std::optional<CheckedDomain> DomainOf(
      const isl::set& set, const std::vector<std::string>& names) const;

  // The first and the last value of index d, as forms of parameters, if `set`
  // has all values between.
  std::optional<std::pair<LinearForm, LinearForm>> RangeOf(const isl::set& set,
                                                           int d) const;
  // The labels of an array of which index d is below, or else above `form`.
  isl::set Beyond(int32_t array, int d, const LinearForm& form,
                  bool is_below) const;

  // Points of class k to those of class l that some round of the loop in which
  // the first runs does not have. Both have a TimeOf; with numbers.
  isl::map NotYet(int32_t k, int32_t l) const;

  // The labels of `result`, and in a program that repeats also its labels where
  // the loop ends earlier.
  isl::set WantedAtSomeEnd(const CheckedResult& result) const;

  // The smallest box around `labels` along the dimensions that are `bounded`;
  // the others stay free.
  isl::set BoxHull(const isl::set& labels,
                   const std::vector<bool>& bounded) const;

  std::string TaskTuple(int32_t k) const { return "T" + std::to_string(k); }
  std::string ArrayTuple(int32_t a) const { return "A" + std::to_string(a); }

 private:
  void AssumeParameters();
  std::string Text(const LinearForm& form) const;
  std::string Text(const CheckedGuard& guard) const;
  std::string Tuple(const std::string& name, size_t dim_count) const;
  isl::set Read(const std::string& tuple, const std::string& conditions) const;
  bool AddPieces(const isl::set& pieces, const isl::basic_set& hull,
                 CheckedDomain& out) const;
  std::vector<CheckedConstraint> ConstraintsOf(const isl::basic_set& set) const;
  bool AddBounds(const isl::basic_set& hull, CheckedDomain& out) const;

  const CheckedProgram& program_;
  isl::ctx context_;
  bool symbolic_;
  bool has_ends_ = false;   // the loop's parameter is r, one that it may end at
  std::string prefix_;      // "[p0, p1] -> "
  std::string assumption_;  // "p0 >= 8 and p1 = p0 - 2"
  std::vector<std::optional<isl::set>> declared_;  // by array
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_ISL_SETS_H_
