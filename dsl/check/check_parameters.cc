#include "dsl/check/check_parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dsl/check/affine_form.h"
#include "dsl/check/evaluate.h"
#include "dsl/check/type_check.h"

namespace dogged::dsl {
namespace {

using ast::Expr;

// Integer parameters stay below this, so that index arithmetic stays within
// int64.
constexpr int64_t kParameterMax = int64_t{1} << 40;

bool IsInteger(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "-")) absl::ConsumePrefix(&text, "+");
  return !text.empty() && absl::c_all_of(text, absl::ascii_isdigit);
}

// The integer that 1e3 or 5.0 stands for; none of any other text.
std::optional<int64_t> ParseWholeNumber(absl::string_view text) {
  double number = 0;
  if (IsInteger(text) || !absl::SimpleAtod(text, &number) ||
      std::abs(number) >= static_cast<double>(kParameterMax) ||
      number != std::floor(number)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(number);
}

bool GivenValue(Diagnostics& diagnostics, absl::string_view text,
                CheckedParameter& parameter) {
  const GivenBy by = diagnostics.given_by();
  const std::string given = ParameterWords(by, parameter.name, text);
  if (parameter.element == ElementType::kInt64) {
    if (!IsInteger(text) || !absl::SimpleAtoi(text, &parameter.integer)) {
      parameter.integer = 0;
      Diagnostic& error = diagnostics.Error(
          Code::kParameter, parameter.range,
          absl::StrCat(given, ": ", parameter.name, " is an integer",
                       IsInteger(text) ? " below 2^40" : ""));
      if (const auto whole = ParseWholeNumber(text); whole.has_value()) {
        error.Help(absl::StrCat(
            "write  ",
            ParameterWords(by, parameter.name, absl::StrCat(*whole))));
      } else if (!IsInteger(text)) {
        error.Help("one number, as 8 or -3: only the file computes");
      }
      return false;
    }
    parameter.real = static_cast<double>(parameter.integer);
    return true;
  }
  const bool is_number = absl::SimpleAtod(text, &parameter.real);
  if (parameter.element == ElementType::kFloat) {
    parameter.real = static_cast<double>(static_cast<float>(parameter.real));
  }
  if (!is_number || !std::isfinite(parameter.real)) {
    diagnostics
        .Error(
            Code::kParameter, parameter.range,
            absl::StrCat(given, ": ", parameter.name, " is a number of type ",
                         ElementName(parameter.element)))
        .Help("one number, as 0.25 or 1e-3: only the file computes");
    return false;
  }
  return true;
}

bool KeepsItsValue(CheckContext& context, const Expr& value,
                   const CheckedParameter& out) {
  Expr typed = value;
  Scope scope = context.ParameterScope();
  Diagnostics silent(context.diagnostics.file(), context.diagnostics.text());
  if (!CheckTypes(typed, scope, silent))
    return true;  // as context.ValueOf() says
  const bool is_integer = out.element == ElementType::kInt64;
  const Expr* quotient = is_integer ? nullptr : FindQuotient(typed);
  if (quotient != nullptr) {
    context.diagnostics
        .Error(Code::kArithmetic, quotient->range,
               absl::StrCat(out.name,
                            " is real, and this is a division of "
                            "integers, which rounds down"))
        .Help(
            absl::StrCat("with a point it is real:  ", RealQuotient(*quotient),
                         ";  int64(...) around it says that it is meant"));
    return false;
  }
  const bool is_broken =
      typed.kind == Expr::Kind::kReal && typed.real != std::floor(typed.real);
  if (!is_integer || !is_broken ||
      context.mentions.counted.count(out.name) == 0) {
    return true;
  }
  context.diagnostics
      .Error(Code::kType, value.range,
             absl::StrCat("parameter ", out.name,
                          " counts points, and this is "
                          "no integer"))
      .Help(absl::StrCat("as in  param ", out.name, " = ",
                         static_cast<int64_t>(typed.real)));
  return false;
}

bool DefaultValue(CheckContext& context, const ast::Parameter& declared,
                  CheckedParameter& out) {
  Scope scope = context.ParameterScope();
  scope.unknown_help = "parameters are known from where they stand on";
  if (!KeepsItsValue(context, *declared.value, out)) return false;
  const auto value =
      context.ValueOf(*declared.value, TypeOf(out.element),
                      absl::StrCat("parameter ", out.name), scope);
  if (!value) return false;
  if (out.element == ElementType::kInt64) {
    const auto number = EvaluateInteger(*value, {}, context.program);
    if (!number) {
      context.diagnostics.Error(
          Code::kArithmetic, declared.value->range,
          absl::StrCat("the value of ", out.name,
                       " divides by zero or leaves the range "
                       "of int64"));
      return false;
    }
    out.integer = *number;
    out.real = static_cast<double>(*number);
    return true;
  }
  const auto number = EvaluateReal(*value, {}, context.program);
  if (!number || !std::isfinite(*number)) {
    context.diagnostics.Error(
        Code::kArithmetic, declared.value->range,
        absl::StrCat("the value of ", out.name, " is not a finite number"));
    return false;
  }
  out.real = *number;
  return true;
}

void CheckInputsOf(CheckContext& context, const ast::Program& program,
                   const ast::Parameter& declared) {
  if (!declared.from.empty() && declared.element != ElementType::kInt64) {
    context.diagnostics.Error(
        Code::kParameter, declared.name.range,
        absl::StrCat("parameter ", declared.name.text, " is of type ",
                     ElementName(declared.element),
                     ", and shapes of inputs have integers alone"));
  }
  std::vector<std::string> inputs;
  for (const ast::Input& input : program.inputs) {
    inputs.push_back(input.ref.array.text);
  }
  for (const ast::Name& name : declared.from) {
    if (absl::c_linear_search(inputs, name.text)) continue;
    context.diagnostics
        .Error(Code::kUnknownName, name.range,
               absl::StrCat("there is no input ", name.text,
                            DidYouMean(name.text, inputs)))
        .Help(
            absl::StrCat("behind `from` stand inputs, of whose files' shapes ",
                         declared.name.text, " is made"));
  }
}

std::string HelpWithoutValue(const ast::Parameter& declared, GivenBy by) {
  std::string out = absl::StrCat("give it one:  ",
                                 ParameterWords(by, declared.name.text, "..."));
  if (!declared.from.empty()) {
    const std::string& array = declared.from.front().text;
    absl::StrAppend(
        &out, "  or the ", by == GivenBy::kFlags ? "file" : "array",
        " that has it:  ", InputWords(by, array, absl::StrCat(array, ".npy")));
  }
  return out;
}

void CheckParameter(CheckContext& context, const ast::Parameter& declared) {
  CheckedParameter out;
  out.name = declared.name.text;
  out.element = declared.element;
  out.range = declared.name.range;
  for (const CheckedParameter& other : context.program.parameters) {
    if (other.name != out.name) continue;
    context.diagnostics.Error(
        Code::kDefinedTwice, out.range,
        absl::StrCat(
            "there is a parameter ", out.name, " already, on line ",
            context.diagnostics.LineAndColumn(other.range.begin).first));
    return;
  }
  const std::string* given = nullptr;
  for (const auto& [name, text] : context.options.parameters) {
    if (name == out.name) given = &text;
  }
  if (given != nullptr) {
    GivenValue(context.diagnostics, *given, out);
  } else if (declared.value) {
    DefaultValue(context, declared, out);
  } else {
    context.diagnostics
        .Error(Code::kParameter, out.range,
               absl::StrCat("parameter ", out.name, " has no value"))
        .Help(HelpWithoutValue(declared, context.diagnostics.given_by()));
  }
  if (out.integer >= kParameterMax || out.integer <= -kParameterMax) {
    context.diagnostics.Error(
        Code::kTooLarge, out.range,
        absl::StrCat("parameter ", out.name, " is ", out.integer,
                     "; integers stay below 2^40"));
    out.integer = 0;
  }
  context.program.parameters.push_back(std::move(out));
}

void CheckParameterNames(const ParameterValues& given,
                         const std::vector<std::string>& names,
                         Diagnostics& diagnostics) {
  for (const auto& [name, text] : given) {
    if (absl::c_linear_search(names, name)) continue;
    diagnostics.Error(
        Code::kParameter, {},
        absl::StrCat(ParameterWords(diagnostics.given_by(), name, text),
                     ": there is no parameter ", name,
                     DidYouMean(name, names)));
  }
}

}  // namespace

void CheckGivenParameters(const ast::Program& program,
                          const ParameterValues& given,
                          Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const ast::Parameter& declared : program.parameters) {
    names.push_back(declared.name.text);
    CheckedParameter parameter;
    parameter.name = declared.name.text;
    parameter.element = declared.element;
    parameter.range = declared.name.range;
    const auto value = std::find_if(
        given.rbegin(), given.rend(),
        [&parameter](const auto& one) { return one.first == parameter.name; });
    if (value != given.rend()) {
      GivenValue(diagnostics, value->second, parameter);
    }
  }
  // A loop's parameter is declared by the loop alone.
  for (const ast::Repeat& repeat : program.repeats) {
    names.push_back(repeat.name.text);
  }
  CheckParameterNames(given, names, diagnostics);
}

void CheckParameters(CheckContext& context, const ast::Program& program) {
  for (const ast::Parameter& declared : program.parameters) {
    CheckInputsOf(context, program, declared);
    CheckParameter(context, declared);
  }
  std::vector<std::string> names;
  for (const CheckedParameter& p : context.program.parameters) {
    names.push_back(p.name);
  }
  CheckParameterNames(context.options.parameters, names, context.diagnostics);
  // Definitions, now that all forms have an entry for every parameter.
  for (size_t p = 0; p < context.program.parameters.size(); ++p) {
    CheckedParameter& parameter = context.program.parameters[p];
    if (parameter.element != ElementType::kInt64) continue;
    bool is_given = false;
    for (const auto& given : context.options.parameters) {
      is_given = is_given || given.first == parameter.name;
    }
    const auto& value = program.parameters[p].value;
    // A loop has many values of its parameter.
    is_given |= !program.repeats.empty() &&
                program.repeats.front().name.text == parameter.name;
    if (is_given || !value || context.diagnostics.HasErrors()) continue;
    // A try: a value that is not affine is no error here, and fixes nothing.
    Diagnostics silent(context.diagnostics.file(), context.diagnostics.text());
    CheckedProgram scratch;
    scratch.parameters = context.program.parameters;
    Scope scope = context.ParameterScope();
    Expr expr = *value;
    if (!CheckTypes(expr, scope, silent)) continue;
    const auto form = AffineForms(0, scratch, silent).Index(expr);
    bool is_affine = form.has_value();
    for (size_t q = 0; q < scratch.parameters.size(); ++q) {
      is_affine = is_affine && scratch.parameters[q].is_fixed ==
                                   context.program.parameters[q].is_fixed;
    }
    if (!is_affine) continue;
    bool is_number = true;
    for (const int64_t c : form->params) is_number = is_number && c == 0;
    // A default that is a number is no more than the value it has now.
    if (!is_number) parameter.definition = form;
  }
}

void CheckRepeat(CheckContext& context, const ast::Repeat& declared) {
  Scope scope = context.ParameterScope();
  const auto first = context.ValueOf(declared.rounds.lower, Type::kInt64,
                                     "the first value of a loop", scope);
  if (!first || context.diagnostics.HasErrors()) return;
  CheckedRepeat out;
  out.parameter = static_cast<int32_t>(context.program.parameters.size()) - 1;
  out.first = EvaluateInteger(*first, {}, context.program).value_or(0);
  out.step = declared.rounds.step;
  out.range = declared.range;
  CheckedParameter& parameter = context.program.parameters.back();
  if (parameter.integer >= out.first) {
    parameter.integer -= (parameter.integer - out.first) % out.step;
    parameter.real = static_cast<double>(parameter.integer);
  } else {
    context.diagnostics
        .Error(Code::kRepeat, declared.rounds.range,
               absl::StrCat("the loop has no round: ", declared.name.text,
                            " begins at ", out.first))
        .Help("as in  repeat T = 100:2000:100 until change(T) < 1.0e-6");
  }
  context.program.repeat = out;
}

}  // namespace dogged::dsl
