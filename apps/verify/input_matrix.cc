#include "apps/verify/input_matrix.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/tiles/float_kernels.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"

namespace dogged {

absl::StatusOr<Value> MakeTile(const Relations& relations,
                               const KernelTable& kernels, const Label& label) {
  const std::optional<Task> task = relations.ProducerOf(label);
  DOGGED_CHECK(task.has_value());
  DOGGED_CHECK(relations.RequiredCount(*task) == 0);
  const TaskClass& task_class = relations.ClassOf(*task);
  std::vector<Value> inputs(task_class.uses.size());
  std::vector<Value> outputs(task_class.creates.size());
  KernelCall call{.task = *task,
                  .inputs = absl::MakeSpan(inputs),
                  .outputs = absl::MakeSpan(outputs)};
  DOGGED_RETURN_IF_ERROR(
      Annotate(kernels[task_class.kernel]->Run(call),
               absl::StrCat("task ", relations.program().TaskText(*task))));
  Value tile;
  relations.ForEachCreated(*task, [&](int create, const Label& created) {
    if (created == label) tile = outputs[create];
  });
  outputs.clear();  // so that `tile` is held once and updated in place
  return tile;
}

absl::StatusOr<Value> InDoubles(const Program& program, const Label& label,
                                Value tile, int64_t rows, int64_t columns) {
  const bool fits = !tile.IsNone() && tile.type() != ElementType::kInt64 &&
                    tile.shape() == Shape({rows, columns});
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat(program.LabelText(label), " is no ", rows, " x ", columns,
                     " matrix of doubles or floats"));
  }
  if (tile.type() == ElementType::kFloat) return Widened(tile);
  return tile;
}

std::vector<double> KnownSolution(int64_t order) {
  std::vector<double> out;
  for (int64_t i = 0; i < order; ++i) {
    out.push_back(static_cast<double>(i * 37 % 101) / 50 - 1);
  }
  return out;
}

}  // namespace dogged
