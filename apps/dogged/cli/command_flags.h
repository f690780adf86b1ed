// CommandFlags: the flags of a command, its action once they are read, and the
// means to declare flags.
#ifndef DOGGED_APPS_DOGGED_CLI_COMMAND_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_COMMAND_FLAGS_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/keys/key_choice.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/program_options.h"

namespace dogged {

// Lives as long as the parser.
class CommandFlags {
 public:
  CommandFlags() = default;
  virtual ~CommandFlags() = default;
  CommandFlags(const CommandFlags&) = delete;
  CommandFlags& operator=(const CommandFlags&) = delete;

  // The command is the one that was given.
  virtual bool IsParsed() const = 0;
  // The command compiles programs, so OpenBLAS is to be set up first: numeric
  // classes depend on it. An agent does so by itself.
  virtual bool KnowsPrograms() const { return false; }
  // Errors: kInvalidArgument for values of flags, in words that say so.
  virtual absl::StatusOr<ExitCode> Run() = 0;
};

// Refuses variables of the given command's flags as the parser refuses the
// flags, after it has parsed: that of CLI11 2.4 takes no notice of a bad one.
// Errors: CLI::ParseError, as the parser does.
void RefuseVariables(CLI::App& app);

// Every help starts with an example.
CLI::App& AddCommand(CLI::App& app, const std::string& name,
                     const std::string& example, const std::string& what);

void AddChoice(CLI::App& app, const char* name, std::string& value,
               const std::vector<std::string>& choices,
               const std::string& what);

// --libraries.
void AddLibraries(CLI::App& command, std::string& libraries);
// --json, and --json-events, which is --json with lines before it.
void AddJsonFlags(CLI::App& command, bool& json, bool has_events = false);

// --time-first and --spacing, before they are parsed further.
struct FormFlags {
  bool is_time_first = false;
  std::string spacing;
};
void AddFormFlags(CLI::App& command, FormFlags& flags);
absl::StatusOr<OutputForm> FormOf(const FormFlags& flags);

// --key-file and --insecure.
void AddKeyOptions(CLI::App& command, KeyChoice& choice);

// Texts of the flags, before they are parsed further.
struct ProgramFlags {
  std::vector<std::string> definitions;
  std::vector<std::string> inputs;
  std::string kernels = "compiled";
  std::string coalesce = "on";
};

void AddProgramFlags(CLI::App& app, ProgramOptions& options,
                     ProgramFlags& flags);
absl::Status FinishProgramFlags(const ProgramFlags& flags,
                                ProgramOptions& options);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_COMMAND_FLAGS_H_
