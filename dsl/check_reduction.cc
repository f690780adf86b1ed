#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/checker.h"
#include "dsl/print.h"

namespace dogged::dsl {

void Checker::Reduction(const ast::Reduction& declared) {
  CheckedTask task;
  task.name = absl::StrCat("reduce ", Print(declared.ref));
  task.origin = CheckedTask::Origin::kReduction;
  task.body = CheckedTask::Body::kReduce;
  task.reduce = declared.kind;
  task.range = declared.ref.range;
  Scope scope = ParameterScope();
  task.domain = DomainOf(declared.dimensions, scope);
  const auto ref = RefOf(declared.ref, scope,
                         static_cast<int>(task.domain.dimensions.size()));
  if (!ref || diagnostics_.HasErrors()) return;
  std::vector<ast::Dimension> all = declared.dimensions;
  all.insert(all.end(), declared.over.begin(), declared.over.end());
  Scope inner = ParameterScope();
  CheckedUse use;
  use.name = declared.source.array.text;
  use.over = DomainOf(all, inner);
  if (diagnostics_.HasErrors()) return;
  const int count = static_cast<int>(all.size());
  Restrict(declared.where, inner, count, use.over->guard);
  const auto source = RefOf(declared.source, inner, count);
  if (!source) return;
  use.ref = *source;
  const CheckedArray from = ArrayAt(source->array);
  CheckedArray& to = ArrayAt(ref->array);
  if (!from.block.empty() || !to.block.empty()) {
    diagnostics_.Error(
        Code::kNotSupported, declared.source.range,
        absl::StrCat((from.block.empty() ? to : from).name,
                     " has blocks of values, which can't be reduced yet"));
    return;
  }
  const bool is_norm = declared.kind == ReduceKind::kNorm2 ||
                       declared.kind == ReduceKind::kNormMax;
  if (is_norm && from.element == ElementType::kInt64) {
    diagnostics_
        .Error(Code::kType, declared.source.range,
               absl::StrCat(ReduceName(declared.kind), " is for real numbers, ",
                            from.name, " holds int64"))
        .Help("sum, min and max take integers");
    return;
  }
  if (!to.declared) to.element = from.element;
  if (to.element != from.element) {
    diagnostics_.Error(
        Code::kType, declared.ref.range,
        absl::StrCat(to.name, " holds ", ElementName(to.element), ", ",
                     from.name, " ", ElementName(from.element)));
    return;
  }
  task.creates.push_back({.ref = *ref, .name = to.name});
  task.uses.push_back(std::move(use));
  program_.tasks.push_back(std::move(task));
}

}  // namespace dogged::dsl
