#include "apps/dogged/cli/key_flags.h"

#include <string>

#include "apps/dogged/keys/key_command.h"

namespace dogged {
namespace {

using Action = KeyCommandOptions::Action;

class KeyFlags : public CommandFlags {
 public:
  KeyFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(app, "key", "dogged key new",
                            "Makes and changes the keys that agents and "
                            "clients of a cluster share.")) {
    command_.require_subcommand(1);
    AddAction(Action::kNew, "new", "dogged key new",
              "Makes a key file, for its owner's eyes alone.");
    AddAction(Action::kList, "list", "dogged key list",
              "Says which keys the file has, by their ids.");
    CLI::App& add =
        AddAction(Action::kAdd, "add", "dogged key add other.key",
                  "Accepts another key, too: those of FROM, or a new one.");
    add.add_option("FROM", options_.from, "a key file");
    for (const Action action : {Action::kUse, Action::kRemove}) {
      const bool uses = action == Action::kUse;
      CLI::App& command =
          uses ? AddAction(action, "use", "dogged key use 7f3a",
                           "Uses another one of the file's keys.")
               : AddAction(action, "remove", "dogged key remove 7f3a",
                           "Accepts a key no longer.");
      command.add_option("ID", options_.id, "as `dogged key list` says")
          ->required();
    }
  }
  bool IsParsed() const override { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() override {
    return KeyCommand(options_, environment_);
  }

 private:
  CLI::App& AddAction(Action action, const std::string& name,
                      const std::string& example, const std::string& what) {
    CLI::App& command = AddCommand(command_, name, example, what);
    command.add_option("--file", options_.file,
                       "the key file (default: DOGGED_KEY_FILE, or "
                       "~/.dogged/key)");
    command.callback([this, action] { options_.action = action; });
    return command;
  }

  const Environment& environment_;
  CLI::App& command_;
  KeyCommandOptions options_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddKeyFlags(CLI::App& app,
                                          const Environment& environment) {
  return std::make_unique<KeyFlags>(app, environment);
}

}  // namespace dogged
