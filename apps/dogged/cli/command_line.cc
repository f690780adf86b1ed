#include "apps/dogged/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "apps/dogged/cli/agent_flags.h"
#include "apps/dogged/cli/cluster_flags.h"
#include "apps/dogged/cli/key_flags.h"
#include "apps/dogged/cli/program_flags.h"
#include "apps/dogged/cli/run_flags.h"
#include "apps/dogged/cli/submit_flags.h"
#include "apps/dogged/cli/suggestions.h"
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

}  // namespace

ExitCode RunCommandLine(int argc, char** argv, const Environment& environment) {
  CLI::App app;
  app.description(
      "Example: dogged run apps/heat1d/heat1d.dog --agents 4 --kill-at 40%\n\n"
      "Runs stencils and tiled algebra on agents that come and go.");
  app.require_subcommand(1);
  app.set_version_flag("--version", "dogged 0.1.0");
  const std::array<std::unique_ptr<CommandFlags>, 10> commands = {
      AddRunFlags(app, environment),
      AddSubmitFlags(app, environment),
      AddAgentFlags(app, environment),
      AddClusterFlags(app, environment),
      AddKeyFlags(app, environment),
      AddCheckFlags(app, environment),
      AddExplainFlags(app),
      AddFormatFlags(app),
      AddGraphFlags(app, environment),
      AddSimFlags(app, environment)};
  if (const std::string words = UnknownCommands(app, argc, argv);
      !words.empty()) {
    PrintError(words);
    return ExitCode::kMistyped;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    PrintError(UnknownWord(app));
    return ExitCode::kMistyped;
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors; everything else is a mistyped command.
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return ExitCode::kDone;
    }
    PrintError(
        absl::StrCat(ValueWords(app, error.what()), "; ", HelpWords(app)));
    return ExitCode::kMistyped;
  }
  for (const auto& command : commands) {
    if (command->IsParsed()) return Run(*command);
  }
  return ExitCode::kMistyped;
}

}  // namespace dogged
