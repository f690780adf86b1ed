#include "dsl/isl/isl_sets.h"

#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// A bound that next to nothing is within; zero would be no bound.
constexpr uint64_t kNoOperations = 1;
constexpr int kTightenMax = 16;  // a condition's divisor, and no more
// Places of tables that sets tell apart.
constexpr int64_t kPlacesApart = 64;

// `hull` cut off at the first and the last point of `set`: isl's simple hull
// keeps bounds that conditions such as x % 3 != 0 move inwards.
isl::set Tightened(isl::set hull, const isl::set& set) {
  std::pair<const isl::set&, isl::set> bounds(set, hull);
  const auto visit = [](isl_constraint* c, void* user) -> isl_stat {
    auto& [points, out] = *static_cast<decltype(bounds)*>(user);
    const bool is_bound = isl_constraint_is_equality(c) == isl_bool_false;
    for (int k = 0; is_bound && k < kTightenMax; ++k) {
      isl_val* constant = isl_constraint_get_constant_val(c);
      c = isl_constraint_set_constant_val(c, isl_val_sub_ui(constant, 1));
      const isl::set inner = isl::manage(isl_set_from_basic_set(
          isl_basic_set_from_constraint(isl_constraint_copy(c))));
      if (!points.is_subset(inner)) break;
      out = out.intersect(inner);
    }
    isl_constraint_free(c);
    return isl_stat_ok;
  };
  hull.foreach_basic_set([&](const isl::basic_set& piece) {
    isl_basic_set_foreach_constraint(piece.get(), visit, &bounds);
  });
  return bounds.second;
}

void GrantOperations(isl::ctx context, uint64_t operations) {
  isl_ctx_reset_operations(context.get());
  isl_ctx_set_max_operations(context.get(), operations);
}

}  // namespace

IslContext::IslContext(uint64_t operations_max) : context_(isl_ctx_alloc()) {
  isl_options_set_on_error(context_, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(context_, operations_max);
}

IslContext::~IslContext() { isl_ctx_free(context_); }

// The count of steps is isl's own secret: found by bisection, with bounds under
// which a number can just be made, which is a step.
uint64_t OperationsLeft(isl::ctx context) {
  isl_ctx* ctx = context.get();
  const uint64_t bound = isl_ctx_get_max_operations(ctx);
  uint64_t spent = 0;
  uint64_t enough = bound;
  while (spent < enough) {
    const uint64_t tried = spent + (enough - spent) / 2;
    isl_ctx_set_max_operations(ctx, std::max(kNoOperations, tried));
    isl_val* number = isl_val_zero(ctx);
    if (number == nullptr) {
      spent = tried + 1;
    } else {
      enough = tried;
    }
    isl_val_free(number);
  }
  isl_ctx_reset_error(ctx);
  isl_ctx_set_max_operations(ctx, bound);
  return std::max(kNoOperations, bound - spent);
}

OperationBudget::OperationBudget(isl::ctx context, uint64_t operations_max)
    : context_(context),
      left_before_(OperationsLeft(context)),
      granted_(std::min(operations_max, left_before_)) {
  GrantOperations(context_, granted_);
}

OperationBudget::~OperationBudget() {
  isl_ctx_reset_error(context_.get());
  const uint64_t spent = granted_ - OperationsLeft(context_);
  GrantOperations(context_, std::max(kNoOperations, left_before_ - spent));
}

IslSets::IslSets(const CheckedProgram& program, const IslContext& context,
                 bool symbolic)
    : program_(program), context_(context.get()), symbolic_(symbolic) {
  assumption_ = "true";
  if (symbolic_) AssumeParameters();
  for (size_t a = 0; a < program_.arrays.size(); ++a) {
    declared_.emplace_back();
    const CheckedArray& array = program_.arrays[a];
    if (!array.declared) continue;
    declared_.back() =
        Points(ArrayTuple(static_cast<int32_t>(a)), *array.declared);
  }
}

void IslSets::AssumeParameters() {
  std::vector<std::string> names;
  for (size_t p = 0; p < program_.parameters.size(); ++p) {
    const CheckedParameter& parameter = program_.parameters[p];
    if (parameter.is_fixed || parameter.element != ElementType::kInt64) {
      continue;
    }
    names.push_back(absl::StrCat("p", p));
    const bool is_found = program_.repeat.has_value() &&
                          program_.repeat->parameter == static_cast<int32_t>(p);
    if (parameter.definition) {
      absl::StrAppend(&assumption_, " and p", p, " = ",
                      Text(*parameter.definition));
    } else if (!is_found) {
      absl::StrAppend(&assumption_, " and p", p,
                      " >= ", std::min(parameter.integer, kSymbolicMin));
    }
  }
  if (program_.repeat &&
      !program_.parameters[program_.repeat->parameter].is_fixed) {
    // A loop ends at its first value, or steps behind that.
    const CheckedRepeat& repeat = *program_.repeat;
    absl::StrAppend(&assumption_, " and p", repeat.parameter,
                    " >= ", repeat.first, " and (p", repeat.parameter, " - ",
                    repeat.first, ") mod ", repeat.step, " = 0");
  }
  prefix_ = absl::StrCat("[", absl::StrJoin(names, ", "), "] -> ");
}

std::string IslSets::Text(const LinearForm& form) const {
  int64_t constant = form.constant;
  std::string out;
  for (size_t d = 0; d < form.dims.size(); ++d) {
    if (form.dims[d] != 0) absl::StrAppend(&out, form.dims[d], "*i", d, " + ");
  }
  for (size_t p = 0; p < form.params.size(); ++p) {
    if (form.params[p] == 0) continue;
    if (has_ends_ && program_.repeat->parameter == static_cast<int32_t>(p)) {
      absl::StrAppend(&out, form.params[p], "*r + ");
    } else if (symbolic_ && !program_.parameters[p].is_fixed) {
      absl::StrAppend(&out, form.params[p], "*p", p, " + ");
    } else {
      constant += form.params[p] * program_.parameters[p].integer;
    }
  }
  return absl::StrCat(out, constant);
}

std::string IslSets::Text(const CheckedGuard& guard) const {
  if (guard.any_of.empty()) return "true";
  std::vector<std::string> alternatives;
  for (const auto& alternative : guard.any_of) {
    std::vector<std::string> all;
    for (const CheckedConstraint& c : alternative) {
      switch (c.kind) {
        case Constraint::Kind::kAtLeastZero:
          all.push_back(absl::StrCat(Text(c.form), " >= 0"));
          break;
        case Constraint::Kind::kZero:
          all.push_back(absl::StrCat(Text(c.form), " = 0"));
          break;
        case Constraint::Kind::kDivisible:
          all.push_back(
              absl::StrCat("(", Text(c.form), ") mod ", c.modulus, " = 0"));
          break;
      }
    }
    alternatives.push_back(absl::StrCat(
        "(", all.empty() ? "true" : absl::StrJoin(all, " and "), ")"));
  }
  return absl::StrCat("(", absl::StrJoin(alternatives, " or "), ")");
}

std::string IslSets::Tuple(const std::string& name, size_t dim_count) const {
  std::vector<std::string> dims;
  for (size_t d = 0; d < dim_count; ++d) dims.push_back(absl::StrCat("i", d));
  return absl::StrCat(name, "[", absl::StrJoin(dims, ", "), "]");
}

isl::set IslSets::Read(const std::string& tuple,
                       const std::string& conditions) const {
  return isl::set(
      context_, absl::StrCat(prefix_, "{ ", tuple, " : ", assumption_, " and ",
                             conditions, " }"));
}

isl::set IslSets::Points(const std::string& tuple,
                         const CheckedDomain& domain) const {
  std::string conditions = Text(domain.guard);
  for (size_t d = 0; d < domain.dimensions.size(); ++d) {
    for (const CheckedBound& bound : domain.dimensions[d].lower) {
      absl::StrAppend(&conditions, " and ", bound.divisor, "*i", d,
                      " >= ", Text(bound.form));
    }
    for (const CheckedBound& bound : domain.dimensions[d].upper) {
      absl::StrAppend(&conditions, " and ", bound.divisor, "*i", d,
                      " <= ", Text(bound.form));
    }
  }
  return Read(Tuple(tuple, domain.dimensions.size()), conditions);
}

isl::set IslSets::TaskDomain(int32_t task_class) const {
  return Points(TaskTuple(task_class), program_.tasks[task_class].domain);
}

isl::map IslSets::RefMap(const std::string& tuple, size_t dim_count,
                         const CheckedRef& ref) const {
  std::vector<std::string> index;
  for (const LinearForm& form : ref.index) index.push_back(Text(form));
  return isl::map(context_, absl::StrCat(prefix_, "{ ", Tuple(tuple, dim_count),
                                         " -> ", ArrayTuple(ref.array), "[",
                                         absl::StrJoin(index, ", "), "] }"));
}

isl::map IslSets::CreateMap(const isl::set& domain, int32_t task_class,
                            const CheckedCreate& create) const {
  const size_t dim_count = program_.tasks[task_class].domain.dimensions.size();
  return RefMap(TaskTuple(task_class), dim_count, create.ref)
      .intersect_domain(domain);
}

isl::map IslSets::UseMap(const isl::set& domain, int32_t task_class,
                         const CheckedUse& use) const {
  const size_t dim_count = program_.tasks[task_class].domain.dimensions.size();
  const std::string tuple = TaskTuple(task_class);
  if (use.over) {
    // The task's indices are the first of `over`.
    const size_t over_count = use.over->dimensions.size();
    const isl::map points(
        context_, absl::StrCat(prefix_, "{ ", Tuple(tuple, dim_count), " -> ",
                               Tuple("V", over_count), " }"));
    return points.intersect_domain(domain)
        .intersect_range(Points("V", *use.over))
        .apply_range(RefMap("V", over_count, use.ref));
  }
  const isl::map all =
      use.gather ? GatherMap(domain, task_class, use)
                 : RefMap(tuple, dim_count, use.ref).intersect_domain(domain);
  if (use.guard.any_of.empty()) return all;
  return all.intersect_domain(Read(Tuple(tuple, dim_count), Text(use.guard)));
}

// A map for each of a few places; else one that has all values between the
// least and the greatest of each table.
isl::map IslSets::GatherMap(const isl::set& domain, int32_t task_class,
                            const CheckedUse& use) const {
  const Gather& gather = *use.gather->tables;
  const size_t dim_count = program_.tasks[task_class].domain.dimensions.size();
  const std::string from = Tuple(TaskTuple(task_class), dim_count);
  // With `values`, as texts, in place of the tables', under `conditions`.
  const auto map_with = [&](const std::vector<std::string>& values,
                            const std::string& conditions) {
    std::vector<std::string> index;
    std::vector<std::string> all;
    for (const LinearForm& form : use.ref.index) index.push_back(Text(form));
    for (size_t t = 0; t < values.size(); ++t) {
      absl::StrAppend(&index[gather.tables[t].position], " + ", values[t]);
    }
    std::vector<std::string> names;
    for (const std::string& text : index) {
      names.push_back(absl::StrCat("j", names.size()));
      all.push_back(absl::StrCat(names.back(), " = ", text));
    }
    return isl::map(context_,
                    absl::StrCat(prefix_, "{ ", from, " -> ",
                                 ArrayTuple(use.ref.array), "[",
                                 absl::StrJoin(names, ", "), "] : ", conditions,
                                 " and ", absl::StrJoin(all, " and "), " }"))
        .intersect_domain(domain);
  };
  const int64_t places = gather.PlaceCount();
  if (places <= kPlacesApart) {
    isl::map out = map_with({}, "false");
    for (int64_t place = 0; place < places; ++place) {
      std::string where = "true";
      const IndexVector at = gather.At(place);
      for (size_t i = 0; i < gather.dims.size(); ++i) {
        absl::StrAppend(&where, " and i", gather.dims[i], " = ",
                        at[static_cast<int>(i)]);
      }
      std::vector<std::string> values;
      for (const Gather::Table& table : gather.tables) {
        const int64_t value = table.values[place];
        if (value != Gather::kNone) values.push_back(absl::StrCat(value));
      }
      if (values.size() < gather.tables.size()) continue;
      out = out.unite(map_with(values, where));
    }
    return out;
  }
  // Of the tables, and of the whole index where the place alone tells it.
  std::vector<std::string> names;
  std::vector<std::string> ranges;
  for (const Gather::Table& table : gather.tables) {
    AffineExpr rest = Instantiate(use.ref.index[table.position], program_);
    AffineExpr told = rest;
    for (const int32_t d : gather.dims) rest.coefficients[d] = 0;
    IndexVector task;
    for (size_t d = 0; d < dim_count; ++d) task.push_back(0);
    std::pair<int64_t, int64_t> own = {INT64_MAX, INT64_MIN};
    std::pair<int64_t, int64_t> whole = own;
    const auto widen = [](std::pair<int64_t, int64_t>& range, int64_t value) {
      range.first = std::min(range.first, value);
      range.second = std::max(range.second, value);
    };
    for (int64_t place = 0; place < places; ++place) {
      const int64_t value = table.values[place];
      if (value == Gather::kNone) continue;
      const IndexVector at = gather.At(place);
      for (size_t i = 0; i < gather.dims.size(); ++i) {
        task[gather.dims[i]] = at[static_cast<int>(i)];
      }
      widen(own, value);
      widen(whole, value + told.Evaluate(task));
    }
    if (own.first > own.second) return map_with({}, "false");
    names.push_back(absl::StrCat("g", names.size()));
    ranges.push_back(
        absl::StrCat(own.first, " <= ", names.back(), " <= ", own.second));
    if (rest.IsConstant()) {
      ranges.push_back(absl::StrCat(whole.first, " <= j", table.position,
                                    " <= ", whole.second));
    }
  }
  return map_with(names, absl::StrCat("exists ", absl::StrJoin(names, ", "),
                                      " : ", absl::StrJoin(ranges, " and ")));
}

isl::set IslSets::NoLabel(int32_t array) const {
  const int64_t rank = program_.arrays[array].rank;
  return Read(Tuple(ArrayTuple(array), rank), "false");
}

isl::set IslSets::BoxHull(const isl::set& labels,
                          const std::vector<bool>& bounded) const {
  const int count = Dimensions(labels);
  isl::set out = isl::manage(isl_set_universe(isl_set_get_space(labels.get())));
  for (int d = 0; d < count; ++d) {
    if (!bounded[d]) continue;
    // The shadow on index d, all other indices free.
    isl_set* shadow = labels.copy();
    for (int other = 0; other < count; ++other) {
      if (other == d) continue;
      shadow = isl_set_eliminate(shadow, isl_dim_set,
                                 static_cast<unsigned>(other), 1);
    }
    const isl::set all = isl::manage(shadow);
    isl::set hull = isl::manage(isl_set_simple_hull(all.copy()));
    if (HasDivs(all)) hull = Tightened(std::move(hull), all);
    out = out.intersect(hull);
  }
  return out;
}

// The constraints of `set`. An equality with one div, f + m*e = 0, says that m
// divides f. Left out are constraints on parameters alone, and those with divs
// that have no such form: the caller compares the outcome with `set`. Empty if
// a number is too large.
std::vector<CheckedConstraint> IslSets::ConstraintsOf(
    const isl::basic_set& set) const {
  struct Out {
    std::vector<CheckedConstraint> constraints;
    size_t param_count;
  } out{{}, program_.parameters.size()};
  const auto visit = [](isl_constraint* c, void* user) -> isl_stat {
    Out& to = *static_cast<Out*>(user);
    CheckedConstraint constraint;
    LinearForm& form = constraint.form;
    bool is_good = true;
    const auto take = [&is_good](isl_val* value) {
      const auto number = TakeInteger(value);
      is_good = is_good && number;
      return number.value_or(0);
    };
    bool has_dims = false;
    for (int d = 0; d < isl_constraint_dim(c, isl_dim_set); ++d) {
      form.dims.push_back(
          take(isl_constraint_get_coefficient_val(c, isl_dim_set, d)));
      has_dims = has_dims || form.dims.back() != 0;
    }
    form.params.resize(to.param_count);
    for (int p = 0; p < isl_constraint_dim(c, isl_dim_param); ++p) {
      const char* name = isl_constraint_get_dim_name(c, isl_dim_param,
                                                     static_cast<unsigned>(p));
      form.params[std::atoi(name + 1)] =
          take(isl_constraint_get_coefficient_val(c, isl_dim_param, p));
    }
    form.constant = take(isl_constraint_get_constant_val(c));
    int div_count = 0;
    for (int e = 0; e < isl_constraint_dim(c, isl_dim_div); ++e) {
      const int64_t factor =
          take(isl_constraint_get_coefficient_val(c, isl_dim_div, e));
      if (factor == 0) continue;
      ++div_count;
      constraint.modulus = std::abs(factor);
    }
    const bool is_equality = isl_constraint_is_equality(c) == isl_bool_true;
    if (is_equality) {
      constraint.kind = div_count == 0 ? Constraint::Kind::kZero
                                       : Constraint::Kind::kDivisible;
    }
    isl_constraint_free(c);
    if (!is_good) return isl_stat_error;
    if (div_count > (is_equality ? 1 : 0)) return isl_stat_ok;
    if (has_dims) to.constraints.push_back(std::move(constraint));
    return isl_stat_ok;
  };
  if (isl_basic_set_foreach_constraint(set.get(), visit, &out) != isl_stat_ok) {
    return {};
  }
  return out.constraints;
}

// Bounds of each dimension from the shadows of `hull` on the dimensions up to
// it. False where one stays open.
bool IslSets::AddBounds(const isl::basic_set& hull, CheckedDomain& out) const {
  const size_t count = out.dimensions.size();
  for (size_t d = 0; d < count; ++d) {
    isl_basic_set* shadow = isl_basic_set_project_out(
        hull.copy(), isl_dim_set, static_cast<unsigned>(d + 1),
        static_cast<unsigned>(count - d - 1));
    shadow =
        isl_basic_set_remove_redundancies(isl_basic_set_remove_divs(shadow));
    for (CheckedConstraint& c : ConstraintsOf(isl::manage(shadow))) {
      const int64_t factor = c.form.dims[d];
      if (factor == 0) continue;
      // factor * i + rest >= 0.
      c.form.dims[d] = 0;
      c.form.dims.resize(count);
      LinearForm negated = c.form;
      for (int64_t& entry : negated.dims) entry = -entry;
      for (int64_t& entry : negated.params) entry = -entry;
      negated.constant = -negated.constant;
      const bool is_equal = c.kind == Constraint::Kind::kZero;
      CheckedDimension& dimension = out.dimensions[d];
      const int64_t divisor = std::abs(factor);
      if (factor > 0 || is_equal) {
        dimension.lower.push_back(
            {.form = factor > 0 ? negated : c.form, .divisor = divisor});
      }
      if (factor < 0 || is_equal) {
        dimension.upper.push_back(
            {.form = factor > 0 ? negated : c.form, .divisor = divisor});
      }
    }
    if (out.dimensions[d].lower.empty() || out.dimensions[d].upper.empty()) {
      return false;
    }
  }
  return true;
}

// Makes alternatives of `pieces` within `hull`. False where one has no form.
bool IslSets::AddPieces(const isl::set& pieces, const isl::basic_set& hull,
                        CheckedDomain& out) const {
  const isl::set rest = isl::manage(
      isl_set_gist_basic_set(isl_set_remove_redundancies(pieces.copy()),
                             isl_basic_set_remove_divs(hull.copy())));
  out.guard.any_of.clear();
  bool is_good = true;
  rest.foreach_basic_set([&](const isl::basic_set& piece) {
    out.guard.any_of.push_back(ConstraintsOf(piece));
    is_good = is_good && !out.guard.any_of.back().empty();
  });
  return is_good;
}

std::optional<CheckedDomain> IslSets::DomainOf(
    const isl::set& set, const std::vector<std::string>& names) const {
  CheckedDomain out;
  for (const std::string& name : names) {
    out.dimensions.push_back(
        {.name = name, .range = {}, .lower = {}, .upper = {}});
  }
  const isl::set whole = Coalesced(set);
  const isl::basic_set hull = isl::manage(
      isl_basic_set_remove_redundancies(isl_set_simple_hull(whole.copy())));
  if (!AddBounds(hull, out)) return std::nullopt;
  const auto equals = [&] {
    const isl::set back =
        isl::manage(isl_set_reset_tuple_id(Points("X", out).release()));
    const isl::set plain = isl::manage(isl_set_reset_tuple_id(whole.copy()));
    return back.is_equal(plain);
  };
  if (equals()) return out;
  // Not convex: the pieces become alternatives, as they are if they can, for
  // what makes them disjoint may ask for the rest of a division.
  for (const bool is_disjoint : {false, true}) {
    const isl::set pieces =
        is_disjoint ? isl::manage(isl_set_make_disjoint(whole.copy())) : whole;
    if (AddPieces(pieces, hull, out) && equals()) return out;
  }
  return std::nullopt;
}

std::optional<std::pair<LinearForm, LinearForm>> IslSets::RangeOf(
    const isl::set& set, int d) const {
  const auto domain = DomainOf(ShadowOn(set, d), {"index"});
  if (!domain || !domain->guard.any_of.empty()) return std::nullopt;
  const CheckedDimension& range = domain->dimensions.front();
  if (range.lower.size() != 1 || range.lower[0].divisor != 1 ||
      range.upper.size() != 1 || range.upper[0].divisor != 1) {
    return std::nullopt;
  }
  return std::make_pair(range.lower[0].form, range.upper[0].form);
}

isl::set IslSets::Beyond(int32_t array, int d, const LinearForm& form,
                         bool is_below) const {
  const int64_t rank = program_.arrays[array].rank;
  LinearForm bound = form;
  bound.dims.clear();
  return Read(Tuple(ArrayTuple(array), rank),
              absl::StrCat("i", d, is_below ? " < " : " > ", Text(bound)));
}

isl::map IslSets::NotYet(int32_t k, int32_t l) const {
  const CheckedRepeat& repeat = *program_.repeat;
  // As text, of the indices from `first` on.
  const auto time = [&](int32_t of, size_t first) {
    const CheckedTask& task = program_.tasks[of];
    const AffineExpr expr =
        TimeOf(task.domain, program_).value_or(AffineExpr());
    std::string out = absl::StrCat(expr.constant);
    for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
      absl::StrAppend(&out, " + ", expr.coefficients[d], "*i", first + d);
    }
    return out;
  };
  const auto tuple = [&](int32_t of, size_t first) {
    std::vector<std::string> dims;
    const auto& task = program_.tasks[of];
    for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
      dims.push_back(absl::StrCat("i", first + d));
    }
    return absl::StrCat(TaskTuple(of), "[", absl::StrJoin(dims, ", "), "]");
  };
  const size_t own = program_.tasks[k].domain.dimensions.size();
  const int64_t last = program_.parameters[repeat.parameter].integer;
  const std::string round =
      absl::StrCat(repeat.first, " + ", repeat.step, "*s");
  return isl::map(
      context_, absl::StrCat("{ ", tuple(k, 0), " -> ", tuple(l, own),
                             " : exists s : s >= 0 and ", round, " <= ", last,
                             " and ", round, " >= ", time(k, 0), " and ", round,
                             " < ", time(l, own), " }"));
}

isl::set IslSets::WantedAtSomeEnd(const CheckedResult& result) const {
  const auto labels_in = [&result](const IslSets& sets) {
    return sets.RefMap("R", result.domain.dimensions.size(), result.ref)
        .intersect_domain(sets.Points("R", result.domain))
        .range();
  };
  if (!program_.repeat) return labels_in(*this);
  const CheckedRepeat& repeat = *program_.repeat;
  const auto& parameter = program_.parameters[repeat.parameter];
  IslSets sets = *this;
  sets.has_ends_ = true;
  sets.prefix_ = prefix_.empty()
                     ? "[r] -> "
                     : absl::StrCat("[r, ", absl::StripPrefix(prefix_, "["));
  absl::StrAppend(&sets.assumption_, " and ", repeat.first, " <= r and (r - ",
                  repeat.first, ") mod ", repeat.step, " = 0 and r <= ",
                  symbolic_ && !parameter.is_fixed
                      ? absl::StrCat("p", repeat.parameter)
                      : absl::StrCat(parameter.integer));
  isl_set* labels = labels_in(sets).release();
  const int r = isl_set_find_dim_by_name(labels, isl_dim_param, "r");
  if (r >= 0) {
    labels =
        isl_set_project_out(labels, isl_dim_param, static_cast<unsigned>(r), 1);
  }
  return isl::manage(labels);
}

}  // namespace dogged::dsl
