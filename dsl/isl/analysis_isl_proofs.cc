#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/analysis_isl.h"

namespace dogged::dsl {
namespace {

// Pieces of a set of missing labels that are reported one by one.
constexpr int kPiecesMax = 6;
// Finding the needed tasks, where not all are, is worth a tenth of a second.
// The bounds are of steps that isl counts, and where it does not count them
// all, of rounds and of the pieces of a set: not of time, which differs from
// run to run, and with it the program that comes out would.
constexpr uint64_t kPeelingOperationsMax = 1'000'000;
constexpr uint64_t kClosureOperationsMax = 20'000;
constexpr int kPeelsMax = 32;
constexpr int kPiecesPeeledMax = 24;

std::string ChangeRange() {
  return "change the range of the index, or that of the array";
}

int PieceCount(const isl::union_set& sets) {
  int pieces = 0;
  sets.foreach_set(
      [&](const isl::set& set) { pieces += isl_set_n_basic_set(set.get()); });
  return pieces;
}

}  // namespace

std::string Analysis::PointText(const CheckedTask& task,
                                const std::vector<int64_t>& point) const {
  std::string out;
  for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
    absl::StrAppend(&out, d == 0 ? " at " : ", ",
                    task.domain.dimensions[d].name, " = ", point[d]);
  }
  return out;
}

// The smallest box around `points`: " at x = 1:9, t = 3".
std::string Analysis::RangesText(const CheckedTask& task,
                                 const isl::set& points) const {
  const auto rank = task.domain.dimensions.size();
  isl_ctx* context = isl_set_get_ctx(points.get());
  isl_set* box = isl_set_universe(isl_set_get_space(points.get()));
  std::string out;
  for (size_t d = 0; d < rank; ++d) {
    const int i = static_cast<int>(d);
    const int64_t first = Least(points, i).value_or(0);
    const int64_t last = Greatest(points, i).value_or(0);
    const auto u = static_cast<unsigned>(d);
    box = isl_set_lower_bound_val(box, isl_dim_set, u,
                                  isl_val_int_from_si(context, first));
    box = isl_set_upper_bound_val(box, isl_dim_set, u,
                                  isl_val_int_from_si(context, last));
    absl::StrAppend(&out, d == 0 ? "" : ", ", task.domain.dimensions[d].name,
                    " = ", first);
    if (SharedValue(points, i)) continue;
    absl::StrAppend(&out, ":", last);
    const int64_t step = Stride(points, i);
    if (step == 1) continue;
    absl::StrAppend(&out, ":", step);
    isl_aff* ahead = isl_aff_var_on_domain(
        isl_local_space_from_space(isl_set_get_space(points.get())),
        isl_dim_set, u);
    ahead = isl_aff_mod_val(
        isl_aff_add_constant_val(ahead, isl_val_int_from_si(context, -first)),
        isl_val_int_from_si(context, step));
    box = isl_set_intersect(
        box, isl_set_from_basic_set(isl_aff_zero_basic_set(ahead)));
  }
  const bool is_all = isl::manage(box).is_subset(points);
  return absl::StrCat(is_all ? " at " : " at some of ", out);
}

// The first point of `task` that `map` relates to a label, and the first of
// its labels.
std::pair<std::vector<int64_t>, std::vector<int64_t>> Analysis::FirstOf(
    const isl::map& map, const CheckedTask& task) {
  std::vector<int64_t> point = FirstPoint(map.wrap());
  const auto split =
      point.begin() + static_cast<int64_t>(task.domain.dimensions.size());
  std::vector<int64_t> label(split, point.end());
  point.erase(split, point.end());
  return {std::move(point), std::move(label)};
}

std::string Analysis::LabelText(const CheckedRef& ref,
                                const std::vector<int64_t>& point) const {
  return absl::StrCat(
      program_.arrays[static_cast<size_t>(ref.array)].name,
      Apply(Instantiate(ref, program_), ToIndex(point)).ToString());
}

// --- Declared ranges -------------------------------------------------------

void Analysis::InRange(const CheckedTask& task, const isl::map& map,
                       const CheckedRef& ref, absl::string_view verb,
                       absl::FunctionRef<std::string()> help) {
  const auto& declared = sets_.Declared(ref.array);
  if (!declared) return;
  isl_set* allowed = declared->copy();
  // Beyond the ends of a ring it is read, and never created or wanted.
  for (const CheckedBoundary& boundary : program_.boundaries) {
    if (boundary.ref.array != ref.array || boundary.periodic_free < 0) continue;
    if (verb != "reads") continue;
    allowed =
        isl_set_eliminate(allowed, isl_dim_set,
                          static_cast<unsigned>(boundary.periodic_index), 1);
  }
  const isl::set beyond = map.range().subtract(isl::manage(allowed));
  if (beyond.is_empty() || !Fails()) return;
  const auto [point, label] = FirstOf(map.intersect_range(beyond), task);
  const CheckedArray& array = program_.arrays[static_cast<size_t>(ref.array)];
  diagnostics_
      .Error(Code::kOutOfRange, ref.range,
             absl::StrCat(task.name, " ", verb, " ", array.name,
                          ToIndex(label).ToString(), PointText(task, point),
                          ", which is outside of its array"))
      .Note(absl::StrCat(array.name, " is declared on line ",
                         diagnostics_.LineAndColumn(array.range.begin).first))
      .Help(help());
}

void Analysis::DeclaredRanges() {
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    for (size_t c = 0; c < task.creates.size(); ++c) {
      InRange(task, tasks_[k].creates[c], task.creates[c].ref, "creates",
              ChangeRange);
    }
    for (size_t u = 0; u < task.uses.size(); ++u) {
      InRange(task, tasks_[k].uses[u], task.uses[u].ref, "reads",
              [&] { return HelpAhead(task, task.uses[u], ChangeRange()); });
    }
  }
  for (const CheckedResult& result : program_.results) {
    CheckedTask wish;
    wish.name = "the result";
    wish.domain = result.domain;
    InRange(wish,
            sets_.RefMap("R", result.domain.dimensions.size(), result.ref)
                .intersect_domain(sets_.Points("R", result.domain)),
            result.ref, "wants", ChangeRange);
  }
}

// --- Selections of the command line -----------------------------------------

// Takes the labels within ":", index by index.
void Analysis::SelectWithin(const CheckedResult& result,
                            const isl::set& labels) {
  const int32_t array = result.ref.array;
  const size_t rank = result.ref.index.size();
  const isl::set all = WholeArray(array, std::vector<bool>(rank, true));
  for (size_t i = 0; i < rank; ++i) {
    std::vector<bool> along(rank, false);
    along[i] = true;
    if (labels.is_subset(sets_.BoxHull(all, along)) || !Fails()) continue;
    const std::vector<std::string> names = IndexNames(array);
    const auto first = Least(all, static_cast<int>(i));
    const auto last = Greatest(all, static_cast<int>(i));
    std::string range = absl::StrCat("no such ", names[i]);
    if (first && last) {
      const int64_t step = Stride(all, static_cast<int>(i));
      range = absl::StrCat(names[i], " = ", *first, ":", *last,
                           step > 1 ? absl::StrCat(":", step) : "");
    }
    diagnostics_.Error(
        Code::kOutOfRange, result.index_range[i],
        absl::StrCat(program_.arrays[static_cast<size_t>(array)].name, "(",
                     absl::StrJoin(names, ")("), ") has ", range));
  }
}

// --- One producer ----------------------------------------------------------

// No label is create c of class k and create d of class l, unless the two are
// one.
void Analysis::NoTwo(int32_t k, size_t c, int32_t l, size_t d) {
  const isl::map& first = tasks_[static_cast<size_t>(k)].creates[c];
  const isl::map& second = tasks_[static_cast<size_t>(l)].creates[d];
  isl::map pairs = first.apply_range(second.reverse());
  const bool is_same = k == l && c == d;
  if (is_same) {
    pairs = pairs.subtract(
        isl::manage(isl_map_identity(isl_map_get_space(pairs.get()))));
  }
  if (pairs.is_empty() || !Fails()) return;
  const CheckedTask& one = program_.tasks[static_cast<size_t>(k)];
  const CheckedTask& two = program_.tasks[static_cast<size_t>(l)];
  std::vector<int64_t> point = FirstPoint(pairs.wrap());
  const auto split =
      point.begin() + static_cast<int64_t>(one.domain.dimensions.size());
  const std::vector<int64_t> other(split, point.end());
  point.erase(split, point.end());
  const CheckedRef& ref = two.creates[d].ref;
  const std::string label = LabelText(ref, other);
  if (is_same) {
    diagnostics_
        .Error(Code::kTwoProducers, ref.range,
               absl::StrCat(two.name, " creates ", label,
                            " twice:", PointText(one, point), ", and",
                            PointText(two, other)))
        .Help("every index of more than one value has to stand in the label");
    return;
  }
  std::string message = absl::StrCat(label, " has two producers: ", one.name,
                                     PointText(one, point), ", and ", two.name,
                                     PointText(two, other));
  const int line =
      diagnostics_.LineAndColumn(one.creates[c].ref.range.begin).first;
  const bool are_boundaries = one.origin == CheckedTask::Origin::kBoundary &&
                              two.origin == CheckedTask::Origin::kBoundary;
  if (are_boundaries) {
    Clash& clash = clashes_[static_cast<size_t>(l)];
    if (clash.message.empty()) clash.message = std::move(message);
    clash.lines.push_back(line);
    clash.conditions.push_back(
        Apart(one.creates[c].ref, static_cast<size_t>(l)));
    return;
  }
  diagnostics_.Error(Code::kTwoProducers, ref.range, std::move(message))
      .Note(absl::StrCat("the other one is on line ", line))
      .Help("shrink a range, or add  where,  so that each label has one");
}

void Analysis::SingleAssignment() {
  struct Create {
    int32_t task;
    size_t position;
    int32_t array;
  };
  std::vector<Create> all;
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    for (size_t c = 0; c < task.creates.size(); ++c) {
      all.push_back({static_cast<int32_t>(k), c, task.creates[c].ref.array});
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = i; j < all.size(); ++j) {
      if (all[i].array != all[j].array) continue;
      NoTwo(all[i].task, all[i].position, all[j].task, all[j].position);
      if (symbolic_ && !is_good_) return;
    }
  }
  ReportClashes();
}

// --- Every label that is read or wanted has a producer ----------------------

void Analysis::Coverage() {
  for (size_t a = 0; a < created_.size(); ++a) {
    const isl::set missing = read_[a].unite(wanted_[a]).subtract(created_[a]);
    if (missing.is_empty()) continue;
    if (!Fails()) return;
    int count = 0;
    Coalesced(isl::manage(isl_set_make_disjoint(missing.copy())))
        .foreach_basic_set([&](const isl::basic_set& piece) {
          if (++count <= kPiecesMax) {
            ReportMissing(static_cast<int32_t>(a), isl::set(piece));
          }
        });
  }
}

// --- Need ------------------------------------------------------------------

// Corners and the like: every piece fixes two indices or more. Nobody wants to
// read that the corners of a grid are computed in vain.
bool Analysis::IsThin(const isl::set& set) {
  bool is_thin = true;
  set.foreach_basic_set([&](const isl::basic_set& piece) {
    int fixed = 0;
    for (int d = 0; d < isl_set_dim(set.get(), isl_dim_set); ++d) {
      if (SharedValue(isl::set(piece), d)) ++fixed;
    }
    is_thin = is_thin && fixed >= 2;
  });
  return is_thin;
}

// True for tasks of a loop's condition, where the loop runs a given number of
// steps instead.
bool Analysis::IsForCondition(const CheckedTask& task) const {
  const std::vector<int32_t>& arrays = program_.condition_arrays;
  return std::any_of(task.creates.begin(), task.creates.end(),
                     [&arrays](const CheckedCreate& create) {
                       return std::find(arrays.begin(), arrays.end(),
                                        create.ref.array) != arrays.end();
                     });
}

// Every task makes something that is wanted, or that another task reads: as
// there is no cycle, following the readers ends at a result.
void Analysis::Need() {
  bool all = true;
  std::vector<bool> is_told(tasks_.size());
  isl::union_set wanted = isl::manage(
      isl_union_set_empty(isl_set_get_space(tasks_[0].domain.get())));
  std::vector<isl::set> at_ends;  // by array, wanted wherever a loop ends
  for (size_t a = 0; a < program_.arrays.size(); ++a) {
    at_ends.push_back(sets_.NoLabel(static_cast<int32_t>(a)));
  }
  for (const CheckedResult& result : program_.results) {
    isl::set& of_array = at_ends[static_cast<size_t>(result.ref.array)];
    of_array = of_array.unite(sets_.WantedAtSomeEnd(result));
  }
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    isl::set useless = tasks_[k].domain;
    for (size_t c = 0; c < task.creates.size(); ++c) {
      const auto a = static_cast<size_t>(task.creates[c].ref.array);
      const isl::map& map = tasks_[k].creates[c];
      useless = useless.subtract(
          map.intersect_range(read_[a].unite(at_ends[a])).domain());
      wanted = wanted.unite(
          isl::union_set(map.intersect_range(at_ends[a]).domain()));
    }
    program_.tasks[k].is_all_needed = useless.is_empty();
    useless_.push_back(useless);
    if (useless.is_empty()) continue;
    all = false;
    if (!Fails()) return;
    if (IsThin(useless) || IsForCondition(task)) continue;
    // A file may hold more than is needed.
    if (task.origin == CheckedTask::Origin::kInput &&
        !tasks_[k].domain.is_subset(useless)) {
      continue;
    }
    is_told[k] = true;
  }
  program_.every_task_needed = all;
  FindNeeded(wanted);
  for (size_t k = 0; k < tasks_.size(); ++k) {
    if (is_told[k]) WarnOfUseless(k);
  }
}

// Warns of the points of class k that no result needs.
void Analysis::WarnOfUseless(size_t k) const {
  const CheckedTask& task = program_.tasks[k];
  const bool is_all = tasks_[k].domain.is_subset(useless_[k]);
  const auto array = static_cast<size_t>(task.creates.front().ref.array);
  diagnostics_
      .Warning(Code::kNeverNeeded, task.range,
               absl::StrCat("no result needs ", task.name,
                            is_all ? "" : RangesText(task, useless_[k])))
      .Help(is_all ? absl::StrCat("leave it out, or add  result ",
                                  program_.arrays[array].name)
                   : "these are not run: shrink a range, or let a result name "
                     "more");
}

// Fills in CheckedTask::needed, if it can. A loop's tasks are needed if they
// are for any round at which it may end.
void Analysis::FindNeeded(const isl::union_set& wanted) {
  if (program_.every_task_needed) return;
  const isl::union_map requires_map = Requires();
  isl_ctx* context = isl_set_get_ctx(tasks_[0].domain.get());
  const uint64_t bound = isl_ctx_get_max_operations(context);
  const auto peel = [&] { return ByPeeling(wanted, requires_map); };
  const auto close = [&] { return ByClosure(wanted, requires_map); };
  if (!TryNeeded(kPeelingOperationsMax, peel)) {
    TryNeeded(kClosureOperationsMax, close);
  }
  isl_ctx_reset_error(context);
  isl_ctx_reset_operations(context);
  isl_ctx_set_max_operations(context, bound);
}

// Fills in `needed` by `find` within so many operations; false, and nothing is
// filled in, if that fails. Nothing depends on it: `needed` is an extra.
bool Analysis::TryNeeded(
    uint64_t operations_max,
    absl::FunctionRef<std::optional<isl::union_set>()> find) {
  isl_ctx* context = isl_set_get_ctx(tasks_[0].domain.get());
  isl_ctx_reset_operations(context);
  isl_ctx_set_max_operations(context, operations_max);
  try {
    const std::optional<isl::union_set> needed = find();
    if (needed.has_value()) NoteNeeded(*needed);
    return needed.has_value();
  } catch (const isl::exception&) {
    for (CheckedTask& task : program_.tasks) task.needed.reset();
    return false;
  }
}

isl::union_set Analysis::AllTasks() const {
  isl::union_set all = isl::manage(
      isl_union_set_empty(isl_set_get_space(tasks_[0].domain.get())));
  for (const TaskMaps& maps : tasks_) {
    all = all.unite(isl::union_set(maps.domain));
  }
  return all;
}

// The tasks that results need: they require nothing from outside, and each of
// them makes something wanted or read within. As there is no cycle, no other
// set has both properties. Found by leaving out tasks that nobody reads, then
// tasks that only those have read, and so on. None: there is no end in sight.
std::optional<isl::union_set> Analysis::ByPeeling(
    const isl::union_set& wanted, const isl::union_map& requires_map) const {
  const isl::union_set all = AllTasks();
  isl::union_set needed = all;
  for (int i = 0; i < kPeelsMax && PieceCount(needed) <= kPiecesPeeledMax;
       ++i) {
    const isl::union_set read = needed.apply(requires_map).intersect(all);
    const isl::union_set rest = wanted.unite(read);
    if (needed.is_subset(rest)) return needed;
    needed = isl::manage(isl_union_set_coalesce(rest.copy()));
  }
  return std::nullopt;
}

// The same from the other end. None: the closure says more than there is.
std::optional<isl::union_set> Analysis::ByClosure(
    const isl::union_set& wanted, const isl::union_map& requires_map) const {
  isl_bool closure_is_exact = isl_bool_false;
  const isl::union_map closure = isl::manage(
      isl_union_map_transitive_closure(requires_map.copy(), &closure_is_exact));
  const isl::union_set needed =
      wanted.unite(wanted.apply(closure)).intersect(AllTasks());
  const isl::union_set read = needed.apply(requires_map);
  const bool is_it =
      read.is_subset(needed) && needed.is_subset(wanted.unite(read));
  return is_it ? std::make_optional(needed) : std::nullopt;
}

// Fills in CheckedTask::needed.
void Analysis::NoteNeeded(const isl::union_set& needed) {
  for (size_t k = 0; k < tasks_.size(); ++k) {
    CheckedTask& task = program_.tasks[k];
    const isl::set domain = isl::manage(isl_union_set_extract_set(
        needed.get(), isl_set_get_space(tasks_[k].domain.get())));
    useless_[k] = tasks_[k].domain.subtract(domain);
    std::vector<std::string> names;
    for (const auto& dimension : task.domain.dimensions) {
      names.push_back(dimension.name);
    }
    if (domain.is_empty()) {
      task.needed = task.domain;
      LinearForm never;
      never.constant = -1;
      task.needed->guard.any_of = {{{.form = never,
                                     .kind = Constraint::Kind::kAtLeastZero,
                                     .modulus = 1}}};
      continue;
    }
    task.needed = sets_.DomainOf(domain, names);
  }
}

}  // namespace dogged::dsl
