// Suggestions for mistyped words on the command line.
#ifndef DOGGED_APPS_DOGGED_CLI_SUGGESTIONS_H_
#define DOGGED_APPS_DOGGED_CLI_SUGGESTIONS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace CLI {
class App;
}

namespace dogged {

// Error for `word`, the first one, if it is no command; else empty.
std::string UnknownCommand(const CLI::App& app, absl::string_view word);
// Where to read on about the command, or all of them.
std::string HelpWords(const CLI::App& app);
// The same as `error`, of a flag's value; of a number that is out of its range,
// or none, in words that say what would do, and who else may have given it.
std::string ValueWords(const CLI::App& app, absl::string_view error);
// Error for the first word that the command has no place for.
std::string UnknownWord(const CLI::App& app);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_SUGGESTIONS_H_
