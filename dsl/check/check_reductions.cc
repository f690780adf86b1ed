#include "dsl/check/check_reductions.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

void CheckReductionType(CheckContext& context, const CheckedTask& task) {
  const CheckedRef& made = task.creates[0].ref;
  const CheckedRef& read = task.uses[0].ref;
  const CheckedArray& to = context.ArrayAt(made.array);
  const CheckedArray& from = context.ArrayAt(read.array);
  const bool is_norm =
      task.reduce == ReduceKind::kNorm2 || task.reduce == ReduceKind::kNormMax;
  if (is_norm && from.element == ElementType::kInt64) {
    context.diagnostics
        .Error(Code::kType, read.range,
               absl::StrCat(ReduceName(task.reduce), " is for real numbers, ",
                            from.name, " holds int64"))
        .Help("sum, min and max take integers");
    return;
  }
  if (to.element == from.element) return;
  context.diagnostics.Error(
      Code::kType, made.range,
      absl::StrCat(to.name, " holds ", ElementName(to.element), ", ", from.name,
                   " ", ElementName(from.element)));
}

}  // namespace

void CheckReduction(CheckContext& context, const ast::Reduction& declared) {
  CheckedTask task;
  task.name = absl::StrCat("reduce ", Print(declared.ref));
  task.origin = CheckedTask::Origin::kReduction;
  task.body = CheckedTask::Body::kReduce;
  task.reduce = declared.kind;
  task.range = declared.ref.range;
  Scope scope = context.ParameterScope();
  scope.unknown_help =
      "indices that stay are named under  for,  as  for t = 0:T";
  task.domain = context.DomainOf(declared.dimensions, scope);
  const auto ref = context.RefOf(
      declared.ref, scope, static_cast<int>(task.domain.dimensions.size()));
  if (!ref || context.diagnostics.HasErrors()) return;
  std::vector<ast::Dimension> all = declared.dimensions;
  all.insert(all.end(), declared.over.begin(), declared.over.end());
  Scope inner = context.ParameterScope();
  inner.unknown_help =
      "indices that go are named under  over,  those that stay under  for";
  CheckedUse use;
  use.name = declared.source.array.text;
  use.over = context.DomainOf(all, inner);
  if (context.diagnostics.HasErrors()) return;
  const int count = static_cast<int>(all.size());
  context.Restrict(declared.where, inner, count, use.over->guard);
  const auto source = context.RefOf(declared.source, inner, count);
  if (!source) return;
  use.ref = *source;
  const CheckedArray from = context.ArrayAt(source->array);
  const CheckedArray to = context.ArrayAt(ref->array);
  if (!from.block.empty() || !to.block.empty()) {
    context.diagnostics.Error(
        Code::kNotSupported, declared.source.range,
        absl::StrCat((from.block.empty() ? to : from).name,
                     " has blocks of values, which can't be reduced yet"));
    return;
  }
  task.creates.push_back({.ref = *ref, .name = to.name});
  task.uses.push_back(std::move(use));
  context.program.tasks.push_back(std::move(task));
}

void TypeReductions(CheckContext& context) {
  std::vector<bool> is_open(context.program.arrays.size());
  for (const CheckedTask& task : context.program.tasks) {
    if (task.body != CheckedTask::Body::kReduce) continue;
    const int64_t to = task.creates[0].ref.array;
    is_open[to] = !context.program.arrays[to].declared;
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const CheckedTask& task : context.program.tasks) {
      if (task.body != CheckedTask::Body::kReduce) continue;
      const int64_t to = task.creates[0].ref.array;
      const int64_t from = task.uses[0].ref.array;
      if (!is_open[to] || is_open[from]) continue;
      context.program.arrays[to].element = context.program.arrays[from].element;
      is_open[to] = false;
      has_changed = true;
    }
  }
  for (const CheckedTask& task : context.program.tasks) {
    if (task.body == CheckedTask::Body::kReduce)
      CheckReductionType(context, task);
  }
}

}  // namespace dogged::dsl
