#include "runtime/exec/executor.h"

#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {

absl::Status RunKernel(const Kernel& kernel, const Task& task,
                       absl::Span<Value> inputs, absl::Span<Value> outputs) {
  KernelCall call{.task = task, .inputs = inputs, .outputs = outputs};
  try {
    DOGGED_RETURN_IF_ERROR(kernel.Run(call));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for a value of ", Value::RefusedBytes(), " bytes"));
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("the kernel threw: ", e.what()));
  } catch (...) {
    return absl::InternalError("the kernel threw something");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].IsNone()) {
      return absl::InternalError(
          absl::StrCat("the kernel left output ", i, " unset"));
    }
  }
  return absl::OkStatus();
}

absl::Status NameTask(const absl::Status& status, const Program& program,
                      const Task& task) {
  return Annotate(status, absl::StrCat("task ", program.TaskText(task)));
}

}  // namespace dogged
