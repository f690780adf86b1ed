#include "apps/dogged/cli/man_page.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace dogged {
namespace {

constexpr std::pair<int, const char*> kStatuses[] = {
    {0, "done"},
    {1, "the job failed; or `doctor` found an error"},
    {2, "mistyped, or something that was asked for did not happen"},
    {3, "the program is wrong"},
    {4, "no agent could be reached or started"},
    {5, "out of memory or disk"},
    {130, "interrupted"}};
// Variables that no flag stands for.
constexpr std::pair<const char*, const char*> kVariables[] = {
    {"DOGGED_CC", "the compiler of kernels (default: cc)"},
    {"DOGGED_DIR",
     "where an agent keeps values, and where the own agents of run do"},
    {"DOGGED_KEY_FILE", "the key file, unless --key-file names one"},
    {"TMPDIR", "where values go that memory has no room for"},
    {"XDG_CACHE_HOME", "compiled kernels are kept in its folder dogged"}};

// Text that roff prints as it is, whatever is in it.
std::string Escaped(absl::string_view text) {
  const std::string out = absl::StrReplaceAll(text, {{"\\", "\\e"},
                                                     {"-", "\\-"},
                                                     {"'", "\\(aq"},
                                                     {"`", "\\(ga"},
                                                     {"^", "\\(ha"},
                                                     {"~", "\\(ti"},
                                                     {"\n.", "\n\\&."},
                                                     {",", ",\\:"}});
  return absl::StartsWith(out, ".") ? absl::StrCat("\\&", out) : out;
}

std::string Heading(const std::string& page, const std::string& version) {
  return absl::StrCat(
      ".\\\" Made by `dogged pages` from the command's own flags.\n.ds AD "
      "l\n.TH ",
      Escaped(absl::AsciiStrToUpper(page)), " 1 \"\" \"dogged ", version,
      "\" \"dogged\"\n.ad l\n");
}

// "--out FILE", names in bold, the value in italics.
std::string FlagTerm(const FlagDescription& flag) {
  const std::string names = absl::StrJoin(
      flag.names, "\\fR, \\fB", [](std::string* out, const std::string& name) {
        absl::StrAppend(out, Escaped(name));
      });
  const std::string value =
      flag.choices.empty() ? flag.value : absl::StrJoin(flag.choices, "|");
  if (flag.is_word) return absl::StrCat("\\fI", names, "\\fR");
  if (value.empty()) return absl::StrCat("\\fB", names, "\\fR");
  return absl::StrCat("\\fB", names, "\\fR \\fI", Escaped(value), "\\fR");
}

std::string FlagWords(const FlagDescription& flag) {
  std::vector<std::string> parts;
  if (!flag.range.empty()) parts.push_back(absl::StrCat("from ", flag.range));
  if (flag.is_required) parts.push_back("required");
  if (flag.may_repeat) parts.push_back("may be repeated");
  if (!flag.preset.empty()) {
    parts.push_back(absl::StrCat("default: ", flag.preset));
  }
  if (!flag.variable.empty()) {
    parts.push_back(absl::StrCat("variable: ", flag.variable));
  }
  const std::string more = absl::StrJoin(parts, "; ");
  return Escaped(more.empty() ? flag.words
                              : absl::StrCat(flag.words, " (", more, ")"));
}

std::string FlagParagraphs(const CommandDescription& command) {
  std::string out;
  for (const FlagDescription& flag : command.flags) {
    absl::StrAppend(&out, ".TP\n", FlagTerm(flag), "\n", FlagWords(flag), "\n");
  }
  return out;
}

std::string Synopsis(const CommandDescription& command) {
  std::string out = absl::StrCat("\\fBdogged ", Escaped(command.name), "\\fR");
  for (const FlagDescription& flag : command.flags) {
    if (!flag.is_required) continue;
    absl::StrAppend(&out, " ", FlagTerm(flag), flag.may_repeat ? " ..." : "");
  }
  return absl::StrCat(out, " [\\fIflags\\fR]\n");
}

std::string Example(const std::string& text) {
  return absl::StrCat(".nf\n", Escaped(text), "\n.fi\n");
}

std::string ExitStatuses() {
  std::string out = ".SH EXIT STATUS\n";
  for (const auto& [status, words] : kStatuses) {
    absl::StrAppend(&out, ".TP\n.B ", status, "\n", Escaped(words), "\n");
  }
  return out;
}

std::map<std::string, std::string> Variables(const CommandDescription& all) {
  std::map<std::string, std::string> out;
  for (const auto& [name, words] : kVariables) out[name] = words;
  std::map<std::string, std::set<std::string>> flags;
  for (const CommandDescription& command : all.commands) {
    for (const FlagDescription& flag : command.flags) {
      if (!flag.variable.empty()) {
        flags[flag.variable].insert(
            absl::StrCat(flag.names.back(), " of ", command.name));
      }
    }
  }
  for (const auto& [variable, names] : flags) {
    out.try_emplace(variable, absl::StrCat("as ", absl::StrJoin(names, ", ")));
  }
  return out;
}

}  // namespace

std::string ManPageName(const CommandDescription& command) {
  return absl::StrCat("dogged-",
                      absl::StrReplaceAll(command.name, {{" ", "-"}}));
}

std::string MainManPage(const CommandDescription& all,
                        const std::string& version) {
  std::string out = absl::StrCat(
      Heading("dogged", version),
      ".SH NAME\ndogged \\- dataflow runtime that survives its agents\n"
      ".SH SYNOPSIS\n\\fBdogged\\fR \\fICOMMAND\\fR [\\fIflags\\fR]\n"
      ".SH DESCRIPTION\n",
      Escaped(all.words), "\nA flag beats its variable.\n.SH FLAGS\n",
      FlagParagraphs(all), ".SH COMMANDS\n");
  std::vector<std::string> pages;
  for (const CommandDescription& command : all.commands) {
    const std::string page = Escaped(ManPageName(command));
    absl::StrAppend(&out, ".TP\n.BR ", page, " (1)\n", Escaped(command.words),
                    "\n");
    pages.push_back(absl::StrCat(".BR ", page, " (1)"));
  }
  absl::StrAppend(&out, ".SH ENVIRONMENT\n");
  for (const auto& [variable, words] : Variables(all)) {
    absl::StrAppend(&out, ".TP\n.B ", variable, "\n", Escaped(words), "\n");
  }
  absl::StrAppend(&out, ExitStatuses(), ".SH EXAMPLE\n", Example(all.example),
                  ".SH SEE ALSO\n", absl::StrJoin(pages, ",\n"),
                  "\n.PP\nThe folder share/doc/dogged of the installation has "
                  "a tutorial and the reference of the language.\n");
  return out;
}

std::string ManPage(const CommandDescription& command,
                    const std::string& version) {
  const std::string page = ManPageName(command);
  std::string out =
      absl::StrCat(Heading(page, version), ".SH NAME\n", Escaped(page), " \\- ",
                   Escaped(FirstSentence(command.words)), "\n.SH SYNOPSIS\n");
  if (command.commands.empty()) absl::StrAppend(&out, Synopsis(command));
  for (const CommandDescription& one : command.commands) {
    absl::StrAppend(&out, Synopsis(one), ".br\n");
  }
  absl::StrAppend(&out, ".SH DESCRIPTION\n", Escaped(command.words),
                  "\n.SH FLAGS\n", FlagParagraphs(command));
  for (const CommandDescription& one : command.commands) {
    absl::StrAppend(&out, ".SS dogged ", Escaped(one.name), "\n",
                    Escaped(one.words), "\n", FlagParagraphs(one));
  }
  if (!command.footer.empty()) {
    absl::StrAppend(&out, ".SH ENVIRONMENT\n", Escaped(command.footer), "\n");
  }
  return absl::StrCat(out, ExitStatuses(), ".SH EXAMPLE\n",
                      Example(command.example),
                      ".SH SEE ALSO\n.BR dogged (1)\n");
}

}  // namespace dogged
