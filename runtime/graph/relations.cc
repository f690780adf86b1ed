#include "runtime/graph/relations.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "runtime/base/check.h"

namespace dogged {

// Gaussian elimination from the innermost index outwards, in integers. Rows
// are scaled by their pivots, never divided, so no solution is lost or won.
InverseMap::InverseMap(const AffineMap& map, const Domain& domain)
    : domain_(&domain), image_size_(static_cast<int>(map.size())) {
  const auto index_count = static_cast<size_t>(domain.size());
  std::vector<Row> open;
  for (size_t m = 0; m < map.size(); ++m) {
    Row row;
    row.coefficients.assign(
        map[m].coefficients.begin(),
        map[m].coefficients.begin() + static_cast<ptrdiff_t>(index_count));
    row.image.assign(map.size(), 0);
    row.image[m] = 1;
    row.constant = -map[m].constant;
    open.push_back(std::move(row));
  }
  row_of_index_.assign(index_count, -1);
  for (size_t d = index_count; d-- > 0;) {
    // The smallest coefficient keeps the numbers small.
    auto pivot = open.end();
    for (auto it = open.begin(); it != open.end(); ++it) {
      const int64_t c = std::llabs(it->coefficients[d]);
      if (c != 0 &&
          (pivot == open.end() || c < std::llabs(pivot->coefficients[d]))) {
        pivot = it;
      }
    }
    if (pivot == open.end()) {
      ++free_count_;
      continue;
    }
    Row row = std::move(*pivot);
    open.erase(pivot);
    for (Row& other : open) {
      const int64_t factor = other.coefficients[d];
      if (factor == 0) continue;
      const int64_t g = std::gcd(factor, row.coefficients[d]);
      const int64_t keep = row.coefficients[d] / g;
      const int64_t take = factor / g;
      for (size_t e = 0; e < index_count; ++e) {
        other.coefficients[e] =
            keep * other.coefficients[e] - take * row.coefficients[e];
      }
      for (size_t m = 0; m < map.size(); ++m) {
        other.image[m] = keep * other.image[m] - take * row.image[m];
      }
      other.constant = keep * other.constant - take * row.constant;
    }
    row_of_index_[d] = static_cast<int>(rows_.size());
    rows_.push_back(std::move(row));
  }
  image_conditions_ = std::move(open);
}

bool InverseMap::ForEach(
    const IndexVector& image,
    absl::FunctionRef<bool(const IndexVector&)> visit) const {
  if (image.size() != image_size_) return true;
  for (const Row& row : image_conditions_) {
    int64_t sum = row.constant;
    for (int m = 0; m < image_size_; ++m) {
      sum += row.image[static_cast<size_t>(m)] * image[m];
    }
    if (sum != 0) return true;
  }
  IndexVector index;
  return Solve(image, index, visit);
}

bool InverseMap::Solve(
    const IndexVector& image, IndexVector& index,
    absl::FunctionRef<bool(const IndexVector&)> visit) const {
  const auto d = static_cast<size_t>(index.size());
  if (d == row_of_index_.size()) {
    return !domain_->guard.Holds(index) || visit(index);
  }
  const Dimension& dimension = domain_->dimensions[d];
  int64_t lower = dimension.Lower(index);
  int64_t upper = dimension.Upper(index);
  if (row_of_index_[d] >= 0) {
    const Row& row = rows_[static_cast<size_t>(row_of_index_[d])];
    int64_t rest = row.constant;
    for (int m = 0; m < image_size_; ++m) {
      rest += row.image[static_cast<size_t>(m)] * image[m];
    }
    for (size_t e = 0; e < d; ++e) {
      rest -= row.coefficients[e] * index[static_cast<int>(e)];
    }
    if (rest % row.coefficients[d] != 0) return true;
    const int64_t value = rest / row.coefficients[d];
    if (value < lower || value > upper) return true;
    lower = upper = value;
  }
  for (int64_t i = lower; i <= upper; ++i) {
    index.push_back(i);
    const bool go_on = Solve(image, index, visit);
    index.pop_back();
    if (!go_on) return false;
  }
  return true;
}

Relations::Relations(const Program& program) : program_(&program) {
  creators_.resize(program.arrays.size());
  consumers_.resize(program.arrays.size());
  for (size_t c = 0; c < program.classes.size(); ++c) {
    const TaskClass& task_class = program.classes[c];
    for (const Create& create : task_class.creates) {
      creators_[static_cast<size_t>(create.array)].push_back(
          {.task_class = static_cast<int32_t>(c),
           .inverse = InverseMap(create.map, task_class.domain)});
    }
    for (size_t u = 0; u < task_class.uses.size(); ++u) {
      const Use& use = task_class.uses[u];
      consumers_[static_cast<size_t>(use.array)].push_back(
          {.task_class = static_cast<int32_t>(c),
           .use = static_cast<int>(u),
           .inverse = InverseMap(use.map, task_class.domain)});
    }
  }
  for (const ResultSet& set : program.results) {
    results_.emplace_back(set.map, set.domain);
  }
}

std::optional<Task> Relations::ProducerOf(const Label& label) const {
  std::optional<Task> out;
  for (const Creator& creator : creators_[static_cast<size_t>(label.array)]) {
    creator.inverse.ForEach(label.index, [&](const IndexVector& index) {
      out = Task{.task_class = creator.task_class, .index = index};
      return false;
    });
    if (out.has_value()) break;
  }
  return out;
}

void Relations::ForEachRequired(
    const Task& task,
    absl::FunctionRef<void(int use, const Label& label)> visit) const {
  const TaskClass& c = program_->classes[static_cast<size_t>(task.task_class)];
  for (size_t u = 0; u < c.uses.size(); ++u) {
    const Use& use = c.uses[u];
    if (!use.guard.Holds(task.index)) continue;
    visit(static_cast<int>(u),
          Label{.array = use.array, .index = Apply(use.map, task.index)});
  }
}

int Relations::RequiredCount(const Task& task) const {
  const TaskClass& c = program_->classes[static_cast<size_t>(task.task_class)];
  int count = 0;
  for (const Use& use : c.uses) count += use.guard.Holds(task.index) ? 1 : 0;
  return count;
}

void Relations::ForEachCreated(
    const Task& task,
    absl::FunctionRef<void(int create, const Label& label)> visit) const {
  const TaskClass& c = program_->classes[static_cast<size_t>(task.task_class)];
  for (size_t i = 0; i < c.creates.size(); ++i) {
    visit(static_cast<int>(i),
          Label{.array = c.creates[i].array,
                .index = Apply(c.creates[i].map, task.index)});
  }
}

Label Relations::FirstCreated(const Task& task) const {
  const Create& create =
      program_->classes[static_cast<size_t>(task.task_class)].creates[0];
  return {.array = create.array, .index = Apply(create.map, task.index)};
}

bool Relations::ForEachConsumer(
    const Label& label,
    absl::FunctionRef<bool(const Task& task, int use)> visit) const {
  for (const Consumer& consumer :
       consumers_[static_cast<size_t>(label.array)]) {
    const Use& use = program_->classes[static_cast<size_t>(consumer.task_class)]
                         .uses[static_cast<size_t>(consumer.use)];
    Task task{.task_class = consumer.task_class};
    const bool go_on =
        consumer.inverse.ForEach(label.index, [&](const IndexVector& index) {
          if (!use.guard.Holds(index)) return true;
          task.index = index;
          return visit(task, consumer.use);
        });
    if (!go_on) return false;
  }
  return true;
}

int64_t Relations::ConsumerCount(const Label& label) const {
  int64_t count = 0;
  ForEachConsumer(label, [&count](const Task&, int) {
    ++count;
    return true;
  });
  return count;
}

bool Relations::IsTask(const Task& task) const {
  return task.task_class >= 0 &&
         task.task_class < static_cast<int64_t>(program_->classes.size()) &&
         program_->classes[static_cast<size_t>(task.task_class)]
             .domain.Contains(task.index);
}

bool Relations::IsResult(const Label& label) const {
  for (size_t s = 0; s < results_.size(); ++s) {
    if (program_->results[s].array != label.array) continue;
    const bool missed = results_[s].ForEach(
        label.index, [](const IndexVector&) { return false; });
    if (!missed) return true;
  }
  return false;
}

bool Relations::ForEachResult(
    absl::FunctionRef<bool(const Label&)> visit) const {
  for (const ResultSet& set : program_->results) {
    const bool go_on = set.domain.ForEach([&](const IndexVector& point) {
      return visit({.array = set.array, .index = Apply(set.map, point)});
    });
    if (!go_on) return false;
  }
  return true;
}

}  // namespace dogged
