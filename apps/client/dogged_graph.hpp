// Graph: a program that is given by four routines, for graphs of tasks that no
// affine map describes. docs/CLIENT.md shows one at work.
//
//     struct Routines {
//       std::vector<Task> get_children(const Task& task) const;
//       int get_num_parents(const Task& task) const;
//     };
//     dogged::Graph<Task, Routines> graph(routines, [](const Task& t) { ... });
//     graph.set_entry_task(first);
//     graph.set_exit_task(last);
//     graph.AddTo(builder, execute);
//
// The graph is enumerated from the entry tasks, and refused, with a witness, if
// it has a cycle, an edge that one of its ends does not know of, or more than
// 1000 tasks. Each task makes one value, and becomes a task of the Builder.
//
// Source: Song, Dongarra, Moore 2009, "Simple Programming Model" (slides):
// get_children, get_num_parents, set_entry_task, set_exit_task. Differs: exit
// tasks are those whose values are results, and may have children.
#ifndef DOGGED_APPS_CLIENT_DOGGED_GRAPH_HPP_
#define DOGGED_APPS_CLIENT_DOGGED_GRAPH_HPP_

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dogged_builder.hpp"

namespace dogged {

// A task is a value with an order, as by operator<=> = default.
template <typename Task, typename Routines>
class Graph {
 public:
  // Tasks of a program are 1000 at most.
  static constexpr size_t kTasksMax = 1000;

  // The value of a task: a formula, or a kernel with its arguments.
  using Value = std::variant<Expr, KernelCall>;
  using Parents = std::map<Task, Label>;
  using Execute = std::function<Value(const Task&, const Parents&)>;
  using NameOf = std::function<std::string(const Task&)>;

  // `name_of` gives each task another word, as POTRF_1.
  Graph(Routines routines, NameOf name_of)
      : routines_(std::move(routines)), name_of_(std::move(name_of)) {}

  // Tasks without parents.
  void set_entry_task(const Task& task) { entries_.push_back(task); }
  // Tasks whose values are results of the program.
  void set_exit_task(const Task& task) { exits_.push_back(task); }

  // The name of its result, for exit tasks.
  std::string ResultOf(const Task& task) const {
    return name_of_(task) + "_value";
  }

  // All tasks with their parents, parents first. Errors: DOGGED_PROGRAM_WRONG,
  // with the tasks by name.
  std::vector<std::pair<Task, std::vector<Task>>> Enumerate(
      Place place = Place::current()) const {
    const Edges edges = Reach(place);
    CheckEnds(edges, place);
    return Sort(edges, place);
  }

  // A task for each; blocks and types of all values by `options`.
  void AddTo(Builder& builder, const Execute& execute,
             const ArrayOptions& options = {},
             Place place = Place::current()) const {
    const bool is_declared =
        !options.block.empty() || options.type != DOGGED_DOUBLE;
    std::map<Task, Label> labels;
    for (const auto& [task, parents] : Enumerate(place)) {
      const std::string name = ResultOf(task);
      const Array array = is_declared ? builder.Array(name, {}, options, place)
                                      : builder.Array(name, place);
      const Label made = array();
      Parents given;
      for (const Task& parent : parents)
        given.emplace(parent, labels.at(parent));
      labels.emplace(task, made);
      const TaskOptions named = {.name = name_of_(task)};
      std::visit(
          [&](const auto& value) {
            builder.Task(made, value, {}, named, place);
          },
          execute(task, given));
    }
    for (const Task& task : exits_) builder.Result(labels.at(task), place);
  }

 private:
  // The parents of each task that name it as a child, in the order in which
  // they were found.
  struct Edges {
    std::vector<Task> tasks;
    std::map<Task, std::vector<Task>> parents;
    std::map<Task, std::vector<Task>> children;
  };

  [[noreturn]] static void Refuse(const std::string& words,
                                  const Place& place) {
    throw Error(DOGGED_PROGRAM_WRONG, words, place);
  }

  Edges Reach(const Place& place) const {
    Edges out;
    const auto add = [&](const Task& task) {
      if (!out.parents.try_emplace(task).second) return;
      out.tasks.push_back(task);
      if (out.tasks.size() > kTasksMax) {
        Refuse("the graph has more than " + std::to_string(kTasksMax) +
                   " tasks, of which " + name_of_(task) +
                   " is one: larger graphs are programs of affine maps",
               place);
      }
    };
    for (const Task& task : entries_) add(task);
    // The vector grows as tasks are found.
    for (size_t at = 0; at < out.tasks.size(); ++at) {
      const Task task = out.tasks[at];
      out.children[task] = routines_.get_children(task);
      for (const Task& child : out.children[task]) {
        add(child);
        std::vector<Task>& parents = out.parents[child];
        if (std::find(parents.begin(), parents.end(), task) != parents.end()) {
          Refuse(
              name_of_(child) + " is a child of " + name_of_(task) + " twice",
              place);
        }
        parents.push_back(task);
      }
    }
    return out;
  }

  void CheckEnds(const Edges& edges, const Place& place) const {
    if (entries_.empty()) Refuse("the graph has no entry task", place);
    if (exits_.empty()) Refuse("the graph has no exit task", place);
    for (const Task& task : entries_) {
      const std::vector<Task>& parents = edges.parents.at(task);
      if (parents.empty()) continue;
      Refuse(name_of_(task) + " is an entry task, and a child of " +
                 name_of_(parents[0]),
             place);
    }
    for (const Task& task : exits_) {
      if (edges.parents.contains(task)) continue;
      Refuse(name_of_(task) + " is an exit task that no entry task leads to",
             place);
    }
    for (const auto& [task, parents] : edges.parents) {
      const int wanted = routines_.get_num_parents(task);
      if (wanted == static_cast<int>(parents.size())) continue;
      std::string names;
      for (const Task& parent : parents) {
        names += (names.empty() ? ": " : ", ") + name_of_(parent);
      }
      Refuse("get_num_parents(" + name_of_(task) + ") is " +
                 std::to_string(wanted) + ", and it is a child of " +
                 std::to_string(parents.size()) + names,
             place);
    }
  }

  std::vector<std::pair<Task, std::vector<Task>>> Sort(
      const Edges& edges, const Place& place) const {
    std::vector<std::pair<Task, std::vector<Task>>> out;
    std::map<Task, size_t> missing;
    std::vector<Task> ready;
    for (const Task& task : edges.tasks) {
      missing[task] = edges.parents.at(task).size();
      if (missing[task] == 0) ready.push_back(task);
    }
    for (size_t at = 0; at < ready.size(); ++at) {
      const Task task = ready[at];
      out.emplace_back(task, edges.parents.at(task));
      for (const Task& child : edges.children.at(task)) {
        if (--missing[child] == 0) ready.push_back(child);
      }
    }
    if (out.size() < edges.tasks.size()) RefuseCycle(edges, missing, place);
    return out;
  }

  // From a task that is not ready back along parents that are not, which ends
  // where it has been.
  [[noreturn]] void RefuseCycle(const Edges& edges,
                                const std::map<Task, size_t>& missing,
                                const Place& place) const {
    const auto waits = [&](const Task& task) { return missing.at(task) > 0; };
    std::vector<Task> path = {
        *std::find_if(edges.tasks.begin(), edges.tasks.end(), waits)};
    while (true) {
      const std::vector<Task>& parents = edges.parents.at(path.back());
      const Task next = *std::find_if(parents.begin(), parents.end(), waits);
      const auto been = std::find(path.begin(), path.end(), next);
      if (been != path.end()) {
        std::string names = name_of_(next);
        for (auto it = path.end(); it-- != been;)
          names += " -> " + name_of_(*it);
        Refuse("tasks wait for each other: " + names, place);
      }
      path.push_back(next);
    }
  }

  Routines routines_;
  NameOf name_of_;
  std::vector<Task> entries_;
  std::vector<Task> exits_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_DOGGED_GRAPH_HPP_
