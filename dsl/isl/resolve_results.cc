#include "dsl/isl/resolve_results.h"

#include <isl/set.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/check/index_names.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/label_help.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// Index d of every point of `set` at its largest there is.
isl::set AtGreatest(const isl::set& set, int d) {
  const auto rank = isl_set_dim(set.get(), isl_dim_set);
  isl_set* last = isl_set_lexmax(ShadowOn(set, d).release());
  last = isl_set_insert_dims(last, isl_dim_set, 0, static_cast<unsigned>(d));
  last = isl_set_insert_dims(last, isl_dim_set, static_cast<unsigned>(d + 1),
                             static_cast<unsigned>(rank - d - 1));
  last = isl_set_set_tuple_id(last, isl_set_get_tuple_id(set.get()));
  return set.intersect(isl::manage(last));
}

// A loop's condition is wanted for the loop alone.
bool IsCondition(const CheckedProgram& program, const CheckedResult& result) {
  return program.repeat.has_value() &&
         result.ref.array == program.FindArray(kConditionArray);
}

// The last task but a loop's condition.
const CheckedTask& LastTask(const CheckedProgram& program) {
  const int32_t condition = program.FindArray(kConditionArray);
  const auto found = std::find_if(
      program.tasks.rbegin(), program.tasks.rend(), [&](const auto& task) {
        return task.creates.empty() ||
               task.creates.front().ref.array != condition;
      });
  return found == program.tasks.rend() ? program.tasks.back() : *found;
}

// The last time step, if one array is all that tasks make of themselves.
void DefaultResult(Proof& proof) {
  int32_t found = -1;
  bool is_stencil = false;
  for (const CheckedTask& task : proof.program.tasks) {
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
  const std::vector<CheckedResult>& known = proof.program.results;
  const bool is_needed =
      std::all_of(known.begin(), known.end(), [&proof](const CheckedResult& r) {
        return IsCondition(proof.program, r);
      });
  if (found < 0 || found == INT32_MAX || !is_stencil) {
    if (is_needed && proof.Fails()) {
      proof.diagnostics
          .Error(Code::kResult, LastTask(proof.program).range,
                 "the program does not say what its result is")
          .Help("add  result  and the labels that you want");
    }
    return;
  }
  const CheckedArray& array = proof.program.arrays[found];
  CheckedResult result;
  result.range = array.range;
  result.ref.array = found;
  result.ref.range = array.range;
  const auto rank = static_cast<size_t>(array.rank);
  for (size_t i = 0; i < rank; ++i) {
    LinearForm form;
    form.dims.resize(rank);
    form.params.resize(proof.program.parameters.size());
    form.dims[i] = 1;
    result.ref.index.push_back(std::move(form));
  }
  result.is_slice.assign(rank, false);
  isl::set labels = proof.WholeArray(found, std::vector<bool>(rank, true));
  if (rank > 0) labels = AtGreatest(labels, static_cast<int>(rank) - 1);
  const auto domain =
      proof.sets.DomainOf(labels, IndexNames(proof.program, found));
  if (!domain) {
    if (is_needed && proof.Fails()) {
      proof.diagnostics
          .Error(Code::kResult, array.range,
                 absl::StrCat("the last step of ", array.name,
                              " has no simple range"))
          .Help("add  result  and the labels that you want");
    }
    return;
  }
  result.domain = *domain;
  proof.program.results.push_back(std::move(result));
}

// True if each point of the indices that `result` gives has labels, which are
// those of `points`; else it is said. A ":" may have less for some of them.
bool IsThere(Proof& proof, const CheckedResult& result, const isl::set& named,
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
  if (!proof.Fails()) return false;
  std::vector<int64_t> first = FirstPoint(missing);
  first.resize(result.domain.dimensions.size());
  const IndexVector at =
      Apply(Instantiate(result.ref, proof.program), ToIndex(first));
  std::string label = proof.program.arrays[result.ref.array].name;
  for (size_t i = 0; i < result.is_slice.size(); ++i) {
    absl::StrAppend(
        &label, "(",
        result.is_slice[i] ? ":" : absl::StrCat(at[static_cast<int>(i)]), ")");
  }
  proof.diagnostics
      .Error(Code::kOutOfRange, result.range,
             absl::StrCat("there is no ", label, ", which is a result"))
      .Help(HelpWithoutLabels(
          proof, result.ref.array,
          "shrink the range of the result, or widen that of a task"));
  return false;
}

// True if the array's index i ends with the loop: `last` is where it does after
// as many rounds as there may be.
bool EndsWithLoop(const CheckedProgram& program, int32_t array, size_t i,
                  int64_t last) {
  const auto p = static_cast<size_t>(program.repeat->parameter);
  const auto ends = [&](const CheckedTask& task, const CheckedCreate& create) {
    const LinearForm& index = create.ref.index[i];
    for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
      if (index.dims[d] != 1) continue;
      for (const CheckedBound& bound : task.domain.dimensions[d].upper) {
        const AffineExpr end = Instantiate(bound.form, program);
        if (bound.form.params[p] == 1 && bound.divisor == 1 &&
            end.IsConstant() && end.constant + index.constant == last) {
          return true;
        }
      }
    }
    return false;
  };
  for (const CheckedTask& task : program.tasks) {
    for (const CheckedCreate& create : task.creates) {
      if (create.ref.array == array && ends(task, create)) return true;
    }
  }
  return false;
}

// Where parameters are numbers, the loop's is one, too: what goes on to its
// last value goes to its end.
void KeepEndOfLoop(const Proof& proof, CheckedResult& result) {
  const CheckedProgram& program = proof.program;
  if (proof.is_symbolic || !program.repeat) return;
  const auto p = static_cast<size_t>(program.repeat->parameter);
  const CheckedParameter& parameter = program.parameters[p];
  if (parameter.is_fixed) return;
  for (size_t i = 0; i < result.is_slice.size(); ++i) {
    if (!result.is_slice[i]) continue;
    const std::vector<int64_t>& dims = result.ref.index[i].dims;
    const auto d = static_cast<size_t>(std::find(dims.begin(), dims.end(), 1) -
                                       dims.begin());
    std::vector<CheckedBound>& upper = result.domain.dimensions[d].upper;
    if (upper.size() != 1 || upper[0].divisor != 1) continue;
    LinearForm& form = upper[0].form;
    const bool is_number =
        form.IsNumber() && std::all_of(form.params.begin(), form.params.end(),
                                       [](int64_t f) { return f == 0; });
    if (!is_number ||
        !EndsWithLoop(program, result.ref.array, i, form.constant)) {
      continue;
    }
    form.params.resize(program.parameters.size());
    form.params[p] = 1;
    form.constant -= parameter.integer;
  }
}

// Gives every ":" an index with the range that the array has there.
void ResolveResult(Proof& proof, CheckedResult& result) {
  for (size_t i = 0; i < result.ref.index.size(); ++i) {
    for (size_t d = 0; d < result.domain.dimensions.size(); ++d) {
      std::string& name = result.domain.dimensions[d].name;
      if (name.find(' ') != std::string::npos &&
          result.ref.index[i].dims[d] != 0) {
        name = IndexNames(proof.program, result.ref.array)[i];
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
  const isl::set named = proof.sets.Points("R", result.domain);
  const auto array_names = IndexNames(proof.program, result.ref.array);
  for (size_t i = 0; i < result.ref.index.size(); ++i) {
    result.ref.index[i].dims.resize(count);
    if (!result.is_slice[i]) continue;
    result.ref.index[i].dims[names.size()] = 1;
    names.push_back(array_names[i]);
    result.domain.dimensions.push_back(
        {.name = names.back(), .range = {}, .lower = {}, .upper = {}});
  }
  const isl::set points =
      proof.sets.RefMap("R", count, result.ref)
          .intersect_domain(proof.sets.Points("R", result.domain))
          .intersect_range(proof.WholeArray(result.ref.array, result.is_slice))
          .domain();
  if (!IsThere(proof, result, named, points)) return;
  const auto domain = proof.sets.DomainOf(points, names);
  if (!domain) {
    if (proof.Fails()) {
      proof.diagnostics
          .Error(Code::kResult, result.range,
                 "there are no such labels, or their range is not simple")
          .Help("name the indices:  for x = ...");
    }
    return;
  }
  result.domain = *domain;
  KeepEndOfLoop(proof, result);
  result.is_slice.assign(result.is_slice.size(), false);
}

// Takes the labels within ":", index by index.
void SelectWithin(Proof& proof, const CheckedResult& result,
                  const isl::set& labels) {
  const int32_t array = result.ref.array;
  const size_t rank = result.ref.index.size();
  const isl::set all = proof.WholeArray(array, std::vector<bool>(rank, true));
  for (size_t i = 0; i < rank; ++i) {
    std::vector<bool> along(rank, false);
    along[i] = true;
    if (labels.is_subset(proof.sets.BoxHull(all, along)) || !proof.Fails())
      continue;
    const std::vector<std::string> names = IndexNames(proof.program, array);
    const auto first = Least(all, static_cast<int>(i));
    const auto last = Greatest(all, static_cast<int>(i));
    std::string range = absl::StrCat("no such ", names[i]);
    if (first && last) {
      const int64_t step = Stride(all, static_cast<int>(i));
      range = absl::StrCat(names[i], " = ", *first, ":", *last,
                           step > 1 ? absl::StrCat(":", step) : "");
    }
    proof.diagnostics.Error(
        Code::kOutOfRange, result.index_range[i],
        absl::StrCat(proof.program.arrays[array].name, "(",
                     absl::StrJoin(names, ")("), ") has ", range));
  }
}

}  // namespace

void ResolveResults(Proof& proof) {
  std::vector<CheckedResult>& results = proof.program.results;
  if (std::all_of(results.begin(), results.end(),
                  [&proof](const CheckedResult& r) {
                    return r.is_selection || IsCondition(proof.program, r);
                  })) {
    DefaultResult(proof);
    // Selections of the command line come last.
    if (!results.empty() && !results.back().is_selection) {
      std::rotate(results.begin(), results.end() - 1, results.end());
    }
  }
  for (CheckedResult& result : proof.program.results) {
    ResolveResult(proof, result);
    if (proof.HasErrors()) return;
    const isl::set labels =
        proof.sets.RefMap("R", result.domain.dimensions.size(), result.ref)
            .intersect_domain(proof.sets.Points("R", result.domain))
            .range();
    if (result.is_selection) SelectWithin(proof, result, labels);
    if (labels.is_empty() && proof.Fails()) {
      proof.diagnostics
          .Error(Code::kResult, result.range, "the result is empty")
          .Help("its range has no point with these parameters");
    }
    isl::set& wanted = proof.wanted[result.ref.array];
    wanted = Coalesced(wanted.unite(labels));
  }
}

}  // namespace dogged::dsl
