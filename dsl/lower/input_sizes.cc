#include "dsl/lower/input_sizes.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/kernels/point_kernels.h"
#include "dsl/lower/lower.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {
namespace {

class SizeSearch {
 public:
  SizeSearch(const ast::Program& tree, CheckOptions options,
             absl::string_view array, const Shape& shape)
      : tree_(tree),
        options_(std::move(options)),
        array_(array.data(), array.size()),
        shape_(shape) {}

  std::string Run() {
    const std::optional<CheckedProgram> program = Checked(options_.parameters);
    if (!program) return "";
    for (int d = 0; d < shape_.size(); ++d) {
      if (!Reach(d, *program)) return "";
    }
    if (chosen_.empty() || Wanted(All()) != shape_) return "";
    std::string out = "; it does with ";
    for (const auto& [name, text] : chosen_) {
      absl::StrAppend(&out, " -D ", name, "=", text);
    }
    return out;
  }

 private:
  // The chosen parameters, and the given ones that were not chosen.
  ParameterValues All() const {
    ParameterValues out = chosen_;
    for (const auto& given : options_.parameters) {
      bool is_chosen = false;
      for (const auto& chosen : chosen_)
        is_chosen |= chosen.first == given.first;
      if (!is_chosen) out.push_back(given);
    }
    return out;
  }

  std::optional<CheckedProgram> Checked(const ParameterValues& values) const {
    CheckOptions options = options_;
    options.parameters = values;
    Diagnostics silent("", "");
    CheckedProgram program = Check(tree_, options, silent);
    if (silent.HasErrors()) return std::nullopt;
    return program;
  }

  // The shape of the input; empty if there is none.
  Shape Wanted(const ParameterValues& values) const {
    std::optional<CheckedProgram> program = Checked(values);
    if (!program) return {};
    program->results.clear();
    std::vector<CheckedTask> tasks = std::move(program->tasks);
    program->tasks.clear();
    for (CheckedTask& task : tasks) {
      const CheckedRef& ref = task.creates.front().ref;
      if (task.body == CheckedTask::Body::kFile &&
          program->arrays[ref.array].name == array_) {
        program->tasks.push_back(std::move(task));
        break;
      }
    }
    Diagnostics silent("", "");
    const PointProgram points = MakePointProgram(*program, "", silent);
    if (points.classes.empty() || silent.HasErrors()) return {};
    return WantedShape(points.classes.front().input);
  }

  // Dimension d of the shape, by one more parameter if need be.
  bool Reach(int d, const CheckedProgram& program) {
    const Shape now = Wanted(All());
    if (now.size() != shape_.size()) return false;
    if (now[d] == shape_[d]) return true;
    for (const CheckedParameter& parameter : program.parameters) {
      if (parameter.element != ElementType::kInt64 ||
          IsChosen(parameter.name)) {
        continue;
      }
      const auto extent = [&](int64_t value) -> int64_t {
        chosen_.emplace_back(parameter.name, absl::StrCat(value));
        const Shape shape = Wanted(All());
        if (shape.size() == shape_.size() && shape[d] == shape_[d]) return -1;
        chosen_.pop_back();
        return shape.size() == shape_.size() ? shape[d] : now[d];
      };
      const int64_t more = extent(parameter.integer + 1);
      if (more < 0) return true;
      const int64_t slope = more - now[d];
      if (slope == 0 || (shape_[d] - now[d]) % slope != 0) continue;
      const int64_t steps = (shape_[d] - now[d]) / slope;
      if (extent(parameter.integer + steps) < 0) return true;
    }
    return false;
  }

  bool IsChosen(const std::string& name) const {
    for (const auto& chosen : chosen_) {
      if (chosen.first == name) return true;
    }
    return false;
  }

  const ast::Program& tree_;
  const CheckOptions options_;
  const std::string array_;
  const Shape shape_;
  ParameterValues chosen_;
};

}  // namespace

std::string HelpWithShape(const ast::Program& tree, CheckOptions options,
                          absl::string_view array, const Shape& shape) {
  return SizeSearch(tree, std::move(options), array, shape).Run();
}

}  // namespace dogged::dsl
