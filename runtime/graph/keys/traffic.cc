#include "runtime/graph/keys/traffic.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "runtime/base/division.h"
#include "runtime/base/label.h"
#include "runtime/graph/index_range.h"
#include "runtime/graph/keys/affinity.h"
#include "runtime/graph/saturating.h"

namespace dogged {
namespace {

const Array& ArrayOf(const Program& program, int32_t array) {
  return program.arrays[array];
}

// The expression that gives the version that a task makes first; none if its
// array has none.
const AffineExpr* VersionOf(const Program& program, const TaskClass& c) {
  const Create& create = c.creates.front();
  const int32_t version = ArrayOf(program, create.array).version_index;
  return version < 0 ? nullptr : &create.map[version];
}

int64_t CountOf(const std::vector<Domain>& domains) {
  int64_t out = 0;
  for (const Domain& domain : domains) {
    out = SaturatingAdd(out, domain.Count());
  }
  return out;
}

// The domains of all classes, of their tasks up to version `last` only.
std::vector<Domain> UpToVersion(const Program& program, int64_t last) {
  std::vector<Domain> out;
  for (const TaskClass& c : program.classes) {
    Domain part = c.domain;
    const AffineExpr* version = VersionOf(program, c);
    if (version == nullptr ||
        part.Narrow({.expr = AffineExpr::Constant(last) - *version})) {
      out.push_back(std::move(part));
    } else {
      out.emplace_back();
      out.back().dimensions.push_back(
          {.lower = {{.expr = AffineExpr::Constant(1)}},
           .upper = {{.expr = AffineExpr::Constant(0)}}});
    }
  }
  return out;
}

// The domains of all classes, or parts of them with `tasks_max` points at most.
std::optional<std::vector<Domain>> PartsToCount(const Program& program,
                                                int64_t tasks_max) {
  std::vector<Domain> all;
  IndexRange versions{.lower = 0, .upper = 0};
  for (const TaskClass& c : program.classes) {
    all.push_back(c.domain);
    const AffineExpr* version = VersionOf(program, c);
    if (version == nullptr) continue;
    const IndexRange range = RangesOf(c.domain, {*version}).front();
    if (range.Count() == 0) continue;
    versions.lower = std::min(versions.lower, range.lower);
    versions.upper = std::max(versions.upper, range.upper);
  }
  if (CountOf(all) <= tasks_max) return all;
  // The last version with which they fit: between `fits` and `too_many`.
  int64_t fits = versions.lower - 1;
  int64_t too_many = versions.upper;
  while (too_many - fits > 1) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (CountOf(UpToVersion(program, middle)) <= tasks_max ? fits : too_many) =
        middle;
  }
  if (fits < versions.lower) return std::nullopt;
  return UpToVersion(program, fits);
}

class TrafficCounter {
 public:
  explicit TrafficCounter(const Program& program) : program_(program) {}

  // Goes through the tasks of the classes, of which `parts` are the domains.
  // False if there are more keys than `keys_max`.
  bool AddTasks(const std::vector<Domain>& parts, int64_t keys_max) {
    for (size_t c = 0; c < parts.size(); ++c) {
      const bool all = parts[c].ForEach([&](const IndexVector& index) {
        AddTask(program_.classes[c], index);
        return std::ssize(out_.keys) <= keys_max;
      });
      if (!all) return false;
    }
    return true;
  }

  // Reads of the labels that tasks create, once all of these are known.
  void AddUses(const std::vector<Domain>& parts) {
    size_t task = 0;
    for (size_t c = 0; c < parts.size(); ++c) {
      parts[c].ForEach([&](const IndexVector& index) {
        AddUsesOf(program_.classes[c], index, task++);
        return true;
      });
    }
  }

  KeyTraffic Take(int stages) {
    GatherFlows();
    GatherStages(stages);
    return std::move(out_);
  }

 private:
  using Keys = absl::InlinedVector<int32_t, 4>;
  struct Made {
    size_t task = 0;  // in order of AddTasks
    int32_t key = 0;
    Keys readers;  // keys of tasks that require it, without repetition
  };

  int32_t KeyOf(int32_t array_number, const IndexVector& index) {
    const Array& array = ArrayOf(program_, array_number);
    const uint64_t key = AffinityKey(array, index);
    const auto [known, is_new] =
        positions_.try_emplace(key, static_cast<int32_t>(out_.keys.size()));
    if (is_new) {
      KeyTraffic::Key& added = out_.keys.emplace_back();
      added.key = key;
      for (int i = 0; i < index.size(); ++i) {
        const int64_t block = array.affinity_block[i];
        if (block > 0) added.block.push_back(FloorDiv(index[i], block));
      }
    }
    return known->second;
  }

  void AddTask(const TaskClass& c, const IndexVector& index) {
    const size_t task = task_keys_.size();
    int32_t task_key = 0;
    for (size_t i = 0; i < c.creates.size(); ++i) {
      const Create& create = c.creates[i];
      const IndexVector made = Apply(create.map, index);
      const int32_t key = KeyOf(create.array, made);
      if (i == 0) task_key = key;
      Made& label = labels_[{create.array, made}];
      label.task = task;
      label.key = key;
      if (key != task_key) AddReader(task_key, label);
    }
    task_keys_.push_back(task_key);
  }

  void AddReader(int32_t key, Made& label) {
    if (key == label.key ||
        std::find(label.readers.begin(), label.readers.end(), key) !=
            label.readers.end()) {
      return;
    }
    label.readers.push_back(key);
  }

  void AddUsesOf(const TaskClass& c, const IndexVector& index, size_t task) {
    for (const Use& use : c.uses) {
      if (!use.guard.Holds(index)) continue;
      const auto label = labels_.find({use.array, use.IndexOf(index)});
      if (label == labels_.end()) continue;
      AddReader(task_keys_[task], label->second);
      edges_.emplace_back(label->second.task, task);
    }
  }

  void GatherFlows() {
    std::map<std::pair<int32_t, std::vector<int32_t>>, int64_t> flows;
    for (auto& [label, made] : labels_) {
      if (made.readers.empty()) continue;
      std::vector<int32_t> to(made.readers.begin(), made.readers.end());
      std::sort(to.begin(), to.end());
      ++flows[{made.key, std::move(to)}];
    }
    for (const auto& [ends, labels] : flows) {
      out_.flows.push_back(
          {.from = ends.first, .to = ends.second, .labels = labels});
    }
  }

  // By task: the longest chain of tasks before it. A program is acyclic.
  std::vector<int32_t> Depths() {
    std::sort(edges_.begin(), edges_.end());
    std::vector<size_t> first(task_keys_.size() + 1);
    std::vector<int32_t> missing(task_keys_.size());
    for (const auto& [from, to] : edges_) {
      ++first[from + 1];
      ++missing[to];
    }
    for (size_t i = 0; i < task_keys_.size(); ++i) first[i + 1] += first[i];
    std::vector<size_t> next;
    for (size_t i = 0; i < missing.size(); ++i) {
      if (missing[i] == 0) next.push_back(i);
    }
    std::vector<int32_t> out(task_keys_.size());
    while (!next.empty()) {
      const size_t task = next.back();
      next.pop_back();
      for (size_t i = first[task]; i < first[task + 1]; ++i) {
        const size_t to = edges_[i].second;
        out[to] = std::max(out[to], out[task] + 1);
        if (--missing[to] == 0) next.push_back(to);
      }
    }
    return out;
  }

  void GatherStages(int stages) {
    const std::vector<int32_t> depths = Depths();
    std::map<int32_t, int64_t> at_depth;
    for (const int32_t depth : depths) ++at_depth[depth];
    // Tasks of one depth are in one stage.
    const auto all = std::ssize(depths);
    std::map<int32_t, size_t> stage_of;
    int64_t before = 0;
    for (const auto& [depth, tasks] : at_depth) {
      const int64_t stage = before * stages / all;
      stage_of[depth] = static_cast<size_t>(stage);
      before += tasks;
    }
    std::vector<std::map<int32_t, int64_t>> loads(static_cast<size_t>(stages));
    for (size_t task = 0; task < depths.size(); ++task) {
      ++loads[stage_of[depths[task]]][task_keys_[task]];
    }
    for (const std::map<int32_t, int64_t>& stage : loads) {
      if (stage.empty()) continue;
      std::vector<KeyTraffic::Load>& out = out_.stages.emplace_back();
      for (const auto& [key, tasks] : stage) {
        out.push_back({.key = key, .tasks = tasks});
      }
    }
  }

  const Program& program_;
  KeyTraffic out_;
  absl::flat_hash_map<uint64_t, int32_t> positions_;  // in out_.keys
  absl::flat_hash_map<Label, Made> labels_;
  std::vector<int32_t> task_keys_;                // by task
  std::vector<std::pair<size_t, size_t>> edges_;  // producer, reader
};

}  // namespace

KeyTraffic TrafficOf(const Program& program, int64_t keys_max, int stages,
                     int64_t tasks_max) {
  const std::optional<std::vector<Domain>> parts =
      PartsToCount(program, tasks_max);
  if (!parts.has_value()) return {};
  TrafficCounter counter(program);
  if (!counter.AddTasks(*parts, keys_max)) return {};
  counter.AddUses(*parts);
  return counter.Take(stages);
}

}  // namespace dogged
