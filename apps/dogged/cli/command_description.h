// CommandDescription: a command and its flags as plain data, read off the
// parser's own definitions, so that pages and completions never differ from
// what is parsed.
#ifndef DOGGED_APPS_DOGGED_CLI_COMMAND_DESCRIPTION_H_
#define DOGGED_APPS_DOGGED_CLI_COMMAND_DESCRIPTION_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dogged {

struct FlagDescription {
  std::vector<std::string> names;  // "-o", "--out"; of a word: "FILE"
  bool is_word = false;            // it has a place, and no name
  bool is_required = false;
  bool may_repeat = false;
  std::string value;                 // "HOST:PORT"; empty: it takes none
  std::vector<std::string> choices;  // all that the value may be; empty: any
  std::string range;                 // "1 - 1024"; empty: none
  std::string preset;                // the value if nothing is said
  std::string variable;              // "DOGGED_LISTEN"; empty: none
  std::string words;
};

struct CommandDescription {
  std::string name;  // "key new"; of the whole: empty
  std::string example;
  std::string words;
  std::string footer;
  std::vector<FlagDescription> flags;
  std::vector<CommandDescription> commands;  // within this one
};

// `app` is the whole parser, before it has parsed anything.
CommandDescription DescribeCommands(const CLI::App& app);

// "as `--out`", without the words' last stop: the first sentence alone.
std::string FirstSentence(const std::string& words);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_COMMAND_DESCRIPTION_H_
