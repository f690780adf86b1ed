#include "apps/dogged/cli/suggestions.h"

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "dsl/text/diagnostics.h"

namespace dogged {

std::string UnknownCommand(const CLI::App& app, absl::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (absl::StartsWith(word, "-") || absl::c_linear_search(names, word)) {
    return "";
  }
  return absl::StrCat(word.empty() ? "which command?"
                                   : absl::StrCat("there is no command ", word,
                                                  dsl::DidYouMean(word, names)),
                      "\nThere are ", absl::StrJoin(names, ", "),
                      "; dogged COMMAND --help says more.");
}

std::string HelpWords(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return absl::StrCat(
      "dogged ",
      commands.empty() ? "" : absl::StrCat(commands[0]->get_name(), " "),
      "--help says more");
}

std::string ValueWords(const CLI::App& app, absl::string_view error) {
  // "--agents: Value three not in range 1 to 1024"
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(error, absl::MaxSplits(": Value ", 1));
  const auto commands = app.get_subcommands();
  if (commands.empty() || !absl::StrContains(parts.second, "not in range")) {
    return std::string(error);
  }
  const CLI::Option* const option =
      commands[0]->get_option_no_throw(std::string(parts.first));
  const std::string variable = option == nullptr ? "" : option->get_envname();
  return absl::StrCat(
      parts.first, variable.empty() ? "" : absl::StrCat(" or ", variable), ": ",
      absl::StrReplaceAll(parts.second,
                          {{"not in range", "is no whole number from"}}));
}

std::string UnknownWord(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  const bool is_of_app = commands.empty() || commands[0]->remaining_size() == 0;
  const CLI::App& command = is_of_app ? app : *commands[0];
  const std::string of = is_of_app ? "dogged" : command.get_name();
  const std::string word = command.remaining().front();
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (!option->nonpositional() || !absl::StartsWith(value, "--")) continue;
      return absl::StrCat(option->get_name(), " wants a value, and ", value,
                          " is a flag");
    }
  }
  const CLI::Option* const define = command.get_option_no_throw("-D");
  if (!absl::StartsWith(word, "-")) {
    // "-D N = 5", "-D N 5"
    if (define != nullptr && !define->results().empty() &&
        !absl::StrContains(define->results().back(), '=')) {
      std::vector<std::string> words = command.remaining();
      words.push_back("VALUE");
      return absl::StrCat("-D wants NAME=VALUE as one word: -D ",
                          define->results().back(), "=",
                          words[word == "=" ? 1 : 0]);
    }
    const bool is_pair = absl::StrContains(word, '=');
    return absl::StrCat(of, " takes no word more: ", word,
                        define != nullptr && is_pair
                            ? absl::StrCat("; a parameter is set by -D ", word)
                            : "");
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const std::string flag = word.substr(0, word.find('='));
  // "-N 5", "-N=5"
  if (define != nullptr && flag.size() > 1 && flag[1] != '-') {
    const std::vector<std::string> words = command.remaining();
    const std::string value = flag.size() < word.size()
                                  ? word.substr(flag.size() + 1)
                                  : words[words.size() > 1 ? 1 : 0];
    return absl::StrCat(of, " has no flag ", flag,
                        "; a parameter is set by -D ", flag.substr(1), "=",
                        value == word ? "VALUE" : value);
  }
  return absl::StrCat(of, " has no flag ", flag, dsl::DidYouMean(flag, names));
}

}  // namespace dogged
