#include "dsl/job_inputs.h"

#include "absl/strings/str_cat.h"
#include "dsl/point_kernels.h"
#include "runtime/base/status.h"

namespace dogged::dsl {

absl::Status AddInputs(const PointProgram& points,
                       const CompileOptions& options, Job& job,
                       ProgramFacts& facts) {
  for (const std::string& array : points.inputs) {
    const auto it = options.inputs.find(array);
    const bool is_there = it != options.inputs.end();
    if (!is_there && !options.may_lack_inputs) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", array, " has no file"));
    }
    job.inputs.push_back(
        {.array = array, .content = is_there ? it->second : Value()});
  }
  for (const PointClass& c : points.classes) {
    if (c.body != PointClass::Body::kInput) continue;
    const JobInput& input = job.inputs[static_cast<size_t>(c.input.position)];
    if (input.content.IsNone()) {
      facts.lacking.push_back(
          {input.array, c.input.element, WantedShape(c.input)});
      continue;
    }
    DOGGED_RETURN_IF_ERROR(
        Annotate(MakeInputKernel(c.input, input.content).status(),
                 absl::StrCat("input ", input.array)));
  }
  return absl::OkStatus();
}

}  // namespace dogged::dsl
