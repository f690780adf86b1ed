#include "dsl/check/check_inputs.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/check/check_kernels.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

using ast::NameKind;

std::string HelpWithoutInput(const ast::Program& program,
                             const std::string& name) {
  for (const ast::Task& task : program.tasks) {
    for (const ast::Create& create : task.creates) {
      if (create.ref.array.text != name) continue;
      return absl::StrCat("task ", task.name.text, " makes ", Print(create.ref),
                          "; what a file gives is declared as an input");
    }
  }
  std::vector<std::string> names;
  for (const ast::Input& input : program.inputs) {
    names.push_back(input.ref.array.text);
  }
  if (!names.empty()) {
    return absl::StrCat("it has ", absl::StrJoin(names, ", "));
  }
  return absl::StrCat("declare it:  input ", name, "(x) for x = 0:N-1");
}

// A file is an array, so the indices of an input are plain.
void CheckFileIndices(CheckContext& context, const ast::Input& declared,
                      const CheckedTask& task) {
  std::vector<int> seen(task.domain.dimensions.size());
  for (size_t i = 0; i < task.creates[0].ref.index.size(); ++i) {
    const LinearForm& form = task.creates[0].ref.index[i];
    int dims = 0;
    bool is_plain = true;
    for (size_t d = 0; d < form.dims.size(); ++d) {
      if (form.dims[d] == 0) continue;
      ++dims;
      is_plain = is_plain && form.dims[d] == 1 && ++seen[d] == 1;
    }
    if (dims > 1 || !is_plain) {
      context.diagnostics.Error(
          Code::kNotSupported, declared.ref.index[i].range,
          "an input from a file has plain indices: each name once, by itself");
      return;
    }
  }
  for (size_t d = 0; d < seen.size(); ++d) {
    if (seen[d] > 0) continue;
    const ast::Name& index = declared.dimensions[d].name;
    context.diagnostics
        .Error(Code::kNotSupported, index.range,
               absl::StrCat("an input from a file has no index ", index.text,
                            " that is not in ", Print(declared.ref)))
        .Help("leave it out, or let it stand in the label");
    return;
  }
}

}  // namespace

void CheckInput(CheckContext& context, const ast::Input& declared) {
  CheckedTask task;
  task.name = absl::StrCat("input ", Print(declared.ref));
  task.origin = CheckedTask::Origin::kInput;
  task.range = declared.ref.range;
  Scope scope = context.ParameterScope();
  task.domain = context.DomainOf(declared.dimensions, scope);
  if (declared.dimensions.empty()) {
    scope.unknown_help = "give the index a range, as in  for i = 0:N-1";
  }
  const auto ref = context.RefOf(
      declared.ref, scope, static_cast<int>(task.domain.dimensions.size()));
  if (!ref) return;
  const CheckedArray& array = context.ArrayAt(ref->array);
  const std::string name = array.name;
  task.creates.push_back({.ref = *ref, .name = name});
  const bool must_have = !declared.else_call && !declared.else_value;
  const bool has_file = context.options.assume_input_files ||
                        context.options.input_files.count(name) > 0 ||
                        (context.options.may_lack_inputs && must_have);
  if (declared.else_call) {
    CheckCall(context, *declared.else_call, scope, task);
  } else if (declared.else_value) {
    if (!array.block.empty()) {
      context.diagnostics
          .Error(Code::kType, declared.else_value->range,
                 absl::StrCat(name,
                              " is a block of values, which code can't "
                              "compute"))
          .Help(absl::StrCat("else call name(", name, ", ...)"));
      return;
    }
    auto value = context.ValueOf(*declared.else_value, TypeOf(array.element),
                                 "the value behind 'else'", scope);
    if (!value) return;
    task.code.push_back({.target = NameKind::kCreate,
                         .index = 0,
                         .name = name,
                         .value = *std::move(value)});
  } else if (!has_file) {
    context.diagnostics
        .Error(Code::kNoInput, declared.ref.range,
               absl::StrCat("input ", name, " has no file and no 'else'"))
        .Help(absl::StrCat(
            "give it one:  ",
            InputWords(context.diagnostics.given_by(), name, "FILE.npy")));
    context.lacking_inputs.push_back(name);
    return;
  }
  if (has_file) {
    CheckFileIndices(context, declared, task);
    task.body = CheckedTask::Body::kFile;
  }
  context.program.tasks.push_back(std::move(task));
}

void CheckInputFiles(CheckContext& context, const ast::Program& program) {
  std::vector<std::string> names;
  for (const ast::Input& input : program.inputs) {
    names.push_back(input.ref.array.text);
  }
  for (const std::string& given : context.options.input_files) {
    bool is_declared = false;
    for (const std::string& name : names) {
      is_declared = is_declared || name == given;
    }
    if (is_declared) continue;
    const std::string meant = DidYouMean(given, names);
    Diagnostic& error = context.diagnostics.Error(
        Code::kNoInput, {},
        absl::StrCat(InputWords(context.diagnostics.given_by(), given, "..."),
                     ": the program has no input ", given, meant));
    if (meant.empty()) error.Help(HelpWithoutInput(program, given));
  }
}

}  // namespace dogged::dsl
