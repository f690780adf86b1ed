#include "dsl/lower/input_shapes.h"

#include <utility>
#include <vector>

#include "dsl/kernels/point_kernels.h"
#include "dsl/lower/lower.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

std::optional<CheckedProgram> InputShapes::Checked(
    const ParameterValues& values) const {
  CheckOptions options = options_;
  options.parameters = values;
  Diagnostics silent("", "");
  CheckedProgram program = Check(tree_, options, silent);
  if (silent.HasErrors()) return std::nullopt;
  return program;
}

Shape InputShapes::Wanted(const ParameterValues& values,
                          absl::string_view array) const {
  std::optional<CheckedProgram> program = Checked(values);
  if (!program) return {};
  program->results.clear();
  std::vector<CheckedTask> tasks = std::move(program->tasks);
  program->tasks.clear();
  for (CheckedTask& task : tasks) {
    const CheckedRef& ref = task.creates.front().ref;
    if (task.body == CheckedTask::Body::kFile &&
        program->arrays[ref.array].name == array) {
      program->tasks.push_back(std::move(task));
      break;
    }
  }
  Diagnostics silent("", "");
  const PointProgram points = MakePointProgram(*program, "", silent);
  if (points.classes.empty() || silent.HasErrors()) return {};
  return WantedShape(points.classes.front().input);
}

}  // namespace dogged::dsl
