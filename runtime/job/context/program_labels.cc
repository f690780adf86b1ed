#include "runtime/job/context/program_labels.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "runtime/graph/affine.h"
#include "runtime/graph/keys/affinity.h"
#include "runtime/graph/program.h"
#include "runtime/graph/task.h"

namespace dogged {
namespace {

constexpr int64_t kSpanMax = 8;

std::vector<int32_t> VersionIndexes(const Program& program) {
  std::vector<int32_t> out;
  for (const Array& array : program.arrays) out.push_back(array.version_index);
  return out;
}

// The largest difference of versions of a task's output and its input.
int64_t SpanOf(const Program& program) {
  int64_t span = 1;
  for (const TaskClass& task_class : program.classes) {
    for (const Create& create : task_class.creates) {
      const Array& made = program.arrays[create.array];
      for (const Use& use : task_class.uses) {
        const Array& read = program.arrays[use.array];
        if (made.version_index < 0 || read.version_index < 0 ||
            use.IsGathered(static_cast<size_t>(read.version_index))) {
          continue;
        }
        const AffineExpr ahead =
            create.map[made.version_index] - use.map[read.version_index];
        if (ahead.IsConstant()) span = std::max(span, ahead.constant);
      }
    }
  }
  return std::min(span, kSpanMax);
}

}  // namespace

ProgramLabels::ProgramLabels(const Relations& relations)
    : LabelRelations(VersionIndexes(relations.program()),
                     SpanOf(relations.program())),
      relations_(relations) {}

bool ProgramLabels::IsKnown(const Label& label) const {
  const std::vector<Array>& arrays = relations_.program().arrays;
  return label.array < std::ssize(arrays) &&
         label.index.size() == arrays[label.array].rank;
}

uint64_t ProgramLabels::KeyOf(const Label& label) const {
  return AffinityKey(relations_.ArrayOf(label), label.index);
}

std::string ProgramLabels::TextOf(const Label& label) const {
  return relations_.program().LabelText(label);
}

std::optional<Reader> ProgramLabels::ProducerOf(const Label& label) const {
  return relations_.ProducerOf(label);
}

bool ProgramLabels::IsMadeOfLabels(const Label& label) const {
  const std::optional<Task> producer = relations_.ProducerOf(label);
  return producer.has_value() && relations_.RequiredCount(*producer) > 0;
}

void ProgramLabels::ForEachMade(
    const Reader& reader,
    absl::FunctionRef<void(const Label& label)> visit) const {
  relations_.ForEachCreated(Task::Of(reader),
                            [&](int, const Label& label) { visit(label); });
}

Label ProgramLabels::FirstMade(const Reader& reader) const {
  return relations_.FirstCreated(Task::Of(reader));
}

void ProgramLabels::ForEachRead(
    const Reader& reader,
    absl::FunctionRef<void(const Label& label)> visit) const {
  relations_.ForEachRequired(Task::Of(reader),
                             [&](int, const Label& label) { visit(label); });
}

std::string ProgramLabels::TextOf(const Reader& reader) const {
  return relations_.program().TaskText(Task::Of(reader));
}

bool ProgramLabels::ForEachReader(
    const Label& label,
    absl::FunctionRef<bool(const Reader& reader)> visit) const {
  return relations_.ForEachConsumer(
      label, [&](const Task& task, int) { return visit(task); });
}

int64_t ProgramLabels::ReaderCount(const Label& label) const {
  return relations_.ConsumerCount(label);
}

bool ProgramLabels::HasMoreReaders(const Label& label, int64_t than) const {
  int64_t count = 0;
  return !relations_.ForEachConsumer(
      label, [&](const Task&, int) { return ++count <= than; });
}

bool ProgramLabels::MayHaveMoreReaders(int32_t array, int64_t than) const {
  const auto& consumers = relations_.ConsumersOf(array);
  return std::ssize(consumers) > than ||
         std::any_of(consumers.begin(), consumers.end(),
                     [](const auto& c) { return !c.inverse.IsInjective(); });
}

}  // namespace dogged
