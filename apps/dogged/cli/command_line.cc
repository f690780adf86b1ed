#include "apps/dogged/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "apps/dogged/cli/agent_flags.h"
#include "apps/dogged/cli/client_flags.h"
#include "apps/dogged/cli/cluster_flags.h"
#include "apps/dogged/cli/host_flags.h"
#include "apps/dogged/cli/key_flags.h"
#include "apps/dogged/cli/pages_command.h"
#include "apps/dogged/cli/program_flags.h"
#include "apps/dogged/cli/run_flags.h"
#include "apps/dogged/cli/submit_flags.h"
#include "apps/dogged/cli/suggestions.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/memory.h"
#include "apps/tiles/blas_kernels.h"

namespace dogged {
namespace {

// Addresses that a process maps which compiles programs and runs no tasks, most
// of them for OpenBLAS.
constexpr int64_t kProgramAddresses = int64_t{96} << 20;

ExitCode Run(CommandFlags& command) {
  if (command.KnowsPrograms()) {
    absl::Status status = CheckAddresses("dogged", kProgramAddresses, 0);
    if (status.ok()) status = SetUpBlas();
    if (!status.ok()) {
      PrintError(status.message());
      return ExitCodeOf(status);
    }
  }
  const absl::StatusOr<ExitCode> code = command.Run();
  if (code.ok()) return *code;
  PrintError(code.status().message());
  return ExitCode::kMistyped;
}

// As UnknownCommand(), of commands within a command, too.
std::string UnknownCommands(const CLI::App& app, int argc, char** argv) {
  const auto word = [&](int i) { return argc > i ? argv[i] : ""; };
  if (const std::string words = UnknownCommand(app, word(1)); !words.empty()) {
    return words;
  }
  for (const CLI::App* command : app.get_subcommands([&](const CLI::App* one) {
         return one->get_name() == word(1) &&
                one->get_require_subcommand_min() > 0;
       })) {
    return UnknownCommand(*command, word(2));
  }
  return "";
}

// A command line that can't be parsed is answered in JSON, too.
void NoteWantedAnswer(int argc, char** argv) {
  bool wants_answer = false;
  bool wants_events = false;
  for (int i = 2; i < argc; ++i) {
    const absl::string_view word = argv[i];
    wants_answer |= word == "--json";
    wants_events |= word == "--json-events";
  }
  if (wants_answer || wants_events) WantAnswer(argv[1], wants_events);
}

// Something must be given, or be given with something else.
bool IsLack(const CLI::ParseError& error) {
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  return code == CLI::ExitCodes::RequiredError ||
         code == CLI::ExitCodes::RequiresError ||
         code == CLI::ExitCodes::ExcludesError;
}

// Variables are for the command that has them: the parser would refuse others
// for them, too. Pages tell of all.
void ForgetVariables(CLI::App& app, absl::string_view given) {
  if (given == "pages") return;
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == given) continue;
    for (CLI::Option* option : command->get_options()) option->envname("");
  }
}

}  // namespace

ExitCode RunCommandLine(int argc, char** argv, const Environment& environment) {
  CLI::App app;
  app.description(
      "Example: dogged run apps/heat1d/heat1d.dog --agents 4 --kill-at 40%\n\n"
      "Runs stencils and tiled algebra on agents that come and go.");
  app.require_subcommand(1);
  // Only for the help: as the first word it is the command of that name.
  bool wants_version = false;
  app.add_flag("--version", wants_version, "as `dogged version`");
  const std::array<std::unique_ptr<CommandFlags>, 14> commands = {
      AddRunFlags(app, environment),
      AddSubmitFlags(app, environment),
      AddAgentFlags(app, environment),
      AddClusterFlags(app, environment),
      AddClientFlags(app, environment),
      AddKeyFlags(app, environment),
      AddCheckFlags(app, environment),
      AddExplainFlags(app),
      AddFormatFlags(app),
      AddGraphFlags(app, environment),
      AddSimFlags(app, environment),
      AddVersionFlags(app),
      AddDoctorFlags(app, environment),
      AddPagesFlags(app)};
  std::string version = "version";
  std::vector<char*> arguments(argv, argv + argc);
  if (argc > 1 && absl::string_view(argv[1]) == "--version") {
    arguments[1] = version.data();
  }
  NoteWantedAnswer(argc, arguments.data());
  if (const std::string words = UnknownCommands(app, argc, arguments.data());
      !words.empty()) {
    PrintError(words);
    return ExitCode::kMistyped;
  }
  if (argc > 1) ForgetVariables(app, arguments[1]);
  try {
    app.parse(argc, arguments.data());
    RefuseVariables(app);
  } catch (const CLI::ExtrasError&) {
    PrintError(UnknownWord(app));
    return ExitCode::kMistyped;
  } catch (const CLI::ParseError& error) {
    // Help is no error; everything else is a mistyped command.
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return ExitCode::kDone;
    }
    // The flag may have been meant for the lacking one.
    if (IsLack(error) && HasUnknownFlag(app)) {
      PrintError(UnknownWord(app));
      return ExitCode::kMistyped;
    }
    const std::string empty = EmptyValue(app);
    PrintError(
        absl::StrCat(empty.empty() ? ValueWords(app, error.what()) : empty,
                     "; ", HelpWords(app)));
    return ExitCode::kMistyped;
  }
  if (const std::string words = EmptyValue(app); !words.empty()) {
    PrintError(words);
    return ExitCode::kMistyped;
  }
  for (const auto& command : commands) {
    if (command->IsParsed()) return Run(*command);
  }
  return ExitCode::kMistyped;
}

}  // namespace dogged
