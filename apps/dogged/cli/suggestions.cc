#include "apps/dogged/cli/suggestions.h"

#include <CLI/CLI.hpp>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "dsl/text/diagnostics.h"

namespace dogged {
namespace {

// The commands that were given, each within the one before it: "key", "list".
std::vector<const CLI::App*> GivenCommands(const CLI::App& app) {
  std::vector<const CLI::App*> out;
  for (auto given = app.get_subcommands(); !given.empty();
       given = out.back()->get_subcommands()) {
    out.push_back(given[0]);
  }
  return out;
}

std::string NameOf(absl::Span<const CLI::App* const> commands) {
  return absl::StrJoin(commands, " ",
                       [](std::string* out, const CLI::App* command) {
                         absl::StrAppend(out, command->get_name());
                       });
}

// Error for a pair in several words, as "-D N = 5" and "-D N 5"; else empty.
std::string PairWords(const CLI::App& command, const char* name,
                      const char* form) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option == nullptr || option->results().empty() ||
      absl::StrContains(option->results().back(), '=')) {
    return "";
  }
  std::vector<std::string> words = command.remaining();
  words.push_back(absl::StrContains(form, "VALUE") ? "VALUE" : "FILE");
  return absl::StrCat(name, " wants ", form, " as one word: ", name, " ",
                      option->results().back(), "=",
                      words[words.front() == "=" ? 1 : 0]);
}

}  // namespace

std::string UnknownCommand(const CLI::App& app, absl::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    if (word == command->get_name()) return "";
    names.push_back(command->get_name());
  }
  if (absl::StartsWith(word, "-")) return "";
  // "" or "key "
  const std::string of =
      app.get_parent() == nullptr ? "" : absl::StrCat(app.get_name(), " ");
  return absl::StrCat(word.empty()
                          ? "which command?"
                          : absl::StrCat("there is no command ", of, word,
                                         dsl::DidYouMean(word, names)),
                      "\nThere are ", absl::StrJoin(names, ", "), "; dogged ",
                      of, "COMMAND --help says more.");
}

std::string HelpWords(const CLI::App& app) {
  const auto commands = GivenCommands(app);
  return absl::StrCat("dogged ", NameOf(commands), commands.empty() ? "" : " ",
                      "--help says more");
}

std::string ValueWords(const CLI::App& app, absl::string_view error) {
  // "--agents: Value three not in range 1 to 1024", or "[1 - 1024]" of
  // CLI11 2.4
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(error, absl::MaxSplits(": Value ", 1));
  const auto commands = app.get_subcommands();
  const std::pair<absl::string_view, absl::string_view> words =
      absl::StrSplit(parts.second, absl::MaxSplits(" not in range ", 1));
  if (commands.empty() || words.second.empty()) return std::string(error);
  const CLI::Option* const option =
      commands[0]->get_option_no_throw(std::string(parts.first));
  const std::string variable = option == nullptr ? "" : option->get_envname();
  return absl::StrCat(
      parts.first, variable.empty() ? "" : absl::StrCat(" or ", variable), ": ",
      words.first, " is no whole number from ",
      absl::StrReplaceAll(words.second,
                          {{"[", ""}, {" - ", " to "}, {"]", ""}}));
}

std::string EmptyValue(const CLI::App& app) {
  for (const CLI::App* command : GivenCommands(app)) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional() ||
          !absl::c_linear_search(option->results(), "")) {
        continue;
      }
      return absl::StrCat(option->get_name(),
                          " is empty: give it a value, or leave it out");
    }
  }
  return "";
}

bool HasUnknownFlag(const CLI::App& app) {
  return absl::c_any_of(app.remaining(/*recurse=*/true),
                        [](const std::string& word) {
                          return word.size() > 1 && word.front() == '-';
                        });
}

std::string UnknownWord(const CLI::App& app) {
  auto commands = GivenCommands(app);
  while (!commands.empty() && commands.back()->remaining_size() == 0) {
    commands.pop_back();
  }
  const CLI::App& command = commands.empty() ? app : *commands.back();
  const std::string of = commands.empty() ? "dogged" : NameOf(commands);
  // A flag first: words behind it may be meant for it.
  const std::vector<std::string> left = command.remaining();
  auto at = absl::c_find_if(left, [](const std::string& one) {
    return one.size() > 1 && one.front() == '-';
  });
  if (at == left.end()) at = left.begin();
  const std::string& word = *at;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (!option->nonpositional() || !absl::StartsWith(value, "--")) continue;
      return absl::StrCat(option->get_name(), " wants a value, and ", value,
                          " is a flag");
    }
  }
  const CLI::Option* const define = command.get_option_no_throw("-D");
  if (!absl::StartsWith(word, "-")) {
    for (const auto& [name, form] :
         {std::pair("-D", "NAME=VALUE"), std::pair("--input", "ARRAY=FILE"),
          std::pair("--output", "SELECTION=FILE")}) {
      const std::string words = PairWords(command, name, form);
      if (!words.empty()) return words;
    }
    const bool is_pair =
        absl::StrContains(word, '=') && !absl::StartsWith(word, "=");
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
    const auto next = std::next(at);
    const std::string value = flag.size() < word.size()
                                  ? word.substr(flag.size() + 1)
                              : next == left.end() ? "VALUE"
                                                   : *next;
    return absl::StrCat(of, " has no flag ", flag,
                        "; a parameter is set by -D ", flag.substr(1), "=",
                        value);
  }
  if (command.get_name() == "submit" && flag == "--output") {
    return absl::StrCat(of, " has no flag ", flag,
                        ": --want names labels that no result of the program "
                        "has, and `dogged fetch` writes files");
  }
  return absl::StrCat(of, " has no flag ", flag, dsl::DidYouMean(flag, names));
}

}  // namespace dogged
