#include "apps/dogged/cli/completion.h"

#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace dogged {
namespace {

constexpr char kMadeBy[] =
    "# Made by `dogged pages` from the command's own flags.\n";

// In single quotes of bash and zsh.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string LastWord(const std::string& name) {
  return name.substr(name.rfind(' ') + 1);
}

// Calls `visit` with the whole, its commands, and those within commands.
void VisitAll(const CommandDescription& command,
              const std::function<void(const CommandDescription&)>& visit) {
  visit(command);
  for (const CommandDescription& one : command.commands) VisitAll(one, visit);
}

// Names of flags and of commands that may come next.
std::vector<std::string> NextWords(const CommandDescription& command) {
  std::vector<std::string> out;
  for (const CommandDescription& one : command.commands) {
    out.push_back(LastWord(one.name));
  }
  for (const FlagDescription& flag : command.flags) {
    if (!flag.is_word) {
      out.insert(out.end(), flag.names.begin(), flag.names.end());
    }
  }
  return out;
}

}  // namespace

std::string BashCompletion(const CommandDescription& all) {
  std::string commands;
  std::string values;
  std::string words;
  VisitAll(all, [&](const CommandDescription& command) {
    if (!command.name.empty()) {
      const size_t last = command.name.rfind(' ');
      const std::string outer =
          last == std::string::npos ? "" : command.name.substr(0, last);
      absl::StrAppend(&commands, "      ",
                      Quoted(absl::StrCat(outer, " ", LastWord(command.name))),
                      ") command=", Quoted(command.name), " ;;\n");
    }
    for (const FlagDescription& flag : command.flags) {
      if (flag.is_word || flag.value.empty()) continue;
      const std::string patterns = absl::StrJoin(
          flag.names, "|", [&](std::string* out, const std::string& name) {
            absl::StrAppend(out, Quoted(absl::StrCat(command.name, " ", name)));
          });
      absl::StrAppend(&values, "    ", patterns,
                      ") values=", Quoted(absl::StrJoin(flag.choices, " ")),
                      "; wants_value=1 ;;\n");
    }
    absl::StrAppend(&words, "    ", Quoted(command.name),
                    ") words=", Quoted(absl::StrJoin(NextWords(command), " ")),
                    command.commands.empty() ? "" : "; has_commands=1",
                    " ;;\n");
  });
  return absl::StrCat(
      kMadeBy,
      "_dogged() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command='' words='' values='' wants_value='' has_commands='' i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$command ${COMP_WORDS[i]}\" in\n",
      commands,
      "    esac\n"
      "  done\n"
      "  case \"$command $prev\" in\n",
      values,
      "  esac\n"
      "  case \"$command\" in\n",
      words,
      "  esac\n"
      "  COMPREPLY=()\n"
      "  if [[ -n $wants_value ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
      "  elif [[ $cur == -* || -n $has_commands ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  fi\n"
      "}\n"
      "complete -o default -F _dogged dogged\n");
}

namespace {

// In a description of _arguments.
std::string ZshWords(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

std::string ZshAction(const FlagDescription& flag) {
  return flag.choices.empty()
             ? "_files"
             : absl::StrCat("(", absl::StrJoin(flag.choices, " "), ")");
}

// Arguments of _arguments for a command without commands of its own.
std::string ZshArguments(const CommandDescription& command,
                         const std::string& indent) {
  std::string out = absl::StrCat(indent, "_arguments -s :");
  for (const FlagDescription& flag : command.flags) {
    const std::string value =
        flag.value.empty()
            ? ""
            : absl::StrCat(":", ZshWords(flag.value), ":", ZshAction(flag));
    if (flag.is_word) {
      absl::StrAppend(&out, " \\\n", indent, "  ",
                      Quoted(absl::StrCat(flag.may_repeat ? "*" : "", ":",
                                          ZshWords(flag.names[0]), ":_files")));
      continue;
    }
    for (const std::string& name : flag.names) {
      const bool is_long = name.size() > 2;
      const char* const joint = flag.value.empty() ? "" : is_long ? "=" : "+";
      absl::StrAppend(
          &out, " \\\n", indent, "  ",
          Quoted(absl::StrCat(flag.may_repeat ? "*" : "", name, joint, "[",
                              ZshWords(flag.words), "]", value)));
    }
  }
  return absl::StrCat(out, "\n");
}

std::string ZshCommand(const CommandDescription& command,
                       const std::string& indent) {
  if (command.commands.empty()) return ZshArguments(command, indent);
  std::string list;
  std::string cases;
  for (const CommandDescription& one : command.commands) {
    const std::string name = LastWord(one.name);
    absl::StrAppend(&list, " \\\n", indent, "    ",
                    Quoted(absl::StrCat(name, ":", FirstSentence(one.words))));
    absl::StrAppend(&cases, indent, "  ", name, ")\n",
                    ZshCommand(one, indent + "    "), indent, "    ;;\n");
  }
  std::string flags;
  for (const FlagDescription& flag : command.flags) {
    absl::StrAppend(&flags, " ", absl::StrJoin(flag.names, " "));
  }
  return absl::StrCat(indent, "if (( CURRENT == 2 )); then\n", indent,
                      "  if [[ $words[2] == -* ]]; then\n", indent,
                      "    compadd --", flags, "\n", indent, "  else\n", indent,
                      "    commands=(", list, ")\n", indent,
                      "    _describe command commands\n", indent, "  fi\n",
                      indent, "  return\n", indent, "fi\n", indent,
                      "shift words\n", indent, "(( CURRENT-- ))\n", indent,
                      "case $words[1] in\n", cases, indent, "esac\n");
}

}  // namespace

std::string ZshCompletion(const CommandDescription& all) {
  return absl::StrCat("#compdef dogged\n", kMadeBy,
                      "_dogged() {\n  local -a commands\n",
                      ZshCommand(all, "  "), "}\n_dogged \"$@\"\n");
}

std::string FishCompletion(const CommandDescription& all) {
  // In single quotes of fish.
  const auto quoted = [](const std::string& text) {
    return absl::StrCat(
        "'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
  };
  std::string out = kMadeBy;
  VisitAll(all, [&](const CommandDescription& command) {
    // True behind this command, and within none of its own.
    std::string condition = "__fish_use_subcommand";
    if (!command.name.empty()) {
      const std::vector<std::string> names = absl::StrSplit(command.name, ' ');
      condition = absl::StrJoin(
          names, "; and ", [](std::string* to, const std::string& name) {
            absl::StrAppend(to, "__fish_seen_subcommand_from ", name);
          });
    }
    const std::string head =
        absl::StrCat("complete -c dogged -n ", quoted(condition));
    for (const CommandDescription& one : command.commands) {
      absl::StrAppend(&out, head, " -f -a ", LastWord(one.name), " -d ",
                      quoted(FirstSentence(one.words)), "\n");
    }
    for (const FlagDescription& flag : command.flags) {
      if (flag.is_word) continue;
      std::string names;
      for (const std::string& name : flag.names) {
        absl::StrAppend(&names, name.size() == 2 ? " -s " : " -l ",
                        name.substr(name.size() == 2 ? 1 : 2));
      }
      std::string value;
      if (!flag.choices.empty()) {
        value =
            absl::StrCat(" -x -a ", quoted(absl::StrJoin(flag.choices, " ")));
      } else if (!flag.value.empty()) {
        value = " -r";
      }
      absl::StrAppend(&out, head, names, value, " -d ", quoted(flag.words),
                      "\n");
    }
  });
  return out;
}

}  // namespace dogged
