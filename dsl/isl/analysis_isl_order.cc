// No task waits for itself. Part of the isl adapter.
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/schedule.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/isl/cycle_search.h"

namespace dogged::dsl {
namespace {

// Steps of isl on finding an order. They take longer than most: the knot in
// tests/dsl/analysis_test.cc takes seconds.
constexpr uint64_t kOrderOperationsMax = 30'000;
// Tasks that the search for a cycle visits.
constexpr int64_t kCycleTasksMax = 100'000;

isl::union_map Union(const isl::map& map) { return isl::union_map(map); }

}  // namespace

// Tasks to the tasks that create the labels they use.
isl::union_map Analysis::Requires() const {
  isl::union_map out = isl::manage(
      isl_union_map_empty(isl_set_get_space(tasks_[0].domain.get())));
  for (size_t k = 0; k < tasks_.size(); ++k) {
    for (size_t u = 0; u < tasks_[k].uses.size(); ++u) {
      const int32_t array = program_.tasks[k].uses[u].ref.array;
      for (size_t l = 0; l < tasks_.size(); ++l) {
        for (size_t c = 0; c < tasks_[l].creates.size(); ++c) {
          if (program_.tasks[l].creates[c].ref.array != array) continue;
          out = out.unite(Union(
              tasks_[k].uses[u].apply_range(tasks_[l].creates[c].reverse())));
        }
      }
    }
  }
  return out;
}

// By label: a task may read some that a task creates.
std::vector<Analysis::Dependence> Analysis::Dependences() const {
  std::vector<Dependence> out;
  for (size_t k = 0; k < tasks_.size(); ++k) {
    for (size_t u = 0; u < tasks_[k].uses.size(); ++u) {
      const CheckedRef& ref = program_.tasks[k].uses[u].ref;
      const isl::set read = tasks_[k].uses[u].range();
      for (size_t l = 0; l < tasks_.size(); ++l) {
        for (size_t c = 0; c < tasks_[l].creates.size(); ++c) {
          if (program_.tasks[l].creates[c].ref.array != ref.array) continue;
          const isl::set both = read.intersect(tasks_[l].creates[c].range());
          if (!both.is_empty()) out.push_back({k, l, &ref});
        }
      }
    }
  }
  return out;
}

// How much larger index `i` is in the reader's created label than in the label
// it reads, if that is a number; from -1 on `i` counts from the last one.
std::optional<int64_t> Analysis::StepOf(const Dependence& dependence,
                                        int i) const {
  const auto index = [i](const CheckedRef& ref) -> const LinearForm* {
    const int rank = static_cast<int>(ref.index.size());
    const int at = i < 0 ? rank + i : i;
    if (at < 0 || at >= rank) return nullptr;
    return &ref.index[static_cast<size_t>(at)];
  };
  // A task's labels stand at one place, or it has none.
  for (const size_t k : {dependence.reader, dependence.maker}) {
    const auto& creates = program_.tasks[k].creates;
    for (const CheckedCreate& create : creates) {
      const LinearForm* const one = index(create.ref);
      const LinearForm* const first = index(creates.front().ref);
      if (one == nullptr || first == nullptr || *one != *first) return {};
    }
  }
  const LinearForm* read = index(*dependence.read);
  if (read == nullptr) return std::nullopt;
  const LinearForm& own =
      *index(program_.tasks[dependence.reader].creates.front().ref);
  if (read->dims != own.dims || read->params != own.params) return {};
  int64_t step = 0;
  if (__builtin_sub_overflow(own.constant, read->constant, &step)) return {};
  return step;
}

namespace {

// The tasks that `from` leads to, itself among them.
template <typename Dependences>
absl::btree_set<size_t> Reached(const Dependences& dependences, size_t from,
                                bool is_backward) {
  absl::btree_set<size_t> out = {from};
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const auto& d : dependences) {
      const size_t begin = is_backward ? d.maker : d.reader;
      const size_t end = is_backward ? d.reader : d.maker;
      if (out.contains(begin)) has_grown |= out.insert(end).second;
    }
  }
  return out;
}

}  // namespace

// True if no chain of `dependences` comes back to a point where it was: where
// they lead in a ring, some index falls along a part of them and rises along
// none, and the others, by themselves, make no such chain either.
//
// Source: Karp, Miller and Winograd 1967, of systems of recurrences; here one
// index at a time.
bool Analysis::IsOrdered(std::vector<Dependence> dependences) {
  while (!dependences.empty()) {
    const size_t first = dependences.front().reader;
    absl::btree_set<size_t> ring = Reached(dependences, first, false);
    const absl::btree_set<size_t> before = Reached(dependences, first, true);
    absl::erase_if(ring, [&](size_t k) { return !before.contains(k); });
    std::vector<Dependence> inner;
    std::vector<Dependence> rest;
    for (const Dependence& d : dependences) {
      const bool leaves = ring.contains(d.reader);
      const bool enters = ring.contains(d.maker);
      if (leaves && enters) inner.push_back(d);
      if (!leaves && !enters) rest.push_back(d);
    }
    if (!inner.empty() && !Falls(inner)) {
      const auto it =
          std::find_if(inner.begin(), inner.end(),
                       [this](const auto& d) { return FallsNowhere(d); });
      doubtful_ = it == inner.end() ? inner.front() : *it;
      return false;
    }
    dependences = std::move(rest);
  }
  return true;
}

bool Analysis::FallsNowhere(const Dependence& dependence) const {
  for (int i = -kMaxIndices; i < kMaxIndices; ++i) {
    if (StepOf(dependence, i).value_or(0) > 0) return false;
  }
  return true;
}

// The same, of dependences that lead in a ring.
bool Analysis::Falls(const std::vector<Dependence>& ring) {
  for (int i = -kMaxIndices; i < kMaxIndices; ++i) {
    std::vector<Dependence> level;
    const bool rises = std::any_of(
        ring.begin(), ring.end(), [&](const Dependence& dependence) {
          const std::optional<int64_t> step = StepOf(dependence, i);
          if (step == 0) level.push_back(dependence);
          return !step || *step < 0;
        });
    // Other indices that prove it of all prove it of fewer: no way back.
    if (!rises && level.size() < ring.size()) return IsOrdered(level);
  }
  return false;
}

// True if isl finds a schedule that runs every task strictly after the tasks
// that it requires: the proof. It may find none where one exists.
bool Analysis::HasSchedule() const {
  isl_union_map* before = Requires().reverse().release();  // first to second
  isl_union_set* points = isl_union_set_empty(isl_union_map_get_space(before));
  for (size_t k = 0; k < tasks_.size(); ++k) {
    // Tasks that require nothing are in no cycle.
    if (tasks_[k].uses.empty()) continue;
    points = isl_union_set_union(
        points, isl_union_set_from_set(tasks_[k].domain.copy()));
  }
  before = isl_union_map_intersect_domain(before, isl_union_set_copy(points));
  const isl::union_set all = isl::manage(points);
  const isl::union_map order = isl::manage(before);
  if (order.is_empty()) return true;
  isl_schedule* schedule = isl_union_set_compute_schedule(
      all.copy(), order.copy(),
      isl_union_map_empty(isl_union_map_get_space(order.get())));
  if (schedule == nullptr) return false;
  isl_union_map* times = isl_schedule_get_map(schedule);
  isl_schedule_free(schedule);
  const isl::union_map earlier = isl::manage(
      isl_union_map_lex_lt_union_map(isl_union_map_copy(times), times));
  return order.is_subset(earlier);
}

void Analysis::Order() {
  // The search for a schedule takes longer than all else where it finds none.
  isl_ctx* context = isl_set_get_ctx(tasks_[0].domain.get());
  const uint64_t bound = isl_ctx_get_max_operations(context);
  isl_ctx_reset_operations(context);
  isl_ctx_set_max_operations(context, kOrderOperationsMax);
  bool is_proved = false;
  try {
    is_proved = IsOrdered(Dependences()) || HasSchedule();
  } catch (const isl::exception&) {
    // As if there were none.
  }
  isl_ctx_reset_error(context);
  isl_ctx_reset_operations(context);
  isl_ctx_set_max_operations(context, bound);
  if (!is_proved && Fails()) ReportCycle();
}

void Analysis::ReportCycle() {
  const CycleSearch search = FindCycle(program_, kCycleTasksMax);
  if (search.cycle.empty()) {
    is_good_ = true;
    if (search.is_complete) return;
    if (!doubtful_) {
      diagnostics_.Warning(Code::kNotProved, {},
                           "that no task waits for itself could not be proved");
      return;
    }
    const CheckedTask& reader = program_.tasks[doubtful_->reader];
    diagnostics_
        .Warning(Code::kNotProved, doubtful_->read->range,
                 absl::StrCat("that ", reader.name,
                              " does not wait for itself could not be proved"))
        .Help(
            "the proof looks for an index that is less by a number than in "
            "what the task creates, at the same place, as t-1 is");
    return;
  }
  const auto text = [&](const Task& task) {
    const CheckedTask& of =
        program_.tasks[static_cast<size_t>(task.task_class)];
    return absl::StrCat(of.name,
                        PointText(of, {task.index.begin(), task.index.end()}));
  };
  const Task& first = search.cycle[0];
  std::string chain;
  for (size_t i = 1; i < search.cycle.size() && i < 4; ++i) {
    absl::StrAppend(&chain, " -> ", text(search.cycle[i]));
  }
  if (search.cycle.size() > 4) chain += " -> ...";
  const CheckedTask& of = program_.tasks[static_cast<size_t>(first.task_class)];
  diagnostics_
      .Error(Code::kCycle, of.range,
             absl::StrCat("tasks wait for each other: ", text(first), chain,
                          " -> ", text(first)))
      .Help("a task may use only what is made before it, such as (t-1)");
}

}  // namespace dogged::dsl
