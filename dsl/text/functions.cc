#include "dsl/text/functions.h"

#include <array>

namespace dogged::dsl {
namespace {

constexpr std::array<Function, 24> kFunctions = {{
    {"abs", 1, true},    {"acos", 1, false},  {"asin", 1, false},
    {"atan", 1, false},  {"atan2", 2, false}, {"cbrt", 1, false},
    {"ceil", 1, false},  {"cos", 1, false},   {"cosh", 1, false},
    {"exp", 1, false},   {"floor", 1, false}, {"fmod", 2, false},
    {"hypot", 2, false}, {"log", 1, false},   {"log10", 1, false},
    {"log2", 1, false},  {"max", 2, true},    {"min", 2, true},
    {"pow", 2, false},   {"sin", 1, false},   {"sinh", 1, false},
    {"sqrt", 1, false},  {"tan", 1, false},   {"tanh", 1, false},
}};

}  // namespace

const Function* FindFunction(absl::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> out;
  for (const Function& function : kFunctions) {
    out.emplace_back(function.name.data(), function.name.size());
  }
  return out;
}

}  // namespace dogged::dsl
