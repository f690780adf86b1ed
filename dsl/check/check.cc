#include "dsl/check/check.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "dsl/check/check_arrays.h"
#include "dsl/check/check_boundaries.h"
#include "dsl/check/check_context.h"
#include "dsl/check/check_inputs.h"
#include "dsl/check/check_kernels.h"
#include "dsl/check/check_parameters.h"
#include "dsl/check/check_reductions.h"
#include "dsl/check/check_results.h"
#include "dsl/check/check_size.h"
#include "dsl/check/check_tasks.h"
#include "dsl/check/repeat.h"
#include "dsl/text/unmet_conditions.h"
#include "dsl/text/unread_labels.h"

namespace dogged::dsl {
namespace {

// The integer parameters by name.
std::map<std::string, int64_t> IntegersOf(const CheckedProgram& program) {
  std::map<std::string, int64_t> out;
  for (const CheckedParameter& parameter : program.parameters) {
    if (parameter.element != ElementType::kInt64) continue;
    out[parameter.name] = parameter.integer;
  }
  return out;
}

// All declarations of `program`, in which `repeat` is written out.
CheckedProgram CheckDeclarations(const ast::Program& program,
                                 const CheckOptions& options,
                                 Diagnostics& diagnostics) {
  if (IsTooLong(program, diagnostics)) return {};
  CheckContext context(options, program, diagnostics);
  // First, and alone: what else is wrong may follow from it.
  CheckInputFiles(context, program);
  if (diagnostics.HasErrors()) return std::move(context.program);
  CheckParameters(context, program);
  if (!program.repeats.empty()) CheckRepeat(context, program.repeats.front());
  for (const ast::Array& array : program.arrays) DeclareArray(context, array);
  for (const ast::Kernel& kernel : program.kernels) {
    DeclareKernel(context, kernel);
  }
  for (const ast::Input& input : program.inputs) CheckInput(context, input);
  // Reductions come first, for they have the element types of their sources.
  for (const ast::Reduction& reduction : program.reductions) {
    CheckReduction(context, reduction);
  }
  if (!diagnostics.HasErrors()) TypeReductions(context);
  for (const ast::Task& task : program.tasks) CheckTask(context, task);
  for (const ast::Boundary& boundary : program.boundaries) {
    CheckBoundary(context, boundary);
  }
  for (const ast::Result& result : program.results) {
    CheckResult(context, result);
  }
  if (!diagnostics.HasErrors()) CheckCreators(context, program);
  if (!diagnostics.HasErrors()) {
    const auto integers = IntegersOf(context.program);
    WarnOfUnmetConditions(program, integers, diagnostics);
    WarnOfUnreadLabels(program, integers, diagnostics);
  }
  if (context.program.tasks.empty() && !diagnostics.HasErrors()) {
    diagnostics.Error(Code::kResult, {}, "the program has no task");
  }
  return std::move(context.program);
}

}  // namespace

CheckedProgram Check(const ast::Program& program, const CheckOptions& options,
                     Diagnostics& diagnostics) {
  if (program.repeats.empty()) {
    return CheckDeclarations(program, options, diagnostics);
  }
  bool is_given = false;
  for (const auto& [name, text] : options.parameters) {
    is_given |= name == program.repeats.front().name.text;
  }
  const ast::Program written = WriteOutRepeat(program, is_given, diagnostics);
  if (diagnostics.HasErrors()) return {};
  CheckedProgram out = CheckDeclarations(written, options, diagnostics);
  NameRounds(out);
  if (!is_given) return out;
  for (const std::string& name : ArraysOfCondition(program)) {
    const int32_t array = out.FindArray(name);
    if (array >= 0) out.condition_arrays.push_back(array);
  }
  return out;
}

}  // namespace dogged::dsl
