#include "apps/dogged/cli/host_flags.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/dogged/cli/agent_flags.h"
#include "apps/dogged/cli/flag_values.h"
#include "apps/dogged/cli/suggestions.h"
#include "apps/dogged/host/doctor_command.h"
#include "apps/dogged/host/version_command.h"

namespace dogged {
namespace {

// Words about each variable that an agent would refuse.
std::vector<std::string> BadVariables(const Environment& environment) {
  std::vector<std::string> out;
  CLI::App app;
  const auto agent = AddAgentFlags(app, environment);
  try {
    app.parse(std::vector<std::string>{"agent"});
    RefuseVariables(app);
  } catch (const CLI::ParseError& error) {
    out.push_back(ValueWords(app, error.what()));
  }
  const auto memory = ParseBytes(environment.memory, "DOGGED_MEMORY");
  if (environment.memory != "all" && !memory.ok()) {
    out.emplace_back(memory.status().message());
  }
  return out;
}

class VersionFlags : public CommandFlags {
 public:
  explicit VersionFlags(CLI::App& app)
      : command_(AddCommand(app, "version", "dogged version --json",
                            "Says what this program is: commit, build, "
                            "libraries, numeric class.")) {
    AddJsonFlags(command_, json_);
  }
  bool IsParsed() const override { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() override { return VersionCommand(json_); }

 private:
  CLI::App& command_;
  bool json_ = false;
};

class DoctorFlags : public CommandFlags {
 public:
  DoctorFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(app, "doctor", "dogged doctor",
                            "Says whether agents can run on this host, what "
                            "makes them slow, and the way out.")) {
    command_
        .add_option("--listen", options_.place.listen,
                    "HOST:PORT, as an agent would")
        ->capture_default_str()
        ->envname("DOGGED_LISTEN");
    AddKeyOptions(command_, options_.place.keys);
    AddJsonFlags(command_, options_.json);
  }
  bool IsParsed() const override { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() override {
    options_.bad_variables = BadVariables(environment_);
    return DoctorCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  DoctorOptions options_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddVersionFlags(CLI::App& app) {
  return std::make_unique<VersionFlags>(app);
}

std::unique_ptr<CommandFlags> AddDoctorFlags(CLI::App& app,
                                             const Environment& environment) {
  return std::make_unique<DoctorFlags>(app, environment);
}

}  // namespace dogged
