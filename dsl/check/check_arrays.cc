#include "dsl/check/check_arrays.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dogged::dsl {

using ast::Expr;

void DeclareArray(CheckContext& context, const ast::Array& declared) {
  if (context.program.FindArray(declared.name.text) >= 0) {
    context.diagnostics.Error(
        Code::kDefinedTwice, declared.name.range,
        absl::StrCat("there is an array ", declared.name.text, " already"));
    return;
  }
  CheckedArray out;
  out.name = declared.name.text;
  out.rank = static_cast<int32_t>(declared.indices.size());
  out.element = declared.element;
  out.range = declared.name.range;
  Scope scope = context.ParameterScope();
  std::vector<ast::Dimension> indices = declared.indices;
  for (size_t i = 0; i < indices.size(); ++i) {
    // A name that no program can write.
    if (indices[i].name.text.empty()) {
      indices[i].name = {absl::StrCat("index ", i + 1), indices[i].range.range};
    }
  }
  out.declared = context.DomainOf(indices, scope);
  for (const Expr& extent : declared.block) {
    const auto value =
        context.ValueOf(extent, Type::kInt64, "an extent", scope);
    if (value) out.block.push_back(*value);
  }
  if (declared.block.size() > static_cast<size_t>(kMaxIndices)) {
    context.diagnostics.Error(
        Code::kTooLarge, declared.range,
        absl::StrCat("at most ", kMaxIndices, " extents are possible"));
    out.block.clear();
  }
  for (const Expr& place : declared.place) {
    const auto value = context.ValueOf(place, Type::kInt64, "'place'", scope);
    if (value) out.place.push_back(*value);
  }
  context.program.arrays.push_back(std::move(out));
}

void CheckCreators(CheckContext& context, const ast::Program& program) {
  std::vector<bool> is_created(context.program.arrays.size());
  std::vector<std::string> names;
  const auto create = [&](const ast::Ref& ref) {
    const int32_t array = context.program.FindArray(ref.array.text);
    if (array < 0 || is_created[array]) return;
    is_created[array] = true;
    names.push_back(ref.array.text);
  };
  for (const ast::Input& input : program.inputs) create(input.ref);
  for (const ast::Boundary& boundary : program.boundaries) {
    create(boundary.ref);
  }
  for (const ast::Reduction& r : program.reductions) create(r.ref);
  for (const ast::Task& task : program.tasks) {
    for (const ast::Create& c : task.creates) create(c.ref);
  }
  std::vector<bool> is_wanted(context.program.arrays.size());
  for (const CheckedTask& task : context.program.tasks) {
    for (const CheckedUse& use : task.uses) {
      is_wanted[use.ref.array] = true;
    }
  }
  for (const CheckedResult& result : context.program.results) {
    is_wanted[result.ref.array] = true;
  }
  for (size_t a = 0; a < context.program.arrays.size(); ++a) {
    if (is_created[a]) continue;
    const CheckedArray& array = context.program.arrays[a];
    if (!is_wanted[a]) {
      context.diagnostics.Warning(
          Code::kUnused, array.range,
          absl::StrCat("nothing uses the array ", array.name));
      continue;
    }
    context.diagnostics
        .Error(Code::kNoProducer, array.range,
               absl::StrCat("nothing creates ", array.name,
                            DidYouMean(array.name, names)))
        .Help("a task, an input or a boundary must");
  }
}

}  // namespace dogged::dsl
