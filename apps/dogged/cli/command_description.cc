#include "apps/dogged/cli/command_description.h"

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace dogged {
namespace {

// The text of `type` between two marks, which goes from it with the first one
// and all behind; empty if it has none.
std::string CutOut(std::string& type, const std::string& from,
                   const std::string& to) {
  const size_t begin = type.find(from);
  if (begin == std::string::npos) return "";
  const size_t end = type.find(to, begin);
  const std::string out =
      type.substr(begin + from.size(), end - begin - from.size());
  type.erase(begin);
  return out;
}

FlagDescription DescribeFlag(const CLI::Option& option) {
  FlagDescription out;
  for (const std::string& name : option.get_snames()) {
    out.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    out.names.push_back("--" + name);
  }
  out.is_word = !option.nonpositional();
  out.is_required = option.get_required();
  out.may_repeat = option.get_items_expected_max() > 1;
  if (option.get_items_expected_max() > 0) {
    // "TEXT:{on,off}", "INT:INT in [1 - 1024]".
    std::string type = option.get_type_name();
    const std::string choices = CutOut(type, ":{", "}");
    out.choices = absl::StrSplit(choices, ',', absl::SkipEmpty());
    out.range = CutOut(type, ":INT in [", "]");
    out.value = type;
  }
  if (out.is_word) out.names = {option.get_name(/*positional=*/true)};
  out.preset = option.get_default_str();
  out.variable = option.get_envname();
  out.words = option.get_description();
  return out;
}

CommandDescription Describe(const CLI::App& app, const std::string& name) {
  CommandDescription out;
  out.name = name;
  // As AddCommand() put them together.
  const std::vector<std::string> parts =
      absl::StrSplit(app.get_description(), absl::MaxSplits("\n\n", 1));
  out.example = std::string(absl::StripPrefix(parts.front(), "Example: "));
  out.words = parts.back();
  out.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    out.flags.push_back(DescribeFlag(*option));
  }
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    out.commands.push_back(Describe(
        *command, name.empty() ? command->get_name()
                               : absl::StrCat(name, " ", command->get_name())));
  }
  return out;
}

}  // namespace

CommandDescription DescribeCommands(const CLI::App& app) {
  return Describe(app, "");
}

std::string FirstSentence(const std::string& words) {
  const std::string first = words.substr(0, words.find(". "));
  return std::string(absl::StripSuffix(first, "."));
}

}  // namespace dogged
