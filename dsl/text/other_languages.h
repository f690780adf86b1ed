// Words of C, Fortran and Python, and how the language says the same.
#ifndef DOGGED_DSL_TEXT_OTHER_LANGUAGES_H_
#define DOGGED_DSL_TEXT_OTHER_LANGUAGES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dogged::dsl {

// Each is the help for a word, or "" if there is none to give.

// "int" for the type of values.
std::string HelpWithType(absl::string_view word);
// "if" at the beginning of a line of code.
std::string HelpWithStatement(absl::string_view word);
// "round" as a function.
std::string HelpWithFunction(absl::string_view word);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_OTHER_LANGUAGES_H_
