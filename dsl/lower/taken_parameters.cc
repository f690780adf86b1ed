#include "dsl/lower/taken_parameters.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/kernels/point_kernels.h"
#include "dsl/lower/input_shapes.h"
#include "runtime/base/division.h"

namespace dogged::dsl {
namespace {

using ast::Parameter;

// A dimension of the file of an input.
struct FilePlace {
  std::string array;
  int dimension = 0;
};

class Taking {
 public:
  Taking(const ast::Program& tree, const CheckOptions& options,
         const std::map<std::string, Shape>& shapes, Diagnostics& diagnostics)
      : tree_(tree),
        wanted_(tree, options),
        given_(options.parameters),
        shapes_(shapes),
        diagnostics_(diagnostics) {}

  std::vector<TakenParameter> Run() {
    for (const Parameter& parameter : tree_.parameters) {
      const std::optional<int64_t> guess = GuessOf(parameter);
      if (guess.has_value()) open_.push_back({&parameter, *guess});
    }
    if (open_.empty()) return {};
    if (!wanted_.Checked(Values()).has_value()) {
      for (const Open& one : open_) {
        taken_.push_back({one.parameter->name.text, one.guess, ""});
      }
      return std::move(taken_);
    }
    // A parameter that is found leaves others alone in an extent.
    while (TakeSome()) {
    }
    for (const Open& one : open_) {
      if (diagnostics_.HasErrors()) break;
      if (!IsRefusedAnyway(*one.parameter)) SayNotFound(*one.parameter);
    }
    return std::move(taken_);
  }

 private:
  struct Open {
    const Parameter* parameter = nullptr;
    int64_t guess = 0;
  };

  // The largest extent of the files that it names, where it mostly is that;
  // none if there is nothing to take.
  std::optional<int64_t> GuessOf(const Parameter& parameter) const {
    for (const auto& given : given_) {
      if (given.first == parameter.name.text) return std::nullopt;
    }
    std::optional<int64_t> out;
    for (const ast::Name& name : parameter.from) {
      const auto it = shapes_.find(name.text);
      if (it == shapes_.end()) continue;
      for (const int64_t extent : it->second) {
        out = std::max(out.value_or(1), extent);
      }
    }
    return out;
  }

  // All values there are: given, taken, guessed.
  ParameterValues Values() const {
    ParameterValues out = given_;
    for (const TakenParameter& one : taken_) {
      out.emplace_back(one.name, absl::StrCat(one.value));
    }
    for (const Open& one : open_) {
      out.emplace_back(one.parameter->name.text, absl::StrCat(one.guess));
    }
    return out;
  }

  ParameterValues ValuesWith(const Parameter& parameter, int64_t value) const {
    ParameterValues out = Values();
    out.emplace_back(parameter.name.text, absl::StrCat(value));
    return out;
  }

  // Asked for once: the whole program is checked for it.
  const Shape& Wanted(const std::string& array, const ParameterValues& values) {
    std::map<std::string, std::string> key;
    for (const auto& [name, value] : values) key[name] = value;
    const auto [it, is_new] = shapes_at_.try_emplace({array, std::move(key)});
    if (is_new) it->second = wanted_.Wanted(values, array);
    return it->second;
  }

  // The extent that is wanted there; none without such a dimension.
  std::optional<int64_t> ExtentAt(const FilePlace& place,
                                  const ParameterValues& values) {
    const Shape& shape = Wanted(place.array, values);
    if (shape.size() != shapes_.at(place.array).size()) return std::nullopt;
    return shape[place.dimension];
  }

  // How much the extent grows there as `one` does by 1.
  int64_t SlopeAt(const FilePlace& place, const Open& one) {
    const auto now = ExtentAt(place, Values());
    const auto more =
        ExtentAt(place, ValuesWith(*one.parameter, one.guess + 1));
    return now.has_value() && more.has_value() ? *more - *now : 0;
  }

  bool DependsOnOthers(const FilePlace& place, const Open& one) {
    return std::any_of(open_.begin(), open_.end(), [&](const Open& other) {
      return other.parameter != one.parameter && SlopeAt(place, other) != 0;
    });
  }

  // All its files have another number of dimensions than the program wants,
  // which is told as of any file; there is a default meanwhile.
  bool IsRefusedAnyway(const Parameter& parameter) {
    return parameter.value.has_value() &&
           std::none_of(parameter.from.begin(), parameter.from.end(),
                        [this](const ast::Name& name) {
                          const auto it = shapes_.find(name.text);
                          return it != shapes_.end() &&
                                 it->second.size() ==
                                     Wanted(name.text, Values()).size();
                        });
  }

  std::vector<FilePlace> PlacesOf(const Parameter& parameter) const {
    std::vector<FilePlace> out;
    for (const ast::Name& name : parameter.from) {
      const auto it = shapes_.find(name.text);
      if (it == shapes_.end()) continue;
      for (int d = 0; d < it->second.size(); ++d) {
        out.push_back({.array = name.text, .dimension = d});
      }
    }
    return out;
  }

  bool TakeSome() {
    std::vector<TakenParameter> found;
    std::vector<Open> left;
    for (const Open& one : open_) {
      auto value = Take(one);
      if (diagnostics_.HasErrors()) return false;
      if (value.has_value()) {
        found.push_back(*std::move(value));
      } else {
        left.push_back(one);
      }
    }
    open_ = std::move(left);
    taken_.insert(taken_.end(), found.begin(), found.end());
    return !found.empty();
  }

  // The value that all extents agree on which depend on `one` alone; none if
  // there is no such extent.
  std::optional<TakenParameter> Take(const Open& one) {
    std::optional<TakenParameter> out;
    FilePlace first;
    for (const FilePlace& place : PlacesOf(*one.parameter)) {
      const int64_t slope = SlopeAt(place, one);
      if (slope == 0 || DependsOnOthers(place, one)) continue;
      const int64_t extent = shapes_.at(place.array)[place.dimension];
      const int64_t now = ExtentAt(place, Values()).value_or(0);
      const int64_t value = one.guess + FloorDiv(extent - now, slope);
      if (!IsTheOnlyOne(place, *one.parameter, value)) {
        SayNoneFits(*one.parameter, place, value);
        return std::nullopt;
      }
      if (!out.has_value()) {
        out = {one.parameter->name.text, value, place.array};
        first = place;
      } else if (out->value != value) {
        SayDifferent(*one.parameter, {first, out->value}, {place, value});
        return std::nullopt;
      }
    }
    return out;
  }

  bool IsTheOnlyOne(const FilePlace& place, const Parameter& parameter,
                    int64_t value) {
    const int64_t extent = shapes_.at(place.array)[place.dimension];
    const auto fits = [&](int64_t tried) {
      return ExtentAt(place, ValuesWith(parameter, tried)) == extent;
    };
    return fits(value) && !fits(value - 1) && !fits(value + 1);
  }

  // "dimension 1 of input A (line 7), whose file has shape (6)(6)"
  std::string PlaceText(const FilePlace& place) const {
    return absl::StrCat("dimension ", place.dimension + 1, " of ",
                        InputText(place.array));
  }
  std::string InputText(const std::string& array) const {
    int line = 0;
    for (const ast::Input& input : tree_.inputs) {
      if (line > 0 || input.ref.array.text != array) continue;
      line = diagnostics_.LineAndColumn(input.ref.range.begin).first;
    }
    return absl::StrCat("input ", array, " (line ", line,
                        "), whose file has shape ",
                        ShapeText(shapes_.at(array)));
  }

  void SayDifferent(const Parameter& parameter,
                    const std::pair<FilePlace, int64_t>& a,
                    const std::pair<FilePlace, int64_t>& b) {
    const bool is_one_file = a.first.array == b.first.array;
    diagnostics_
        .Error(Code::kParameter, parameter.name.range,
               absl::StrCat(parameter.name.text, " is ", a.second, " by ",
                            PlaceText(a.first), ", and ", b.second, " by ",
                            is_one_file
                                ? absl::StrCat("dimension ",
                                               b.first.dimension + 1, " of it")
                                : PlaceText(b.first)))
        .Help(is_one_file
                  ? absl::StrCat("the program wants ",
                                 IsSquare(a, b) ? "a square matrix"
                                                : "a file of another form")
                  : "give files that fit each other");
  }

  // Both values are the extents themselves, of a matrix.
  bool IsSquare(const std::pair<FilePlace, int64_t>& a,
                const std::pair<FilePlace, int64_t>& b) const {
    const Shape& shape = shapes_.at(a.first.array);
    return shape.size() == 2 && shape[a.first.dimension] == a.second &&
           shape[b.first.dimension] == b.second;
  }

  void SayNoneFits(const Parameter& parameter, const FilePlace& place,
                   int64_t nearest) {
    const std::string& name = parameter.name.text;
    std::vector<std::string> extents;
    for (const int64_t value : {nearest, nearest + 1}) {
      const auto extent = ExtentAt(place, ValuesWith(parameter, value));
      if (!extent.has_value()) continue;
      extents.push_back(
          absl::StrCat(*extent, " there with ", name, " = ", value));
    }
    diagnostics_
        .Error(Code::kParameter, parameter.name.range,
               absl::StrCat("no single ", name, " follows from ",
                            PlaceText(place)))
        .Help(absl::StrCat(
            extents.empty() ? ""
                            : absl::StrCat("the program wants ",
                                           absl::StrJoin(extents, ", "), "; "),
            HelpToGive(parameter)));
  }

  void SayNotFound(const Parameter& parameter) {
    std::vector<std::string> inputs;
    for (const ast::Name& name : parameter.from) {
      if (shapes_.count(name.text) > 0) inputs.push_back(InputText(name.text));
    }
    diagnostics_
        .Error(Code::kParameter, parameter.name.range,
               absl::StrCat(parameter.name.text,
                            " does not follow from the shape of ",
                            absl::StrJoin(inputs, ", nor of ")))
        .Help(OtherDimensions(parameter).value_or(HelpToGive(parameter)));
  }

  // Help with a file that has more or fewer dimensions than its input's labels
  // have indices.
  std::optional<std::string> OtherDimensions(const Parameter& parameter) const {
    for (const ast::Name& name : parameter.from) {
      const auto shape = shapes_.find(name.text);
      const bool has_blocks = std::any_of(
          tree_.arrays.begin(), tree_.arrays.end(), [&](const auto& array) {
            return array.name.text == name.text && !array.block.empty();
          });
      if (shape == shapes_.end() || has_blocks) continue;
      for (const ast::Input& input : tree_.inputs) {
        const auto wanted = std::ssize(input.ref.index);
        if (input.ref.array.text != name.text ||
            wanted == shape->second.size()) {
          continue;
        }
        return absl::StrCat("the program wants ", wanted,
                            wanted == 1 ? " dimension" : " dimensions", " of ",
                            name.text);
      }
    }
    return std::nullopt;
  }

  std::string HelpToGive(const Parameter& parameter) const {
    return absl::StrCat(
        "give it a value:  ",
        ParameterWords(diagnostics_.given_by(), parameter.name.text, "..."));
  }

  const ast::Program& tree_;
  const InputShapes wanted_;
  const ParameterValues given_;
  const std::map<std::string, Shape>& shapes_;
  Diagnostics& diagnostics_;
  std::vector<Open> open_;
  std::vector<TakenParameter> taken_;
  std::map<std::pair<std::string, std::map<std::string, std::string>>, Shape>
      shapes_at_;
};

}  // namespace

std::vector<TakenParameter> TakeParameters(
    const ast::Program& tree, const CheckOptions& options,
    const std::map<std::string, Shape>& shapes, Diagnostics& diagnostics) {
  return Taking(tree, options, shapes, diagnostics).Run();
}

}  // namespace dogged::dsl
