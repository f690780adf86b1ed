#include "dsl/isl/task_order.h"

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/schedule.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "dsl/isl/cycle_search.h"
#include "dsl/isl/point_text.h"
#include "runtime/graph/order/falling_index.h"

namespace dogged::dsl {
namespace {

// Steps of isl on finding an order. They take longer than most: the knot in
// tests/dsl/analysis_test.cc takes seconds.
constexpr uint64_t kOrderOperationsMax = 30'000;
// Tasks that the search for a cycle visits; where tables say who waits for
// whom, it is the only proof.
constexpr int64_t kCycleTasksMax = 100'000;
constexpr int64_t kCycleTasksMaxOfTables = 2'000'000;

// Points of a task to the tasks that create the labels that they read.
struct Dependence {
  size_t reader = 0;
  size_t maker = 0;
  const CheckedUse* use = nullptr;
};

class TaskOrder {
 public:
  explicit TaskOrder(Proof& proof) : proof_(proof) {}
  void Check();

 private:
  std::vector<Dependence> Dependences() const;
  std::optional<int64_t> StepOf(const Dependence& dependence, int i) const;
  std::vector<Dependence> DoubtfulRing(
      const std::vector<Dependence>& dependences) const;
  bool FallsNowhere(const Dependence& dependence) const;
  bool IsProved();
  bool IsWithinBudget(absl::FunctionRef<bool()> proves) const;
  bool HasSchedule(const std::set<size_t>& tasks) const;
  void NoteDoubt(const std::vector<Dependence>& ring);
  void ReportCycle();

  Proof& proof_;
  std::optional<Dependence> doubtful_;  // in a ring without a proof
};

// By label: a task may read some that a task creates.
std::vector<Dependence> TaskOrder::Dependences() const {
  std::vector<Dependence> out;
  for (size_t k = 0; k < proof_.tasks.size(); ++k) {
    for (size_t u = 0; u < proof_.tasks[k].uses.size(); ++u) {
      const CheckedUse& use = proof_.program.tasks[k].uses[u];
      const isl::set read = proof_.tasks[k].uses[u].range();
      for (size_t l = 0; l < proof_.tasks.size(); ++l) {
        for (size_t c = 0; c < proof_.tasks[l].creates.size(); ++c) {
          if (proof_.program.tasks[l].creates[c].ref.array != use.ref.array)
            continue;
          const isl::set both =
              read.intersect(proof_.tasks[l].creates[c].range());
          if (!both.is_empty()) out.push_back({k, l, &use});
        }
      }
    }
  }
  return out;
}

// A reduction reads by its indices under `over` as well, behind those that
// `own` has.
bool MentionAlike(const LinearForm& read, const LinearForm& own) {
  const auto beyond =
      read.dims.begin() + std::min(std::ssize(own.dims), std::ssize(read.dims));
  return read.params == own.params &&
         std::equal(read.dims.begin(), beyond, own.dims.begin(),
                    own.dims.end()) &&
         std::all_of(beyond, read.dims.end(),
                     [](int64_t factor) { return factor == 0; });
}

// How much larger index `i` is in the reader's created label than in the label
// it reads, if that is a number; from -1 on `i` counts from the last one.
std::optional<int64_t> TaskOrder::StepOf(const Dependence& dependence,
                                         int i) const {
  const auto index = [i](const CheckedRef& ref) -> const LinearForm* {
    const int rank = static_cast<int>(ref.index.size());
    const int at = i < 0 ? rank + i : i;
    if (at < 0 || at >= rank) return nullptr;
    return &ref.index[at];
  };
  // A task's labels stand at one place, or it has none.
  for (const size_t k : {dependence.reader, dependence.maker}) {
    const auto& creates = proof_.program.tasks[k].creates;
    for (const CheckedCreate& create : creates) {
      const LinearForm* const one = index(create.ref);
      const LinearForm* const first = index(creates.front().ref);
      if (one == nullptr || first == nullptr || *one != *first) return {};
    }
  }
  const CheckedRef& ref = dependence.use->ref;
  const LinearForm* read = index(ref);
  if (read == nullptr) return std::nullopt;
  // Where a table gives the index, it is no number.
  if (dependence.use->gather && dependence.use->gather->Has(static_cast<size_t>(
                                    read - ref.index.data()))) {
    return std::nullopt;
  }
  const LinearForm& own =
      *index(proof_.program.tasks[dependence.reader].creates.front().ref);
  if (!MentionAlike(*read, own)) return {};
  int64_t step = 0;
  if (__builtin_sub_overflow(own.constant, read->constant, &step)) return {};
  return step;
}

// All dependences within a ring of tasks of which no index proves that no chain
// of them comes back to a point where it was; empty if there is none.
std::vector<Dependence> TaskOrder::DoubtfulRing(
    const std::vector<Dependence>& dependences) const {
  std::vector<NodeRead> reads;
  for (const Dependence& d : dependences) {
    reads.push_back(
        {.reader = d.reader, .maker = d.maker, .number = reads.size()});
  }
  reads = RingWithoutOrder(std::move(reads), [&](const NodeRead& read, int i) {
    return StepOf(dependences[read.number], i);
  });
  std::vector<Dependence> out;
  for (const NodeRead& read : reads) out.push_back(dependences[read.number]);
  return out;
}

bool TaskOrder::FallsNowhere(const Dependence& dependence) const {
  for (int i = -kMaxIndices; i < kMaxIndices; ++i) {
    if (StepOf(dependence, i).value_or(0) != 0) return false;
  }
  return true;
}

void TaskOrder::NoteDoubt(const std::vector<Dependence>& ring) {
  const auto it =
      std::find_if(ring.begin(), ring.end(),
                   [this](const Dependence& one) { return FallsNowhere(one); });
  doubtful_ = it == ring.end() ? ring.front() : *it;
}

// Ring by ring: tasks of different ones wait for each other in one direction at
// most.
bool TaskOrder::IsProved() {
  std::vector<Dependence> left;
  if (!IsWithinBudget([&] {
        left = Dependences();
        return true;
      })) {
    return false;
  }
  while (true) {
    const std::vector<Dependence> ring = DoubtfulRing(left);
    if (ring.empty()) return true;
    std::set<size_t> tasks;
    for (const Dependence& one : ring) tasks.insert(one.reader);
    if (!IsWithinBudget([&] { return HasSchedule(tasks); })) {
      NoteDoubt(ring);
      return false;
    }
    std::erase_if(left, [&](const Dependence& one) {
      return tasks.contains(one.reader) && tasks.contains(one.maker);
    });
  }
}

// What isl does not find within its budget is as if it were not there. The
// search for a schedule takes longer than all else where it finds none.
bool TaskOrder::IsWithinBudget(absl::FunctionRef<bool()> proves) const {
  try {
    const OperationBudget budget(proof_.context(), kOrderOperationsMax);
    return proves();
  } catch (const isl::exception&) {
    return false;
  }
}

// True if isl finds a schedule that runs each of `tasks` strictly after those
// of them that it requires: the proof. It may find none where one exists.
bool TaskOrder::HasSchedule(const std::set<size_t>& tasks) const {
  isl_union_map* before =
      proof_.Requires().reverse().release();  // first to second
  isl_union_set* points = isl_union_set_empty(isl_union_map_get_space(before));
  for (const size_t k : tasks) {
    points = isl_union_set_union(
        points, isl_union_set_from_set(proof_.tasks[k].domain.copy()));
  }
  before = isl_union_map_intersect_domain(before, isl_union_set_copy(points));
  before = isl_union_map_intersect_range(before, isl_union_set_copy(points));
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

void TaskOrder::ReportCycle() {
  const bool has_tables = std::any_of(
      proof_.program.tasks.begin(), proof_.program.tasks.end(),
      [](const CheckedTask& task) {
        return std::any_of(
            task.uses.begin(), task.uses.end(),
            [](const CheckedUse& use) { return use.gather.has_value(); });
      });
  const CycleSearch search = FindCycle(
      proof_.program, has_tables ? kCycleTasksMaxOfTables : kCycleTasksMax);
  if (search.cycle.empty()) {
    proof_.is_good = true;
    if (search.is_complete) return;
    if (!doubtful_) {
      proof_.diagnostics.Warning(
          Code::kNotProved, {},
          "that no task waits for itself could not be proved");
      return;
    }
    const CheckedTask& reader = proof_.program.tasks[doubtful_->reader];
    proof_.diagnostics
        .Warning(Code::kNotProved, doubtful_->use->ref.range,
                 absl::StrCat("that ", reader.name,
                              " does not wait for itself could not be proved"))
        .Help(
            "the proof looks for an index that is less by a number than in "
            "what the task creates, at the same place, as t-1 is");
    return;
  }
  const auto text = [&](const Task& task) {
    const CheckedTask& of = proof_.program.tasks[task.task_class];
    return absl::StrCat(of.name,
                        PointText(of, {task.index.begin(), task.index.end()}));
  };
  const Task& first = search.cycle[0];
  std::string chain;
  for (size_t i = 1; i < search.cycle.size() && i < 4; ++i) {
    absl::StrAppend(&chain, " -> ", text(search.cycle[i]));
  }
  if (search.cycle.size() > 4) chain += " -> ...";
  const CheckedTask& of = proof_.program.tasks[first.task_class];
  proof_.diagnostics
      .Error(Code::kCycle, of.range,
             absl::StrCat("tasks wait for each other: ", text(first), chain,
                          " -> ", text(first)))
      .Help("a task may use only what is made before it, such as (t-1)");
}

void TaskOrder::Check() {
  if (!IsProved() && proof_.Fails()) ReportCycle();
}

}  // namespace

void CheckOrder(Proof& proof) { TaskOrder(proof).Check(); }

}  // namespace dogged::dsl
