#include "apps/dogged/cli/client_flags.h"

#include "apps/dogged/door/client_command.h"

namespace dogged {
namespace {

class ClientFlags : public CommandFlags {
 public:
  ClientFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(
            app, "client", "dogged client --stdio",
            "Serves a program in another language, as the Python package: "
            "JSON lines and memory descriptors, see JSON.md.")) {
    CLI::Option* const stdio = command_.add_flag(
        "--stdio", stdio_, "at standard input and output; no values");
    command_
        .add_option("--socket-fd", socket_,
                    "at this descriptor, a Unix socket, by which values go")
        ->check(CLI::Range(0, 1 << 20))
        ->excludes(stdio);
  }
  bool IsParsed() const override { return command_.parsed(); }
  bool KnowsPrograms() const override { return true; }
  absl::StatusOr<ExitCode> Run() override {
    if (!stdio_ && socket_ < 0) {
      return absl::InvalidArgumentError(
          "client wants --stdio, or --socket-fd with a descriptor");
    }
    return ClientCommand(socket_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  bool stdio_ = false;
  int socket_ = -1;
};

}  // namespace

std::unique_ptr<CommandFlags> AddClientFlags(CLI::App& app,
                                             const Environment& environment) {
  return std::make_unique<ClientFlags>(app, environment);
}

}  // namespace dogged
