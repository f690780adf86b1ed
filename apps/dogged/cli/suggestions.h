// Suggestions for mistyped words on the command line.
#ifndef DOGGED_APPS_DOGGED_CLI_SUGGESTIONS_H_
#define DOGGED_APPS_DOGGED_CLI_SUGGESTIONS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace CLI {
class App;
}

namespace dogged {

// Error for `word`, the first one behind `app`, if it is no command of it; else
// empty.
std::string UnknownCommand(const CLI::App& app, absl::string_view word);
// A pointer to the help of the command, or of all.
std::string HelpWords(const CLI::App& app);
// `error` of a flag's value. For a number that is out of its range, or none, it
// names the range, and the variable that may have given it.
std::string ValueWords(const CLI::App& app, absl::string_view error);
// Error for the first flag whose value is "", as an unset variable of a shell
// gives it; it must not be the same as no flag. Empty if there is none.
std::string EmptyValue(const CLI::App& app);
// Whether a flag was given that the command does not have.
bool HasUnknownFlag(const CLI::App& app);
// Error for such a flag, the first one, or else for the first word that the
// command has no place for.
std::string UnknownWord(const CLI::App& app);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_SUGGESTIONS_H_
