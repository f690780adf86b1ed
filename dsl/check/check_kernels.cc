#include "dsl/check/check_kernels.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/text/print.h"
#include "runtime/graph/float_kernel.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Formal;

std::string Counted(size_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// "kernel spd(out a, b, c, d)": it is told apart by its counts alone.
std::string DeclarationOf(const NativeKernel& kernel) {
  std::vector<std::string> formals;
  const auto add = [&formals](absl::string_view kind, int count) {
    for (int k = 0; k < count; ++k) {
      formals.push_back(absl::StrCat(
          kind, std::string(1, static_cast<char>('a' + formals.size()))));
    }
  };
  add("in ", kernel.in_count);
  add("out ", kernel.out_count);
  add("", kernel.scalar_count);
  return absl::StrCat("kernel ", kernel.name, "(", absl::StrJoin(formals, ", "),
                      ")");
}

void MatchNative(CheckContext& context, const ast::Kernel& declared) {
  const NativeKernel* native =
      context.options.kernels->Find(declared.name.text);
  if (native == nullptr) {
    context.diagnostics
        .Error(Code::kKernel, declared.name.range,
               absl::StrCat("no kernel is called ", declared.name.text,
                            DidYouMean(declared.name.text,
                                       context.options.kernels->Names())))
        .Help(absl::StrCat(
            "there are ", absl::StrJoin(context.options.kernels->Names(), ", "),
            "; one of your own:  kernel ", declared.name.text,
            "(...) from \"mine.so\""));
    return;
  }
  int in = 0;
  int out = 0;
  int scalars = 0;
  for (const Formal& formal : declared.formals) {
    switch (formal.kind) {
      case Formal::Kind::kIn:
        ++in;
        break;
      case Formal::Kind::kOut:
        ++out;
        break;
      case Formal::Kind::kScalar:
        ++scalars;
        break;
    }
  }
  if (in == native->in_count && out == native->out_count &&
      native->TakesScalars(scalars)) {
    context.program.kernels.back().elements = native->elements;
    return;
  }
  context.diagnostics
      .Error(Code::kKernel, declared.name.range,
             absl::StrCat(
                 "the kernel ", declared.name.text, " has ", native->in_count,
                 " in, ", native->out_count, " out and ",
                 Counted(static_cast<size_t>(native->scalar_count), "number"),
                 "; declared are ", in, " in, ", out, " out and ",
                 Counted(static_cast<size_t>(scalars), "number")))
      .Help(absl::StrCat("as in  ", DeclarationOf(*native)));
}

bool CheckArgument(CheckContext& context, const Expr& arg, Scope& scope,
                   const CheckedTask& task, CheckedArgument& out) {
  if (out.kind == Formal::Kind::kScalar) {
    const auto scalar =
        context.ValueOf(arg, Type::kDouble, "this argument", scope);
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
  context.diagnostics.Error(
      Code::kKernel, arg.range,
      absl::StrCat(Print(arg), " is not a value that the task ",
                   is_in ? "uses" : "creates", ", which the kernel ",
                   is_in ? "reads" : "sets", " here",
                   DidYouMean(Print(arg), names)));
  return false;
}

// The values in and out have the element types that the kernel is for: where
// it has a variant for floats, they decide which it is.
void CheckElements(CheckContext& context, const ast::Call& call,
                   const CheckedKernel& kernel, const CheckedTask& task) {
  if (kernel.elements.empty()) return;
  const bool has_variant =
      context.options.kernels->Find(FloatVariantOf(kernel.name)) != nullptr;
  // The first value that is not of one type in both variants.
  const CheckedArray* first = nullptr;
  size_t position = 0;
  for (const Formal::Kind kind : {Formal::Kind::kIn, Formal::Kind::kOut}) {
    for (size_t i = 0; i < call.args.size(); ++i) {
      const CheckedArgument& arg = task.call.args[i];
      if (arg.kind != kind) continue;
      const int64_t v = arg.index;
      const CheckedRef& ref =
          kind == Formal::Kind::kIn ? task.uses[v].ref : task.creates[v].ref;
      const CheckedArray& array = context.ArrayAt(ref.array);
      ElementType wanted = kernel.elements[position++];
      const bool varies = has_variant && wanted == ElementType::kDouble;
      if (varies && first == nullptr && array.element != ElementType::kInt64) {
        first = &array;
      }
      if (varies && first != nullptr) wanted = first->element;
      if (array.element == wanted) continue;
      std::string words = absl::StrCat(ElementName(wanted), " here");
      if (varies) {
        words = first == nullptr
                    ? "double or float here"
                    : absl::StrCat(words, ", as ", first->name, " holds");
      }
      context.diagnostics.Error(
          Code::kType, call.args[i].range,
          absl::StrCat(array.name, " holds ", ElementName(array.element),
                       ", the kernel ", kernel.name, " takes ", words));
    }
  }
}

}  // namespace

void DeclareKernel(CheckContext& context, const ast::Kernel& declared) {
  for (const CheckedKernel& other : context.program.kernels) {
    if (other.name != declared.name.text) continue;
    context.diagnostics.Error(
        Code::kDefinedTwice, declared.name.range,
        absl::StrCat(
            "there is a kernel ", other.name, " already, on line ",
            context.diagnostics.LineAndColumn(other.range.begin).first));
  }
  context.program.kernels.push_back({.name = declared.name.text,
                                     .formals = declared.formals,
                                     .library = declared.library,
                                     .elements = {},
                                     .range = declared.name.range});
  if (declared.library.empty() && context.options.kernels != nullptr) {
    MatchNative(context, declared);
  }
}

void CheckCall(CheckContext& context, const ast::Call& call, Scope& scope,
               CheckedTask& task) {
  const CheckedKernel* kernel = nullptr;
  std::vector<std::string> names;
  for (size_t k = 0; k < context.program.kernels.size(); ++k) {
    names.push_back(context.program.kernels[k].name);
    if (context.program.kernels[k].name != call.kernel.text) continue;
    kernel = &context.program.kernels[k];
    task.call.kernel = static_cast<int32_t>(k);
  }
  task.body = CheckedTask::Body::kCall;
  if (kernel == nullptr) {
    const NativeKernel* const native =
        context.options.kernels == nullptr
            ? nullptr
            : context.options.kernels->Find(call.kernel.text);
    context.diagnostics
        .Error(Code::kKernel, call.kernel.range,
               absl::StrCat("there is no kernel ", call.kernel.text,
                            DidYouMean(call.kernel.text, names)))
        .Help(
            absl::StrCat("declare it:  ",
                         native != nullptr
                             ? DeclarationOf(*native)
                             : absl::StrCat("kernel ", call.kernel.text,
                                            "(in a, out b) from \"mine.so\"")));
    return;
  }
  if (call.args.size() != kernel->formals.size()) {
    context.diagnostics.Error(
        Code::kKernel, call.range,
        absl::StrCat(
            kernel->name, " takes ", kernel->formals.size(),
            " arguments on line ",
            context.diagnostics.LineAndColumn(kernel->range.begin).first,
            ", and here ", call.args.size()));
    return;
  }
  std::set<int32_t> set;
  for (size_t i = 0; i < call.args.size(); ++i) {
    CheckedArgument arg;
    arg.kind = kernel->formals[i].kind;
    if (!CheckArgument(context, call.args[i], scope, task, arg)) return;
    if (arg.kind == Formal::Kind::kOut && !set.insert(arg.index).second) {
      context.diagnostics.Error(
          Code::kKernel, call.args[i].range,
          absl::StrCat("the kernel sets ", Print(call.args[i]), " twice"));
      return;
    }
    task.call.args.push_back(std::move(arg));
  }
  CheckElements(context, call, *kernel, task);
  for (size_t i = 0; i < task.creates.size(); ++i) {
    if (set.count(static_cast<int32_t>(i)) > 0) continue;
    context.diagnostics.Error(
        Code::kNeverAssigned, call.range,
        absl::StrCat("the call never sets ", task.creates[i].name));
  }
}

}  // namespace dogged::dsl
