#include "dsl/job_inputs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dsl/point_kernels.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// What to do with a file of another type. A kernel that is known by name takes
// no other.
std::string HelpWithType(const PointProgram& points, const PointClass& input,
                         const Value& content) {
  const int32_t array = input.creates.front().array;
  const auto is_of_array = [array](const auto& label) {
    return label.array == array;
  };
  std::string out =
      absl::StrCat(": write it anew:  np.save(file, a.astype('",
                   input.input.element == ElementType::kDouble  ? "<f8"
                   : input.input.element == ElementType::kFloat ? "<f4"
                                                                : "<i8",
                   "'))");
  for (const PointClass& c : points.classes) {
    if (c.body != PointClass::Body::kNative || !c.native.library.empty()) {
      continue;
    }
    if (std::any_of(c.uses.begin(), c.uses.end(), is_of_array) ||
        std::any_of(c.creates.begin(), c.creates.end(), is_of_array)) {
      return absl::StrCat(out, "; kernel ", c.native.kernel,
                          " takes no other type");
    }
  }
  const absl::string_view held = ElementName(content.type());
  return absl::StrCat(out, ", or declare the array as ", held,
                      ", as in  array A(i = 0:N) : ", held);
}

}  // namespace

absl::Status AddInputs(
    const PointProgram& points, const CompileOptions& options,
    absl::FunctionRef<std::string(const std::string& array, const Shape&)> help,
    Job& job, ProgramFacts& facts) {
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
    const absl::Status fits = MakeInputKernel(c.input, input.content).status();
    if (fits.ok()) continue;
    const Shape& shape = input.content.shape();
    return Annotate(
        absl::Status(
            fits.code(),
            absl::StrCat(std::string(fits.message()),
                         input.content.type() == c.input.element
                             ? help(input.array, shape)
                             : HelpWithType(points, c, input.content))),
        absl::StrCat("input ", input.array));
  }
  return absl::OkStatus();
}

}  // namespace dogged::dsl
