#include "runtime/graph/builder.h"

#include "runtime/base/status.h"

namespace dogged {

int32_t ProgramBuilder::AddArray(Array array) {
  if (array.affinity_block.empty()) {
    array.affinity_block.assign(array.rank, 1);
    if (array.version_index >= 0) {
      array.affinity_block[array.version_index] = 0;
    }
  }
  program_.arrays.push_back(std::move(array));
  return static_cast<int32_t>(program_.arrays.size()) - 1;
}

int32_t ProgramBuilder::AddKernel(KernelSpec kernel) {
  program_.kernels.push_back(std::move(kernel));
  return static_cast<int32_t>(program_.kernels.size()) - 1;
}

int32_t ProgramBuilder::AddClass(TaskClass task_class) {
  program_.classes.push_back(std::move(task_class));
  return static_cast<int32_t>(program_.classes.size()) - 1;
}

void ProgramBuilder::AddResult(int32_t array, Domain domain) {
  AffineMap map;
  for (int d = 0; d < domain.size(); ++d) map.push_back(AffineExpr::Index(d));
  program_.results.push_back(
      {.array = array, .domain = std::move(domain), .map = std::move(map)});
}

absl::StatusOr<Program> ProgramBuilder::Build() && {
  DOGGED_RETURN_IF_ERROR(program_.Validate());
  return std::move(program_);
}

}  // namespace dogged
