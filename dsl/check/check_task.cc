#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/check/checker.h"
#include "dsl/check/index_help.h"
#include "dsl/check/repeat.h"
#include "dsl/text/print.h"

namespace dogged::dsl {

using ast::Expr;
using ast::Formal;
using ast::NameKind;

namespace {

// Where an index of a label is made of a name that is not known.
constexpr char kIndexHelp[] =
    "indices are made of the names under  for,  as in  for t = 1:T,  and of "
    "parameters";

}  // namespace

CheckedGuard Conjoin(const CheckedGuard& a, const CheckedGuard& b) {
  if (a.any_of.empty()) return b;
  if (b.any_of.empty()) return a;
  CheckedGuard out;
  for (const auto& first : a.any_of) {
    for (const auto& second : b.any_of) {
      out.any_of.push_back(first);
      out.any_of.back().insert(out.any_of.back().end(), second.begin(),
                               second.end());
    }
  }
  return out;
}

bool Checker::AddName(const ast::Name& name, NameKind kind, int32_t index,
                      Type type, bool is_block, Scope& scope) {
  if (const Scope::Entry* entry = scope.Find(name.text)) {
    const bool is_parameter = entry->kind == NameKind::kParameter;
    diagnostics_
        .Error(Code::kDefinedTwice, name.range,
               absl::StrCat(name.text, is_parameter ? " is a parameter already"
                                       : entry->kind == NameKind::kDimension
                                           ? " is an index already"
                                       : entry->kind == NameKind::kUse
                                           ? " is the name of a label already"
                                           : " has a meaning already"))
        .Help(is_parameter && kind == NameKind::kDimension
                  ? "an index has a name of its own, as in  x = 0:N-1"
                  : "give it another name");
    return false;
  }
  scope.entries.push_back({.name = name.text,
                           .kind = kind,
                           .index = index,
                           .type = type,
                           .is_block = is_block,
                           .is_used = false});
  return true;
}

std::optional<Expr> Checker::ValueOf(const Expr& expr, Type to,
                                     absl::string_view what, Scope& scope) {
  Expr out = expr;
  if (!CheckTypes(out, scope, diagnostics_) ||
      !ConvertTo(to, what, out, diagnostics_)) {
    return std::nullopt;
  }
  return out;
}

std::optional<int32_t> Checker::ArrayOf(const ast::Ref& ref) {
  const auto rank = static_cast<int32_t>(ref.index.size());
  const int32_t found = program_.FindArray(ref.array.text);
  if (found >= 0) {
    const CheckedArray& array = ArrayAt(found);
    if (array.rank == rank) return found;
    diagnostics_
        .Error(
            Code::kIndexCount, ref.range,
            absl::StrCat(array.name, " has ", array.rank,
                         array.rank == 1 ? " index" : " indices", " on line ",
                         diagnostics_.LineAndColumn(array.range.begin).first,
                         ", and here ", rank))
        .Help(create_help_);
    return std::nullopt;
  }
  if (rank > kMaxIndices) {
    diagnostics_.Error(Code::kTooLarge, ref.range,
                       absl::StrCat("at most ", kMaxIndices,
                                    " indices are possible, not ", rank));
    return std::nullopt;
  }
  CheckedArray array;
  array.name = ref.array.text;
  array.rank = rank;
  array.range = ref.range;
  // A reference whose rank differs from that of most others is the wrong one.
  const auto most = mentions_.arrays.find(array.name);
  const bool differs =
      most != mentions_.arrays.end() && most->second.rank != rank;
  if (differs) {
    array.rank = most->second.rank;
    array.range = most->second.range;
  }
  program_.arrays.push_back(std::move(array));
  if (differs) return ArrayOf(ref);
  return static_cast<int32_t>(program_.arrays.size()) - 1;
}

std::optional<CheckedRef> Checker::RefOf(const ast::Ref& ref, Scope& scope,
                                         int dim_count) {
  const auto array = ArrayOf(ref);
  CheckedRef out{.array = array.value_or(0), .index = {}, .range = ref.range};
  AffineForms forms(dim_count, program_, diagnostics_);
  bool is_good = array.has_value();
  std::vector<std::string> indices;
  for (const Scope::Entry& entry : scope.entries) {
    if (entry.kind == NameKind::kDimension) indices.push_back(entry.name);
  }
  for (size_t i = 0; i < ref.index.size(); ++i) {
    if (ref.is_slice[i]) {
      out.index.push_back(forms.Constant(0));
      continue;
    }
    const auto index = ValueOf(ref.index[i], Type::kInt64, "an index", scope);
    if (is_use_) forms.SetHelp(HelpWithRing(ref, i, indices));
    const auto form = index ? forms.Index(*index) : std::nullopt;
    if (form) out.index.push_back(*form);
    is_good = is_good && form;
  }
  if (!is_good) return std::nullopt;
  return out;
}

CheckedDomain Checker::DomainOf(const std::vector<ast::Dimension>& dimensions,
                                Scope& scope) {
  CheckedDomain out;
  const int count = static_cast<int>(dimensions.size());
  if (count > kMaxIndices) {
    diagnostics_.Error(
        Code::kTooLarge, dimensions[kMaxIndices].name.range,
        absl::StrCat("at most ", kMaxIndices, " indices are possible"));
    return out;
  }
  AffineForms forms(count, program_, diagnostics_);
  const std::string help = std::exchange(
      scope.unknown_help,
      "ranges are made of parameters, as in  param N = 100,  and of indices "
      "before them");
  for (int d = 0; d < count; ++d) {
    const ast::Dimension& from = dimensions[static_cast<size_t>(d)];
    CheckedDimension to{.name = from.name.text,
                        .range = from.range.range,
                        .lower = {},
                        .upper = {}};
    const auto lower =
        ValueOf(from.range.lower, Type::kInt64, "the end of a range", scope);
    const auto upper =
        ValueOf(from.range.upper, Type::kInt64, "the end of a range", scope);
    const auto lower_bounds = lower ? forms.Lower(*lower) : std::nullopt;
    const auto upper_bounds = upper ? forms.Upper(*upper) : std::nullopt;
    to.lower = lower_bounds.value_or(std::vector<CheckedBound>());
    to.upper = upper_bounds.value_or(std::vector<CheckedBound>());
    if (from.range.step > 1 && lower_bounds) {
      const auto first = forms.Index(*lower);
      const auto offset =
          first ? Combine(forms.Dimension(d), 1, *first, -1) : std::nullopt;
      if (offset) {
        out.guard = Conjoin(out.guard,
                            {.any_of = {{{.form = *offset,
                                          .kind = Constraint::Kind::kDivisible,
                                          .modulus = from.range.step}}}});
      }
    }
    AddName(from.name, NameKind::kDimension, d, Type::kInt64, false, scope);
    out.dimensions.push_back(std::move(to));
  }
  scope.unknown_help = help;
  return out;
}

void Checker::Restrict(const std::optional<Expr>& where, Scope& scope,
                       int dim_count, CheckedGuard& guard) {
  if (!where) return;
  const std::string help = std::exchange(
      scope.unknown_help,
      "'where' knows indices and parameters; what depends on values is chosen "
      "in the code:  c > 0 ? a : b");
  const auto condition = ValueOf(*where, Type::kBool, "'where'", scope);
  scope.unknown_help = help;
  if (!condition) return;
  AffineForms forms(dim_count, program_, diagnostics_);
  const auto more = forms.Condition(*condition);
  if (more) guard = Conjoin(guard, *more);
}

void Checker::Uses(const ast::Task& declared, const Scope& scope,
                   CheckedTask& task) {
  const int dim_count = static_cast<int>(task.domain.dimensions.size());
  for (const ast::Use& from : declared.uses) {
    Scope indices = scope;
    indices.unknown_help =
        task.name == kConditionTask
            ? "a condition is of labels of the loop's parameter, as in  "
              "change(T)"
            : kIndexHelp;
    is_use_ = true;
    const auto ref = RefOf(from.ref, indices, dim_count);
    is_use_ = false;
    CheckedUse use;
    use.name = from.name.text;
    if (ref) use.ref = *ref;
    Restrict(from.where, indices, dim_count, use.guard);
    if (from.where && !from.else_value) {
      diagnostics_
          .Error(Code::kSyntax, from.where->range,
                 absl::StrCat(from.name.text,
                              " has no value where this "
                              "fails"))
          .Help("add  else  and a value");
    }
    if (from.else_value && !from.where) {
      diagnostics_.Error(Code::kSyntax, from.else_value->range,
                         "'else' needs a 'where' before it");
    } else if (from.else_value && ref) {
      const CheckedArray& array = ArrayAt(ref->array);
      if (declared.call || !array.block.empty()) {
        diagnostics_.Error(Code::kNotSupported, from.else_value->range,
                           "a kernel's argument can't have an 'else' yet");
      } else {
        indices.unknown_help =
            "'else' takes numbers, parameters and indices; between labels one "
            "chooses in the code:  x > 0 ? a : b";
        use.else_value = ValueOf(*from.else_value, TypeOf(array.element),
                                 "the value behind 'else'", indices);
      }
    }
    task.uses.push_back(std::move(use));
  }
}

void Checker::Code(const ast::Task& declared, Scope scope, CheckedTask& task) {
  if (declared.creates.size() != task.creates.size()) return;
  for (size_t i = 0; i < declared.uses.size(); ++i) {
    const CheckedArray& array = ArrayAt(task.uses[i].ref.array);
    AddName(declared.uses[i].name, NameKind::kUse, static_cast<int32_t>(i),
            TypeOf(array.element), !array.block.empty(), scope);
  }
  for (size_t i = 0; i < declared.creates.size(); ++i) {
    const CheckedArray& array = ArrayAt(task.creates[i].ref.array);
    AddName(declared.creates[i].name, NameKind::kCreate,
            static_cast<int32_t>(i), TypeOf(array.element),
            !array.block.empty(), scope);
  }
  std::set<std::string> assigned;
  for (size_t s = 0; s < declared.code.size(); ++s) {
    const ast::Statement& from = declared.code[s];
    CheckedStatement to;
    to.name = from.target.text;
    to.value = from.value;
    if (!CheckTypes(to.value, scope, diagnostics_)) return;
    const Scope::Entry* entry = scope.Find(to.name);
    const bool is_create = entry && entry->kind == NameKind::kCreate;
    if (!assigned.insert(to.name).second || (entry && !is_create)) {
      diagnostics_
          .Error(Code::kDefinedTwice, from.target.range,
                 absl::StrCat(to.name, " has a value already"))
          .Help("every name is set once; take a new one");
      return;
    }
    if (is_create) {
      to.target = NameKind::kCreate;
      to.index = entry->index;
      if (entry->is_block) {
        diagnostics_
            .Error(Code::kType, from.target.range,
                   absl::StrCat(to.name,
                                " is a block of values, which code "
                                "can't compute"))
            .Help("hand it to a kernel:  call name(...)  instead of  code");
        return;
      }
      if (!ConvertTo(entry->type, absl::StrCat("what ", to.name, " is set to"),
                     to.value, diagnostics_)) {
        return;
      }
    } else {
      to.index = static_cast<int32_t>(s);
      if (AddName(from.target, NameKind::kLocal, to.index, to.value.type, false,
                  scope)) {
        scope.entries.back().is_constant = to.value.is_constant;
      }
    }
    task.code.push_back(std::move(to));
  }
  for (const ast::Create& create : declared.creates) {
    if (assigned.count(create.name.text) > 0) continue;
    diagnostics_
        .Error(Code::kNeverAssigned, create.name.range,
               absl::StrCat("the code never sets ", create.name.text))
        .Help(absl::StrCat("add  ", create.name.text, " = ...  to the code"));
  }
  for (const Scope::Entry& entry : scope.entries) {
    if (entry.kind != NameKind::kUse || entry.is_used) continue;
    diagnostics_.Warning(
        Code::kUnused,
        declared.uses[static_cast<size_t>(entry.index)].name.range,
        absl::StrCat("the code does not use ", entry.name));
  }
}

bool Checker::Argument(const Expr& arg, Scope& scope, const CheckedTask& task,
                       CheckedArgument& out) {
  if (out.kind == Formal::Kind::kScalar) {
    const auto scalar = ValueOf(arg, Type::kDouble, "this argument", scope);
    if (scalar) out.scalar = *scalar;
    return scalar.has_value();
  }
  const bool is_in = out.kind == Formal::Kind::kIn;
  std::vector<std::string> names;
  if (is_in) {
    for (const CheckedUse& use : task.uses) names.push_back(use.name);
  } else {
    for (const CheckedCreate& create : task.creates) {
      names.push_back(create.name);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (arg.kind == Expr::Kind::kName && arg.text == names[i]) {
      out.index = static_cast<int32_t>(i);
      return true;
    }
  }
  diagnostics_.Error(
      Code::kKernel, arg.range,
      absl::StrCat(Print(arg), " is not a value that the task ",
                   is_in ? "uses" : "creates", ", which the kernel ",
                   is_in ? "reads" : "sets", " here",
                   DidYouMean(Print(arg), names)));
  return false;
}

// The values in and out have the element types that the kernel is for.
void Checker::CheckElements(const ast::Call& call, const CheckedKernel& kernel,
                            const CheckedTask& task) {
  if (kernel.elements.empty()) return;
  size_t position = 0;
  for (const Formal::Kind kind : {Formal::Kind::kIn, Formal::Kind::kOut}) {
    for (size_t i = 0; i < call.args.size(); ++i) {
      const CheckedArgument& arg = task.call.args[i];
      if (arg.kind != kind) continue;
      const auto v = static_cast<size_t>(arg.index);
      const CheckedRef& ref =
          kind == Formal::Kind::kIn ? task.uses[v].ref : task.creates[v].ref;
      const CheckedArray& array = ArrayAt(ref.array);
      const ElementType wanted = kernel.elements[position++];
      if (array.element == wanted) continue;
      diagnostics_.Error(
          Code::kType, call.args[i].range,
          absl::StrCat(array.name, " holds ", ElementName(array.element),
                       ", the kernel ", kernel.name, " takes ",
                       ElementName(wanted), " here"));
    }
  }
}

void Checker::Call(const ast::Call& call, Scope& scope, CheckedTask& task) {
  const CheckedKernel* kernel = nullptr;
  std::vector<std::string> names;
  for (size_t k = 0; k < program_.kernels.size(); ++k) {
    names.push_back(program_.kernels[k].name);
    if (program_.kernels[k].name != call.kernel.text) continue;
    kernel = &program_.kernels[k];
    task.call.kernel = static_cast<int32_t>(k);
  }
  task.body = CheckedTask::Body::kCall;
  if (kernel == nullptr) {
    const bool is_native = options_.kernels != nullptr &&
                           options_.kernels->Find(call.kernel.text) != nullptr;
    diagnostics_
        .Error(Code::kKernel, call.kernel.range,
               absl::StrCat("there is no kernel ", call.kernel.text,
                            DidYouMean(call.kernel.text, names)))
        .Help(absl::StrCat("declare it:  kernel ", call.kernel.text,
                           "(in a, out b)",
                           is_native ? "" : " from \"mine.so\""));
    return;
  }
  if (call.args.size() != kernel->formals.size()) {
    diagnostics_.Error(
        Code::kKernel, call.range,
        absl::StrCat(kernel->name, " takes ", kernel->formals.size(),
                     " arguments on line ",
                     diagnostics_.LineAndColumn(kernel->range.begin).first,
                     ", and here ", call.args.size()));
    return;
  }
  std::set<int32_t> set;
  for (size_t i = 0; i < call.args.size(); ++i) {
    CheckedArgument arg;
    arg.kind = kernel->formals[i].kind;
    if (!Argument(call.args[i], scope, task, arg)) return;
    if (arg.kind == Formal::Kind::kOut && !set.insert(arg.index).second) {
      diagnostics_.Error(
          Code::kKernel, call.args[i].range,
          absl::StrCat("the kernel sets ", Print(call.args[i]), " twice"));
      return;
    }
    task.call.args.push_back(std::move(arg));
  }
  CheckElements(call, *kernel, task);
  for (size_t i = 0; i < task.creates.size(); ++i) {
    if (set.count(static_cast<int32_t>(i)) > 0) continue;
    diagnostics_.Error(
        Code::kNeverAssigned, call.range,
        absl::StrCat("the call never sets ", task.creates[i].name));
  }
}

void Checker::Hints(const ast::Task& declared, Scope& scope,
                    CheckedTask& task) {
  if (declared.cost && !declared.call) {
    diagnostics_
        .Error(Code::kKernel, declared.cost->range,
               "'cost' says what a kernel can't: this task has code")
        .Help("leave it out, or  call  a kernel");
  } else if (declared.cost) {
    task.cost = ValueOf(*declared.cost, Type::kDouble, "'cost'", scope);
  }
  if (!declared.priority) return;
  const auto priority =
      ValueOf(*declared.priority, Type::kInt64, "'priority'", scope);
  if (!priority) return;
  const int dim_count = static_cast<int>(task.domain.dimensions.size());
  task.priority =
      AffineForms(dim_count, program_, diagnostics_).Index(*priority);
}

void Checker::Task(const ast::Task& declared) {
  CheckedTask task;
  task.name = declared.name.text;
  task.range = declared.name.range;
  for (const CheckedTask& other : program_.tasks) {
    if (other.name != task.name || other.range.IsNone()) continue;
    diagnostics_.Error(
        Code::kDefinedTwice, declared.name.range,
        absl::StrCat("there is a task ", task.name, " already, on line ",
                     diagnostics_.LineAndColumn(other.range.begin).first));
  }
  Scope scope = ParameterScope();
  task.domain = DomainOf(declared.dimensions, scope);
  const int dim_count = static_cast<int>(task.domain.dimensions.size());
  Restrict(declared.where, scope, dim_count, task.domain.guard);
  Scope indices = scope;
  indices.unknown_help = kIndexHelp;
  for (const ast::Create& from : declared.creates) {
    create_help_ = HelpWithCreate(from, declared, mentions_);
    const auto ref = RefOf(from.ref, indices, dim_count);
    create_help_.clear();
    if (ref) task.creates.push_back({.ref = *ref, .name = from.name.text});
  }
  Uses(declared, scope, task);
  if (declared.call) {
    Call(*declared.call, scope, task);
  } else {
    scope.is_code = true;
    scope.unknown_help =
        "code knows the names under  using,  those that it has set, indices "
        "and parameters";
    Code(declared, scope, task);
  }
  Hints(declared, scope, task);
  program_.tasks.push_back(std::move(task));
}

}  // namespace dogged::dsl
