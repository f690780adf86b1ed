#include "dsl/check/check_tasks.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/check/affine_form.h"
#include "dsl/check/check_kernels.h"
#include "dsl/check/repeat.h"
#include "dsl/check/type_check.h"

namespace dogged::dsl {
namespace {

using ast::NameKind;

// Where an index of a label is made of a name that is not known.
constexpr char kIndexHelp[] =
    "indices are made of the names under  for,  as in  for t = 1:T,  and of "
    "parameters";

void CheckUses(CheckContext& context, const ast::Task& declared,
               const Scope& scope, CheckedTask& task) {
  const int dim_count = static_cast<int>(task.domain.dimensions.size());
  for (const ast::Use& from : declared.uses) {
    Scope indices = scope;
    indices.unknown_help =
        task.name == kConditionTask
            ? "a condition is of labels of the loop's parameter, as in  "
              "change(T)"
            : kIndexHelp;
    CheckedUse use;
    Scope of_label = indices;
    of_label.elements = context.KnownElements();
    of_label.elements_help =
        "an index may be read from an input, which is known before: declare "
        "the array as one, of int64";
    const auto ref =
        context.RefOf(from.ref, of_label, dim_count,
                      {.rank = "", .is_use = true, .gather = &use.gather});
    use.name = from.name.text;
    if (ref) use.ref = *ref;
    context.Restrict(from.where, indices, dim_count, use.guard);
    if (from.where && !from.else_value) {
      context.diagnostics
          .Error(Code::kSyntax, from.where->range,
                 absl::StrCat(from.name.text,
                              " has no value where this "
                              "fails"))
          .Help("add  else  and a value");
    }
    if (from.else_value && !from.where) {
      context.diagnostics.Error(Code::kSyntax, from.else_value->range,
                                "'else' needs a 'where' before it");
    } else if (from.else_value && ref) {
      const CheckedArray& array = context.ArrayAt(ref->array);
      if (declared.call || !array.block.empty()) {
        context.diagnostics.Error(
            Code::kNotSupported, from.else_value->range,
            "a kernel's argument can't have an 'else' yet");
      } else {
        indices.unknown_help =
            "'else' takes numbers, parameters and indices; between labels one "
            "chooses in the code:  x > 0 ? a : b";
        use.else_value =
            context.ValueOf(*from.else_value, TypeOf(array.element),
                            "the value behind 'else'", indices);
      }
    }
    task.uses.push_back(std::move(use));
  }
}

void CheckCode(CheckContext& context, const ast::Task& declared, Scope scope,
               CheckedTask& task) {
  if (declared.creates.size() != task.creates.size()) return;
  for (size_t i = 0; i < declared.uses.size(); ++i) {
    const CheckedArray& array = context.ArrayAt(task.uses[i].ref.array);
    context.AddName(declared.uses[i].name, NameKind::kUse,
                    static_cast<int32_t>(i), TypeOf(array.element),
                    !array.block.empty(), scope);
  }
  for (size_t i = 0; i < declared.creates.size(); ++i) {
    const CheckedArray& array = context.ArrayAt(task.creates[i].ref.array);
    context.AddName(declared.creates[i].name, NameKind::kCreate,
                    static_cast<int32_t>(i), TypeOf(array.element),
                    !array.block.empty(), scope);
  }
  std::set<std::string> assigned;
  for (size_t s = 0; s < declared.code.size(); ++s) {
    const ast::Statement& from = declared.code[s];
    CheckedStatement to;
    to.name = from.target.text;
    to.value = from.value;
    if (!CheckTypes(to.value, scope, context.diagnostics)) return;
    const Scope::Entry* entry = scope.Find(to.name);
    const bool is_create = entry && entry->kind == NameKind::kCreate;
    if (!assigned.insert(to.name).second || (entry && !is_create)) {
      context.diagnostics
          .Error(Code::kDefinedTwice, from.target.range,
                 absl::StrCat(to.name, " has a value already"))
          .Help("every name is set once; take a new one");
      return;
    }
    if (is_create) {
      to.target = NameKind::kCreate;
      to.index = entry->index;
      if (entry->is_block) {
        context.diagnostics
            .Error(Code::kType, from.target.range,
                   absl::StrCat(to.name,
                                " is a block of values, which code "
                                "can't compute"))
            .Help("hand it to a kernel:  call name(...)  instead of  code");
        return;
      }
      if (!ConvertTo(entry->type, absl::StrCat("what ", to.name, " is set to"),
                     to.value, context.diagnostics)) {
        return;
      }
    } else {
      to.index = static_cast<int32_t>(s);
      if (context.AddName(from.target, NameKind::kLocal, to.index,
                          to.value.type, false, scope)) {
        scope.entries.back().is_constant = to.value.is_constant;
      }
    }
    task.code.push_back(std::move(to));
  }
  for (const ast::Create& create : declared.creates) {
    if (assigned.count(create.name.text) > 0) continue;
    context.diagnostics
        .Error(Code::kNeverAssigned, create.name.range,
               absl::StrCat("the code never sets ", create.name.text))
        .Help(absl::StrCat("add  ", create.name.text, " = ...  to the code"));
  }
  for (const Scope::Entry& entry : scope.entries) {
    if (entry.kind != NameKind::kUse || entry.is_used) continue;
    context.diagnostics.Warning(
        Code::kUnused, declared.uses[entry.index].name.range,
        absl::StrCat("the code does not use ", entry.name));
  }
}

void CheckHints(CheckContext& context, const ast::Task& declared, Scope& scope,
                CheckedTask& task) {
  if (declared.cost && !declared.call) {
    context.diagnostics
        .Error(Code::kKernel, declared.cost->range,
               "'cost' says what a kernel can't: this task has code")
        .Help("leave it out, or  call  a kernel");
  } else if (declared.cost) {
    task.cost = context.ValueOf(*declared.cost, Type::kDouble, "'cost'", scope);
  }
  if (!declared.priority) return;
  const auto priority =
      context.ValueOf(*declared.priority, Type::kInt64, "'priority'", scope);
  if (!priority) return;
  const int dim_count = static_cast<int>(task.domain.dimensions.size());
  task.priority = AffineForms(dim_count, context.program, context.diagnostics)
                      .Index(*priority);
}

}  // namespace

void CheckTask(CheckContext& context, const ast::Task& declared) {
  CheckedTask task;
  task.name = declared.name.text;
  task.range = declared.name.range;
  for (const CheckedTask& other : context.program.tasks) {
    if (other.name != task.name || other.range.IsNone()) continue;
    context.diagnostics.Error(
        Code::kDefinedTwice, declared.name.range,
        absl::StrCat(
            "there is a task ", task.name, " already, on line ",
            context.diagnostics.LineAndColumn(other.range.begin).first));
  }
  Scope scope = context.ParameterScope();
  task.domain = context.DomainOf(declared.dimensions, scope);
  const int dim_count = static_cast<int>(task.domain.dimensions.size());
  context.Restrict(declared.where, scope, dim_count, task.domain.guard);
  Scope indices = scope;
  indices.unknown_help = kIndexHelp;
  for (const ast::Create& from : declared.creates) {
    const auto ref = context.RefOf(
        from.ref, indices, dim_count,
        {.rank = HelpWithCreate(from, declared, context.mentions)});
    if (ref) task.creates.push_back({.ref = *ref, .name = from.name.text});
  }
  CheckUses(context, declared, scope, task);
  if (declared.call) {
    CheckCall(context, *declared.call, scope, task);
  } else {
    scope.is_code = true;
    scope.unknown_help =
        "code knows the names under  using,  those that it has set, indices "
        "and parameters";
    CheckCode(context, declared, scope, task);
  }
  CheckHints(context, declared, scope, task);
  context.program.tasks.push_back(std::move(task));
}

}  // namespace dogged::dsl
