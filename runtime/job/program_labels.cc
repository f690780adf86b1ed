#include "runtime/job/program_labels.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/graph/affine.h"
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
      const Array& made = program.arrays[static_cast<size_t>(create.array)];
      for (const Use& use : task_class.uses) {
        const Array& read = program.arrays[static_cast<size_t>(use.array)];
        if (made.version_index < 0 || read.version_index < 0) continue;
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

bool ProgramLabels::IsMade(const Label& label) const {
  return relations_.ProducerOf(label).has_value();
}

bool ProgramLabels::IsMadeOfLabels(const Label& label) const {
  const std::optional<Task> producer = relations_.ProducerOf(label);
  return producer.has_value() && relations_.RequiredCount(*producer) > 0;
}

}  // namespace dogged
