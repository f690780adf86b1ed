#include "dsl/isl/needed_tasks.h"

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/point_text.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// Finding the needed tasks, where not all are, is worth a tenth of a second.
// The bounds are of steps that isl counts, and where it does not count them
// all, of rounds and of the pieces of a set: not of time, which differs from
// run to run, and with it the program that comes out would.
constexpr uint64_t kPeelingOperationsMax = 1'000'000;
constexpr uint64_t kClosureOperationsMax = 20'000;
constexpr int kPeelsMax = 32;
constexpr int kPiecesPeeledMax = 24;

class NeededTasks {
 public:
  explicit NeededTasks(Proof& proof) : proof_(proof) {}
  void Find();

 private:
  void FindNeeded(const isl::union_set& wanted);
  isl::union_set AllTasks() const;
  std::optional<isl::union_set> ByPeeling(
      const isl::union_set& wanted, const isl::union_map& requires_map) const;
  std::optional<isl::union_set> ByClosure(
      const isl::union_set& wanted, const isl::union_map& requires_map) const;
  bool TryNeeded(uint64_t operations_max,
                 absl::FunctionRef<std::optional<isl::union_set>()> find);
  void NoteNeeded(const isl::union_set& needed);
  void WarnOfUseless(size_t k) const;

  Proof& proof_;
  std::vector<isl::set> useless_;  // by task: points that no result needs
};

int PieceCount(const isl::union_set& sets) {
  int pieces = 0;
  sets.foreach_set(
      [&](const isl::set& set) { pieces += isl_set_n_basic_set(set.get()); });
  return pieces;
}

// Corners and the like: every piece fixes two indices or more. Nobody wants to
// read that the corners of a grid are computed in vain.
bool IsThin(const isl::set& set) {
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

// Rounds of a loop are alike, and which one is the last is not known: nobody
// can leave out what that one makes for the next.
bool IsOfLastRound(const Proof& proof, const CheckedTask& task,
                   const isl::set& set) {
  if (!proof.program.repeat.has_value()) return false;
  const auto time = TimeOf(task.domain, proof.program);
  const int d = time.has_value() ? time->LastIndex() : -1;
  if (d < 0 || *time != AffineExpr::Index(d, time->constant)) return false;
  const auto parameter = static_cast<size_t>(proof.program.repeat->parameter);
  const int64_t last = proof.program.parameters[parameter].integer;
  return SharedValue(set, d) == last - time->constant;
}

// True for tasks of a loop's condition, where the loop runs a given number of
// steps instead.
bool IsForCondition(const Proof& proof, const CheckedTask& task) {
  const std::vector<int32_t>& arrays = proof.program.condition_arrays;
  return std::any_of(task.creates.begin(), task.creates.end(),
                     [&arrays](const CheckedCreate& create) {
                       return std::find(arrays.begin(), arrays.end(),
                                        create.ref.array) != arrays.end();
                     });
}

// By task: whether what it makes leads to a result by way of any arrays.
std::vector<bool> LeadToResults(const CheckedProgram& program) {
  std::vector<bool> wanted(program.arrays.size());
  for (const CheckedResult& result : program.results) {
    wanted[result.ref.array] = true;
  }
  for (const int32_t array : program.condition_arrays) wanted[array] = true;
  std::vector<bool> out(program.tasks.size());
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (size_t k = 0; k < program.tasks.size(); ++k) {
      const CheckedTask& task = program.tasks[k];
      if (out[k] || std::none_of(task.creates.begin(), task.creates.end(),
                                 [&wanted](const CheckedCreate& create) {
                                   return wanted[create.ref.array];
                                 })) {
        continue;
      }
      out[k] = has_grown = true;
      for (const CheckedUse& use : task.uses) wanted[use.ref.array] = true;
    }
  }
  return out;
}

isl::union_set NeededTasks::AllTasks() const {
  isl::union_set all = isl::manage(
      isl_union_set_empty(isl_set_get_space(proof_.tasks[0].domain.get())));
  for (const TaskMaps& maps : proof_.tasks) {
    all = all.unite(isl::union_set(maps.domain));
  }
  return all;
}

// Every task makes something that is wanted, or that another task reads: as
// there is no cycle, following the readers ends at a result. Tasks that read
// each other and lead to none are needless, too.
void NeededTasks::Find() {
  bool all = true;
  const std::vector<bool> leads = LeadToResults(proof_.program);
  std::vector<bool> is_told(proof_.tasks.size());
  isl::union_set wanted = isl::manage(
      isl_union_set_empty(isl_set_get_space(proof_.tasks[0].domain.get())));
  std::vector<isl::set> at_ends;  // by array, wanted wherever a loop ends
  for (size_t a = 0; a < proof_.program.arrays.size(); ++a) {
    at_ends.push_back(proof_.sets.NoLabel(static_cast<int32_t>(a)));
  }
  for (const CheckedResult& result : proof_.program.results) {
    isl::set& of_array = at_ends[result.ref.array];
    of_array = of_array.unite(proof_.sets.WantedAtSomeEnd(result));
  }
  for (size_t k = 0; k < proof_.tasks.size(); ++k) {
    const CheckedTask& task = proof_.program.tasks[k];
    isl::set useless = proof_.tasks[k].domain;
    for (size_t c = 0; leads[k] && c < task.creates.size(); ++c) {
      const int64_t a = task.creates[c].ref.array;
      const isl::map& map = proof_.tasks[k].creates[c];
      useless = useless.subtract(
          map.intersect_range(proof_.read[a].unite(at_ends[a])).domain());
      wanted = wanted.unite(
          isl::union_set(map.intersect_range(at_ends[a]).domain()));
    }
    proof_.program.tasks[k].is_all_needed = useless.is_empty();
    useless_.push_back(useless);
    if (useless.is_empty()) continue;
    all = false;
    if (!proof_.Fails()) return;
    if (IsThin(useless) || IsForCondition(proof_, task) ||
        IsOfLastRound(proof_, task, useless)) {
      continue;
    }
    // A file may hold more than is needed.
    if (task.origin == CheckedTask::Origin::kInput &&
        !proof_.tasks[k].domain.is_subset(useless)) {
      continue;
    }
    is_told[k] = true;
  }
  proof_.program.every_task_needed = all;
  FindNeeded(wanted);
  for (size_t k = 0; k < proof_.tasks.size(); ++k) {
    if (is_told[k]) WarnOfUseless(k);
  }
}

// Warns of the points of class k that no result needs.
void NeededTasks::WarnOfUseless(size_t k) const {
  const CheckedTask& task = proof_.program.tasks[k];
  const bool is_all = proof_.tasks[k].domain.is_subset(useless_[k]);
  const int64_t array = task.creates.front().ref.array;
  proof_.diagnostics
      .Warning(Code::kNeverNeeded, task.range,
               absl::StrCat("no result needs ", task.name,
                            is_all ? "" : RangesText(task, useless_[k])))
      .Help(is_all ? absl::StrCat("leave it out, or add  result ",
                                  proof_.program.arrays[array].name)
                   : "these are not run: shrink a range, or let a result name "
                     "more");
}

// Fills in CheckedTask::needed, if it can. A loop's tasks are needed if they
// are for any round at which it may end.
void NeededTasks::FindNeeded(const isl::union_set& wanted) {
  if (proof_.program.every_task_needed) return;
  const isl::union_map requires_map = proof_.Requires();
  const auto peel = [&] { return ByPeeling(wanted, requires_map); };
  const auto close = [&] { return ByClosure(wanted, requires_map); };
  if (!TryNeeded(kPeelingOperationsMax, peel)) {
    TryNeeded(kClosureOperationsMax, close);
  }
}

// Fills in `needed` by `find` within so many operations; false, and nothing is
// filled in, if that fails. Nothing depends on it: `needed` is an extra.
bool NeededTasks::TryNeeded(
    uint64_t operations_max,
    absl::FunctionRef<std::optional<isl::union_set>()> find) {
  try {
    const OperationBudget budget(proof_.context(), operations_max);
    const std::optional<isl::union_set> needed = find();
    if (needed.has_value()) NoteNeeded(*needed);
    return needed.has_value();
  } catch (const isl::exception&) {
    for (CheckedTask& task : proof_.program.tasks) task.needed.reset();
    return false;
  }
}

// The tasks that results need: they require nothing from outside, and each of
// them makes something wanted or read within. As there is no cycle, no other
// set has both properties. Found by leaving out tasks that nobody reads, then
// tasks that only those have read, and so on. None: there is no end in sight.
std::optional<isl::union_set> NeededTasks::ByPeeling(
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
std::optional<isl::union_set> NeededTasks::ByClosure(
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
void NeededTasks::NoteNeeded(const isl::union_set& needed) {
  for (size_t k = 0; k < proof_.tasks.size(); ++k) {
    CheckedTask& task = proof_.program.tasks[k];
    const isl::set domain = isl::manage(isl_union_set_extract_set(
        needed.get(), isl_set_get_space(proof_.tasks[k].domain.get())));
    useless_[k] = proof_.tasks[k].domain.subtract(domain);
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
    task.needed = proof_.sets.DomainOf(domain, names);
  }
}

}  // namespace

void FindNeededTasks(Proof& proof) { NeededTasks(proof).Find(); }

}  // namespace dogged::dsl
