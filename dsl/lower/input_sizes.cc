#include "dsl/lower/input_sizes.h"

#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/lower/input_shapes.h"

namespace dogged::dsl {
namespace {

class SizeSearch {
 public:
  SizeSearch(const ast::Program& tree, CheckOptions options,
             absl::string_view array, const Shape& shape, GivenBy by)
      : tree_(tree),
        given_(options.parameters),
        files_(options.input_files),
        shapes_(tree, std::move(options)),
        array_(array.data(), array.size()),
        shape_(shape),
        by_(by) {}

  std::string Run() {
    const std::optional<CheckedProgram> program = shapes_.Checked(given_);
    if (!program) return "";
    for (int d = 0; d < shape_.size(); ++d) {
      if (!Reach(d, *program)) return "";
    }
    if (chosen_.empty() || Wanted() != shape_) return "";
    std::string out = "; it does with ";
    for (const auto& [name, text] : chosen_) {
      absl::StrAppend(&out, " ", ParameterWords(by_, name, text));
    }
    return out;
  }

 private:
  // The chosen parameters, and the given ones that were not chosen.
  ParameterValues All() const {
    ParameterValues out = chosen_;
    for (const auto& given : given_) {
      bool is_chosen = false;
      for (const auto& chosen : chosen_)
        is_chosen |= chosen.first == given.first;
      if (!is_chosen) out.push_back(given);
    }
    return out;
  }

  // The shape of the input; empty if there is none.
  Shape Wanted() const { return shapes_.Wanted(All(), array_); }

  // Dimension d of the shape, by one more parameter if need be.
  bool Reach(int d, const CheckedProgram& program) {
    const Shape now = Wanted();
    if (now.size() != shape_.size()) return false;
    if (now[d] == shape_[d]) return true;
    for (const CheckedParameter& parameter : program.parameters) {
      if (parameter.element != ElementType::kInt64 ||
          IsChosen(parameter.name) || IsOfOthers(parameter.name)) {
        continue;
      }
      const auto extent = [&](int64_t value) -> int64_t {
        chosen_.emplace_back(parameter.name, absl::StrCat(value));
        const Shape shape = Wanted();
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

  // The program takes it from another input, whose file is there.
  bool IsOfOthers(const std::string& name) const {
    for (const ast::Parameter& parameter : tree_.parameters) {
      if (parameter.name.text != name || parameter.from.empty()) continue;
      bool is_from_file = false;
      for (const ast::Name& from : parameter.from) {
        if (from.text == array_) return false;
        is_from_file |= files_.count(from.text) > 0;
      }
      return is_from_file;
    }
    return false;
  }

  const ast::Program& tree_;
  const ParameterValues given_;
  const std::set<std::string> files_;
  const InputShapes shapes_;
  const std::string array_;
  const Shape shape_;
  const GivenBy by_;
  ParameterValues chosen_;
};

}  // namespace

std::string HelpWithShape(const ast::Program& tree, CheckOptions options,
                          absl::string_view array, const Shape& shape,
                          GivenBy by) {
  return SizeSearch(tree, std::move(options), array, shape, by).Run();
}

}  // namespace dogged::dsl
