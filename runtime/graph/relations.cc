#include "runtime/graph/relations.h"

namespace dogged {

namespace {

EntryIndex::Entries NumbersOf(const AffineMap& map) {
  EntryIndex::Entries out;
  for (const AffineExpr& entry : map) {
    out.push_back(entry.IsConstant() ? std::optional(entry.constant)
                                     : std::nullopt);
  }
  return out;
}

}  // namespace

Relations::Relations(const Program& program) : program_(&program) {
  creators_.resize(program.arrays.size());
  consumers_.resize(program.arrays.size());
  std::vector<std::vector<EntryIndex::Entries>> made(program.arrays.size());
  std::vector<std::vector<EntryIndex::Entries>> read(program.arrays.size());
  for (size_t c = 0; c < program.classes.size(); ++c) {
    const TaskClass& task_class = program.classes[c];
    for (const Create& create : task_class.creates) {
      creators_[create.array].push_back(
          {.task_class = static_cast<int32_t>(c),
           .inverse = InverseMap(create.map, task_class.domain)});
      made[create.array].push_back(NumbersOf(create.map));
    }
    for (size_t u = 0; u < task_class.uses.size(); ++u) {
      const Use& use = task_class.uses[u];
      consumers_[use.array].push_back(
          {.task_class = static_cast<int32_t>(c),
           .use = static_cast<int>(u),
           .inverse = UseInverse(use, task_class.domain)});
      read[use.array].push_back(NumbersOf(use.map));
      for (size_t i = 0; i < use.map.size(); ++i) {
        if (use.IsGathered(i)) read[use.array].back()[i] = std::nullopt;
      }
    }
  }
  for (size_t a = 0; a < program.arrays.size(); ++a) {
    creators_by_entry_.emplace_back(made[a]);
    consumers_by_entry_.emplace_back(read[a]);
  }
  for (const ResultSet& set : program.results) {
    results_.emplace_back(set.map, set.domain);
  }
}

std::optional<Task> Relations::ProducerOf(const Label& label) const {
  std::optional<Task> out;
  const auto& creators = creators_[label.array];
  const EntryIndex& by_entry = creators_by_entry_[label.array];
  for (int64_t k = by_entry.Next(label.index, 0); k < std::ssize(creators);
       k = by_entry.Next(label.index, k + 1)) {
    const Creator& creator = creators[k];
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
  const TaskClass& c = program_->ClassOf(task);
  for (size_t u = 0; u < c.uses.size(); ++u) {
    const Use& use = c.uses[u];
    if (!use.guard.Holds(task.index)) continue;
    visit(static_cast<int>(u),
          Label{.array = use.array, .index = use.IndexOf(task.index)});
  }
}

int Relations::RequiredCount(const Task& task) const {
  const TaskClass& c = program_->ClassOf(task);
  int count = 0;
  for (const Use& use : c.uses) count += use.guard.Holds(task.index) ? 1 : 0;
  return count;
}

void Relations::ForEachCreated(
    const Task& task,
    absl::FunctionRef<void(int create, const Label& label)> visit) const {
  const TaskClass& c = program_->ClassOf(task);
  for (size_t i = 0; i < c.creates.size(); ++i) {
    visit(static_cast<int>(i),
          Label{.array = c.creates[i].array,
                .index = Apply(c.creates[i].map, task.index)});
  }
}

Label Relations::FirstCreated(const Task& task) const {
  const Create& create = program_->ClassOf(task).creates[0];
  return {.array = create.array, .index = Apply(create.map, task.index)};
}

bool Relations::ForEachConsumer(
    const Label& label,
    absl::FunctionRef<bool(const Task& task, int use)> visit) const {
  const auto& consumers = ConsumersOf(label.array);
  for (size_t k = NextConsumer(label, 0); k < consumers.size();
       k = NextConsumer(label, k + 1)) {
    const Consumer& consumer = consumers[k];
    Task task{.task_class = consumer.task_class};
    const bool go_on =
        consumer.inverse.ForEach(label.index, [&](const IndexVector& index) {
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
         task.task_class < std::ssize(program_->classes) &&
         program_->ClassOf(task).domain.Contains(task.index);
}

bool Relations::IsResult(const Label& label) const {
  return !ForEachResultPoint(label,
                             [](size_t, const IndexVector&) { return false; });
}

bool Relations::ForEachResultPoint(
    const Label& label,
    absl::FunctionRef<bool(size_t set, const IndexVector& point)> visit) const {
  for (size_t s = 0; s < results_.size(); ++s) {
    if (program_->results[s].array != label.array) continue;
    const bool go_on = results_[s].ForEach(
        label.index, [&](const IndexVector& point) { return visit(s, point); });
    if (!go_on) return false;
  }
  return true;
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

ConsumerCursor::ConsumerCursor(const Relations& relations, const Label& label)
    : relations_(relations),
      label_(label),
      at_(relations.NextConsumer(label, 0)) {}

ConsumerCursor::ConsumerCursor(const Relations& relations, const Label& label,
                               const Task& last, int use)
    : relations_(relations), label_(label), first_(last), use_(use) {
  const auto& consumers = relations_.ConsumersOf(label_.array);
  while (consumers[at_].task_class != last.task_class ||
         consumers[at_].use != use) {
    ++at_;
  }
  const UseInverse& inverse = consumers[at_].inverse;
  part_ = inverse.PartWith(label_.index, last.index);
  points_.emplace(inverse.PartOf(label_.index, part_), last.index);
}

int64_t ConsumerCursor::NextRun(int64_t max) {
  const auto& consumers = relations_.ConsumersOf(label_.array);
  for (; at_ < consumers.size();
       at_ = relations_.NextConsumer(label_, at_ + 1), part_ = 0) {
    const Relations::Consumer& consumer = consumers[at_];
    const int64_t parts = consumer.inverse.PartCount(label_.index);
    for (; part_ < parts; ++part_, points_.reset()) {
      if (!points_.has_value()) {
        points_.emplace(consumer.inverse.PartOf(label_.index, part_));
        first_.task_class = consumer.task_class;
        use_ = consumer.use;
      }
      if (const int64_t count = points_->NextRun(max); count > 0) {
        first_.index = points_->first();
        return count;
      }
    }
  }
  return 0;
}

}  // namespace dogged
