// The functions of the language: sqrt, min and so on. One table for the
// checker, the interpreter and the C generator.
#ifndef DOGGED_DSL_FUNCTIONS_H_
#define DOGGED_DSL_FUNCTIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace dogged::dsl {

struct Function {
  // The name in the language; also that of the C function for double (with an
  // f behind it for float), except for min, max and abs.
  absl::string_view name;
  int argument_count;
  // True for min, max and abs: of int64 they give int64; of the others, the
  // common type. False: integers are converted to double first.
  bool keeps_integers;
};

// Null if there is none.
const Function* FindFunction(absl::string_view name);
std::vector<std::string> FunctionNames();

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_FUNCTIONS_H_
