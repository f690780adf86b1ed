#include "dsl/isl/cycle_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "runtime/graph/relations.h"

namespace dogged::dsl {
namespace {

// A try visits at most so many times the bound of one class.
constexpr int64_t kClassesMax = 4;

// Depth first along `requires`, with a stack of its own: a cycle is an edge to
// a task that is still on the path.
class Search {
 public:
  Search(const CheckedProgram& checked, const Program& program, bool last_first,
         int64_t tasks_max)
      : checked_(checked),
        program_(program),
        relations_(program),
        last_first_(last_first),
        tasks_max_(tasks_max) {}

  CycleSearch Run() {
    CycleSearch out{.is_complete = true};
    for (size_t c = 0; c < program_.classes.size(); ++c) {
      const auto k = static_cast<int32_t>(c);
      if (!Requires(k)) continue;
      entered_ = 0;
      out.is_complete &=
          program_.classes[c].domain.ForEach([&](const IndexVector& index) {
            return From({.task_class = k, .index = index});
          });
      if (!cycle_.empty()) break;
      // Where the bound was reached, nothing is known of tasks on the path.
      for (const Frame& frame : path_) is_done_.erase(frame.task);
      path_.clear();
    }
    out.cycle = std::move(cycle_);
    return out;
  }

 private:
  struct Frame {
    Task task;
    std::vector<Task> required;
    size_t next = 0;
  };

  // A task that requires nothing is in no cycle.
  bool Requires(int32_t task_class) const {
    return !checked_.tasks[task_class].uses.empty();
  }
  // Each class may enter so many, all together a few times that.
  bool IsAtBound() const {
    return entered_ >= tasks_max_ ||
           std::ssize(is_done_) >= kClassesMax * tasks_max_;
  }

  // False to stop: a cycle was found, or the bound reached.
  bool From(const Task& start) {
    if (is_done_.contains(start)) return true;
    if (IsAtBound()) return false;
    Enter(start);
    while (!path_.empty()) {
      Frame& top = path_.back();
      if (top.next == top.required.size()) {
        is_done_[top.task] = true;
        path_.pop_back();
        continue;
      }
      const Task next = top.required[top.next++];
      if (!Requires(next.task_class)) continue;
      const auto found = is_done_.find(next);
      if (found == is_done_.end()) {
        if (IsAtBound()) return false;
        Enter(next);
      } else if (!found->second) {
        const auto first =
            std::find_if(path_.begin(), path_.end(),
                         [&](const Frame& f) { return f.task == next; });
        for (auto frame = first; frame != path_.end(); ++frame) {
          cycle_.push_back(frame->task);
        }
        return false;
      }
    }
    return true;
  }

  void Enter(const Task& task) {
    is_done_[task] = false;
    ++entered_;
    Frame frame{.task = task, .required = {}, .next = 0};
    relations_.ForEachRequired(task, [&](int, const Label& label) {
      const auto producer = relations_.ProducerOf(label);
      if (producer) frame.required.push_back(*producer);
    });
    EnterOver(frame);
    if (last_first_) {
      std::reverse(frame.required.begin(), frame.required.end());
    }
    path_.push_back(std::move(frame));
  }

  // Adds the producers of labels that a reduction reads, up to the bound.
  void EnterOver(Frame& frame) {
    const CheckedTask& of = checked_.tasks[frame.task.task_class];
    for (const CheckedUse& use : of.uses) {
      if (!use.over) continue;
      Domain points = Instantiate(*use.over, checked_);
      for (int d = 0; d < frame.task.index.size(); ++d) {
        const AffineBound at{.expr = AffineExpr::Constant(frame.task.index[d])};
        Dimension& dimension = points.dimensions[d];
        dimension.lower = {at};
        dimension.upper = {at};
      }
      const AffineMap map = Instantiate(use.ref, checked_);
      points.ForEach([&](const IndexVector& index) {
        const auto producer = relations_.ProducerOf(
            {.array = use.ref.array, .index = Apply(map, index)});
        if (producer) frame.required.push_back(*producer);
        return std::ssize(frame.required) < tasks_max_;
      });
    }
  }

  const CheckedProgram& checked_;
  const Program& program_;
  Relations relations_;
  bool last_first_;  // the order in which a task's inputs are followed
  int64_t tasks_max_;
  int64_t entered_ = 0;                      // tasks, since the class began
  absl::flat_hash_map<Task, bool> is_done_;  // false: on the path
  std::vector<Frame> path_;
  std::vector<Task> cycle_;
};

}  // namespace

Program Skeleton(const CheckedProgram& program) {
  Program out;
  for (const CheckedArray& array : program.arrays) {
    Array to;
    to.name = array.name;
    to.rank = array.rank;
    to.affinity_block.assign(array.rank, 1);
    out.arrays.push_back(std::move(to));
  }
  for (const CheckedTask& task : program.tasks) {
    TaskClass to;
    to.name = task.name;
    to.domain = Instantiate(task.domain, program);
    for (const CheckedCreate& create : task.creates) {
      to.creates.push_back(
          {.array = create.ref.array, .map = Instantiate(create.ref, program)});
    }
    for (const CheckedUse& use : task.uses) {
      if (use.over) continue;  // see Search::EnterOver
      to.uses.push_back({.array = use.ref.array,
                         .map = Instantiate(use.ref, program),
                         .guard = Instantiate(use.guard, program),
                         .gather = use.gather ? use.gather->tables : nullptr});
    }
    out.classes.push_back(std::move(to));
  }
  return out;
}

CycleSearch FindCycle(const CheckedProgram& program, int64_t tasks_max) {
  const Program skeleton = Skeleton(program);
  // A search in one order may get lost where the other finds a cycle soon.
  struct Try {
    bool last_first;
    int64_t tasks_max;
  };
  CycleSearch out;
  for (const Try& t : {Try{false, tasks_max / 10}, Try{true, tasks_max},
                       Try{false, tasks_max}}) {
    out = Search(program, skeleton, t.last_first, t.tasks_max).Run();
    if (out.is_complete || !out.cycle.empty()) break;
  }
  std::rotate(out.cycle.begin(),
              std::min_element(out.cycle.begin(), out.cycle.end()),
              out.cycle.end());
  return out;
}

}  // namespace dogged::dsl
