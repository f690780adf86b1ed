#include "dsl/isl/analysis_isl.h"

#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/check/analysis.h"

namespace dogged::dsl {
namespace {

// Steps of isl before it gives up: some seconds at worst.
constexpr uint64_t kSymbolicOperationsMax = 2'000'000;
constexpr uint64_t kConcreteOperationsMax = 50'000'000;

// Index d of every point of `set` at its largest there is.
isl::set AtGreatest(const isl::set& set, int d) {
  const auto rank = isl_set_dim(set.get(), isl_dim_set);
  isl_set* last = set.copy();
  last = isl_set_project_out(last, isl_dim_set, static_cast<unsigned>(d + 1),
                             static_cast<unsigned>(rank - d - 1));
  last = isl_set_project_out(last, isl_dim_set, 0, static_cast<unsigned>(d));
  last = isl_set_lexmax(last);
  last = isl_set_insert_dims(last, isl_dim_set, 0, static_cast<unsigned>(d));
  last = isl_set_insert_dims(last, isl_dim_set, static_cast<unsigned>(d + 1),
                             static_cast<unsigned>(rank - d - 1));
  last = isl_set_set_tuple_id(last, isl_set_get_tuple_id(set.get()));
  return set.intersect(isl::manage(last));
}

}  // namespace

void Analysis::AddTask(int32_t k) {
  const CheckedTask& task = program_.tasks[static_cast<size_t>(k)];
  TaskMaps maps{sets_.TaskDomain(k), {}, {}};
  for (const CheckedCreate& create : task.creates) {
    maps.creates.push_back(sets_.CreateMap(maps.domain, k, create));
    isl::set& created = created_[static_cast<size_t>(create.ref.array)];
    created = created.unite(maps.creates.back().range());
  }
  for (const CheckedUse& use : task.uses) {
    maps.uses.push_back(sets_.UseMap(maps.domain, k, use));
    isl::set& read = read_[static_cast<size_t>(use.ref.array)];
    read = read.unite(maps.uses.back().range());
  }
  tasks_.push_back(std::move(maps));
}

void Analysis::Gather() {
  for (size_t a = 0; a < program_.arrays.size(); ++a) {
    created_.push_back(sets_.NoLabel(static_cast<int32_t>(a)));
  }
  read_ = created_;
  wanted_ = created_;
  for (size_t k = 0; k < program_.tasks.size(); ++k) {
    AddTask(static_cast<int32_t>(k));
  }
  for (isl::set& set : created_) set = Coalesced(set);
  for (isl::set& set : read_) set = Coalesced(set);
}

isl::set Analysis::KnownLabels(int32_t array) const {
  const auto a = static_cast<size_t>(array);
  return created_[a].unite(read_[a]);
}

// Less the labels beyond the ends of a ring, which only neighbours read.
isl::set Analysis::Inside(int32_t array, isl::set labels) const {
  for (const CheckedBoundary& boundary : program_.boundaries) {
    if (boundary.ref.array != array || boundary.periodic_free < 0) continue;
    std::vector<bool> along(boundary.ref.index.size(), false);
    along[static_cast<size_t>(boundary.periodic_index)] = true;
    labels = labels.intersect(
        sets_.BoxHull(created_[static_cast<size_t>(array)], along));
  }
  return labels;
}

// The labels that ":" stands for at the indices where `is_slice`: the declared
// range, or that of all labels that tasks create or read, less those beyond a
// ring.
isl::set Analysis::WholeArray(int32_t array,
                              const std::vector<bool>& is_slice) const {
  const auto& declared = sets_.Declared(array);
  if (declared) return *declared;
  return sets_.BoxHull(Inside(array, KnownLabels(array)), is_slice);
}

// Names of an array's indices: from its declaration, or from `ref`, whose forms
// are over `domain`.
std::vector<std::string> Analysis::IndexNames(
    const CheckedRef& ref, const CheckedDomain& domain) const {
  const CheckedArray& array = program_.arrays[static_cast<size_t>(ref.array)];
  std::vector<std::string> out;
  for (size_t i = 0; i < ref.index.size(); ++i) {
    const std::vector<int64_t>& dims = ref.index[i].dims;
    const auto first = std::find_if(dims.begin(), dims.end(),
                                    [](int64_t c) { return c != 0; });
    std::string name;
    if (first != dims.end()) {
      name = domain.dimensions[static_cast<size_t>(first - dims.begin())].name;
    }
    // The declaration's own, unless it gives none.
    if (array.declared &&
        array.declared->dimensions[i].name.find(' ') == std::string::npos) {
      name = array.declared->dimensions[i].name;
    }
    if (name.empty() || std::find(out.begin(), out.end(), name) != out.end()) {
      name = absl::StrCat("i", i + 1);
    }
    out.push_back(std::move(name));
  }
  return out;
}

// The names that the first task to create labels of the array gives them; where
// it gives a number, that of the next one.
std::vector<std::string> Analysis::IndexNames(int32_t array) const {
  CheckedRef none{.array = array, .index = {}, .range = {}};
  none.index.resize(
      static_cast<size_t>(program_.arrays[static_cast<size_t>(array)].rank));
  const std::vector<std::string> unnamed = IndexNames(none, {});
  std::vector<std::string> out = unnamed;
  for (const CheckedTask& task : program_.tasks) {
    for (const CheckedCreate& create : task.creates) {
      if (create.ref.array != array) continue;
      const auto names = IndexNames(create.ref, task.domain);
      for (size_t i = 0; i < out.size(); ++i) {
        const bool is_new =
            std::find(out.begin(), out.end(), names[i]) == out.end();
        if (out[i] == unnamed[i] && is_new) out[i] = names[i];
      }
    }
  }
  return out;
}

// The last time step, if one array is all that tasks make of themselves.
void Analysis::DefaultResult() {
  int32_t found = -1;
  bool is_stencil = false;
  for (const CheckedTask& task : program_.tasks) {
    if (task.origin != CheckedTask::Origin::kTask &&
        task.origin != CheckedTask::Origin::kReduction) {
      continue;
    }
    for (const CheckedCreate& create : task.creates) {
      if (found >= 0 && found != create.ref.array) found = INT32_MAX;
      if (found < 0) found = create.ref.array;
      for (const CheckedUse& use : task.uses) {
        is_stencil = is_stencil || use.ref.array == create.ref.array;
      }
    }
  }
  // A selection of the command line is enough.
  const bool is_needed = program_.results.empty();
  if (found < 0 || found == INT32_MAX || !is_stencil) {
    if (is_needed && Fails()) {
      diagnostics_
          .Error(Code::kResult, program_.tasks.back().range,
                 "the program does not say what its result is")
          .Help("add  result  and the labels that you want");
    }
    return;
  }
  const CheckedArray& array = program_.arrays[static_cast<size_t>(found)];
  CheckedResult result;
  result.range = array.range;
  result.ref.array = found;
  result.ref.range = array.range;
  const auto rank = static_cast<size_t>(array.rank);
  for (size_t i = 0; i < rank; ++i) {
    LinearForm form;
    form.dims.resize(rank);
    form.params.resize(program_.parameters.size());
    form.dims[i] = 1;
    result.ref.index.push_back(std::move(form));
  }
  result.is_slice.assign(rank, false);
  isl::set labels = WholeArray(found, std::vector<bool>(rank, true));
  if (rank > 0) labels = AtGreatest(labels, static_cast<int>(rank) - 1);
  const auto domain = sets_.DomainOf(labels, IndexNames(found));
  if (!domain) {
    if (is_needed && Fails()) {
      diagnostics_
          .Error(Code::kResult, array.range,
                 absl::StrCat("the last step of ", array.name,
                              " has no simple range"))
          .Help("add  result  and the labels that you want");
    }
    return;
  }
  result.domain = *domain;
  program_.results.push_back(std::move(result));
}

// True if each point of the indices that `result` gives has labels, which are
// those of `points`; else it is said. A ":" may have less for some of them.
bool Analysis::IsThere(const CheckedResult& result, const isl::set& named,
                       const isl::set& points) {
  const auto own = static_cast<unsigned>(
      result.domain.dimensions.size() -
      static_cast<size_t>(
          std::count(result.is_slice.begin(), result.is_slice.end(), true)));
  const isl::set found = isl::manage(isl_set_project_out(
      isl_set_reset_tuple_id(points.copy()), isl_dim_set, own,
      static_cast<unsigned>(isl_set_dim(points.get(), isl_dim_set)) - own));
  const isl::set missing =
      isl::manage(isl_set_reset_tuple_id(named.copy())).subtract(found);
  if (missing.is_empty()) return true;
  if (!Fails()) return false;
  std::vector<int64_t> first = FirstPoint(missing);
  first.resize(result.domain.dimensions.size());
  const IndexVector at =
      Apply(Instantiate(result.ref, program_), ToIndex(first));
  std::string label =
      program_.arrays[static_cast<size_t>(result.ref.array)].name;
  for (size_t i = 0; i < result.is_slice.size(); ++i) {
    absl::StrAppend(
        &label, "(",
        result.is_slice[i] ? ":" : absl::StrCat(at[static_cast<int>(i)]), ")");
  }
  diagnostics_
      .Error(Code::kOutOfRange, result.range,
             absl::StrCat("there is no ", label, ", which is a result"))
      .Help(HelpWithoutLabels(
          result.ref.array,
          "shrink the range of the result, or widen that of a task"));
  return false;
}

// Gives every ":" an index with the range that the array has there.
void Analysis::ResolveResult(CheckedResult& result) {
  for (size_t i = 0; i < result.ref.index.size(); ++i) {
    for (size_t d = 0; d < result.domain.dimensions.size(); ++d) {
      std::string& name = result.domain.dimensions[d].name;
      if (name.find(' ') != std::string::npos &&
          result.ref.index[i].dims[d] != 0) {
        name = IndexNames(result.ref.array)[i];
      }
    }
  }
  const auto slices =
      std::count(result.is_slice.begin(), result.is_slice.end(), true);
  if (slices == 0) return;
  std::vector<std::string> names;
  for (const auto& dimension : result.domain.dimensions) {
    names.push_back(dimension.name);
  }
  const size_t own = names.size();
  const size_t count = own + static_cast<size_t>(slices);
  const isl::set named = sets_.Points("R", result.domain);
  const auto array_names = IndexNames(result.ref.array);
  for (size_t i = 0; i < result.ref.index.size(); ++i) {
    result.ref.index[i].dims.resize(count);
    if (!result.is_slice[i]) continue;
    result.ref.index[i].dims[names.size()] = 1;
    names.push_back(array_names[i]);
    result.domain.dimensions.push_back(
        {.name = names.back(), .range = {}, .lower = {}, .upper = {}});
  }
  const isl::set points =
      sets_.RefMap("R", count, result.ref)
          .intersect_domain(sets_.Points("R", result.domain))
          .intersect_range(WholeArray(result.ref.array, result.is_slice))
          .domain();
  if (!IsThere(result, named, points)) return;
  const auto domain = sets_.DomainOf(points, names);
  if (!domain) {
    if (Fails()) {
      diagnostics_
          .Error(Code::kResult, result.range,
                 "there are no such labels, or their range is not simple")
          .Help("name the indices:  for x = ...");
    }
    return;
  }
  result.domain = *domain;
  result.is_slice.assign(result.is_slice.size(), false);
}

void Analysis::Results() {
  std::vector<CheckedResult>& results = program_.results;
  if (std::all_of(results.begin(), results.end(),
                  [](const CheckedResult& r) { return r.is_selection; })) {
    DefaultResult();
    // Selections of the command line come last.
    if (!results.empty() && !results.back().is_selection) {
      std::rotate(results.begin(), results.end() - 1, results.end());
    }
  }
  for (CheckedResult& result : program_.results) {
    ResolveResult(result);
    if (HasErrors()) return;
    const isl::set labels =
        sets_.RefMap("R", result.domain.dimensions.size(), result.ref)
            .intersect_domain(sets_.Points("R", result.domain))
            .range();
    if (result.is_selection) SelectWithin(result, labels);
    if (labels.is_empty() && Fails()) {
      diagnostics_.Error(Code::kResult, result.range, "the result is empty")
          .Help("its range has no point with these parameters");
    }
    isl::set& wanted = wanted_[static_cast<size_t>(result.ref.array)];
    wanted = Coalesced(wanted.unite(labels));
  }
}

// With numbers for parameters, which a set without points does not have.
void Analysis::Extents() {
  for (size_t a = 0; a < program_.arrays.size(); ++a) {
    CheckedArray& array = program_.arrays[a];
    isl_set* labels = isl_set_union(
        KnownLabels(static_cast<int32_t>(a)).release(), wanted_[a].copy());
    if (const auto& declared = sets_.Declared(static_cast<int32_t>(a))) {
      labels = isl_set_union(labels, declared->copy());
    }
    const int params = static_cast<int>(isl_set_dim(labels, isl_dim_param));
    for (int p = 0; p < params; ++p) {
      const char* name =
          isl_set_get_dim_name(labels, isl_dim_param, static_cast<unsigned>(p));
      const auto& parameter =
          program_.parameters[static_cast<size_t>(std::atoi(name + 1))];
      labels = isl_set_fix_val(
          labels, isl_dim_param, static_cast<unsigned>(p),
          isl_val_int_from_si(isl_set_get_ctx(labels), parameter.integer));
    }
    const isl::set known = isl::manage(labels);
    if (known.is_empty()) continue;
    for (int d = 0; d < array.rank; ++d) {
      const auto lower = Least(known, d);
      const auto upper = Greatest(known, d);
      if (!lower || !upper) {
        if (Fails()) {
          diagnostics_.Error(Code::kTooLarge, array.range,
                             absl::StrCat("the indices of ", array.name,
                                          " go beyond 2^50, or have no end"));
        }
        return;
      }
      array.lower.push_back(*lower);
      array.upper.push_back(*upper);
    }
  }
}

bool Analysis::Run() {
  Gather();
  if (HasErrors()) return false;
  Results();
  if (HasErrors()) return false;
  DeclaredRanges();
  if (HasErrors()) return false;
  Boundaries();
  if (symbolic_ ? HasErrors() : diagnostics_.HasErrors()) return false;
  SingleAssignment();
  Coverage();
  if (HasErrors() && (symbolic_ || diagnostics_.HasErrors())) return false;
  Rounds();
  Extents();
  if (diagnostics_.HasErrors()) return false;
  Order();
  if (diagnostics_.HasErrors()) return false;
  Need();
  return is_good_;
}

namespace {

bool HasFreeParameter(const CheckedProgram& program) {
  return std::any_of(program.parameters.begin(), program.parameters.end(),
                     [](const CheckedParameter& parameter) {
                       return !parameter.is_fixed &&
                              parameter.element == ElementType::kInt64;
                     });
}

// With symbols first: a proof for all sizes. Where one fails, or takes too
// long, the numbers decide, and give the witness.
bool IsProvedForAllSizes(CheckedProgram& program,
                         const Diagnostics& diagnostics) {
  CheckedProgram copy = program;
  Diagnostics silent(diagnostics.file(), diagnostics.text());
  try {
    const IslContext context(kSymbolicOperationsMax);
    if (!Analysis(copy, silent, context, /*symbolic=*/true).Run()) return false;
  } catch (const isl::exception&) {
    return false;  // as if a proof had failed
  }
  program = std::move(copy);
  return true;
}

}  // namespace

void AnalyzeWithIsl(CheckedProgram& program, Diagnostics& diagnostics) {
  if (diagnostics.HasErrors()) return;
  if (HasFreeParameter(program) && IsProvedForAllSizes(program, diagnostics)) {
    return;
  }
  try {
    const IslContext context(kConcreteOperationsMax);
    Analysis(program, diagnostics, context, /*symbolic=*/false).Run();
  } catch (const isl::exception& e) {
    diagnostics
        .Error(Code::kNotProved, {},
               "the program is beyond what the analysis can do")
        .Help("simpler ranges and conditions help; so do smaller parameters");
  }
}

}  // namespace dogged::dsl
