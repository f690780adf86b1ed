#include "apps/dogged/cli/command_flags.h"

#include "absl/strings/str_cat.h"
#include "apps/dogged/agent/library_place.h"
#include "apps/dogged/cli/flag_values.h"
#include "apps/dogged/process/environment.h"
#include "runtime/base/status.h"

namespace dogged {

void RefuseVariables(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->count() > 0 || option->get_envname().empty()) continue;
    const std::string value = Variable(option->get_envname().c_str());
    if (value.empty()) continue;
    option->add_result(value);
    option->run_callback();
  }
  for (CLI::App* command : app.get_subcommands()) RefuseVariables(*command);
}

CLI::App& AddCommand(CLI::App& app, const std::string& name,
                     const std::string& example, const std::string& what) {
  CLI::App* command = app.add_subcommand(name);
  command->description(absl::StrCat("Example: ", example, "\n\n", what));
  return *command;
}

void AddChoice(CLI::App& app, const char* name, std::string& value,
               const std::vector<std::string>& choices,
               const std::string& what) {
  app.add_option(name, value, what)
      ->check(CLI::IsMember(choices))
      ->capture_default_str();
}

void AddLibraries(CLI::App& command, std::string& libraries) {
  command
      .add_option("--libraries", libraries,
                  "users' kernels run jailed, in processes that may compute "
                  "and no more; apart, in processes that may do what you may; "
                  "or here: faster, but they can end the agent")
      ->check(CLI::IsMember(LibraryPlace::Names()))
      ->capture_default_str()
      ->envname("DOGGED_LIBRARIES");
}

void AddJsonFlags(CLI::App& command, bool& json, bool has_events) {
  command.add_flag("--json", json, "print one JSON object, also of a failure");
  if (!has_events) return;
  command.add_flag("--json-events", json,
                   "print a JSON line for each event, and such an object last");
}

void AddFormFlags(CLI::App& command, FormFlags& flags) {
  command.add_flag("--time-first", flags.is_time_first,
                   "files have the last index first: u(x)(y)(t) as t, x, y");
  command
      .add_option("--spacing", flags.spacing,
                  "coordinates are indices times this, in .vti, .pvd, .zarr "
                  "and pictures: 'x=0.1,y=0.1' or 'x=0.1 mm,t=2e-3 s'")
      ->type_name("INDEX=NUMBER")
      ->allow_extra_args(false);
}

absl::StatusOr<OutputForm> FormOf(const FormFlags& flags) {
  OutputForm out{.is_time_first = flags.is_time_first, .axes = {}};
  if (flags.spacing.empty()) return out;
  absl::StatusOr<std::map<std::string, AxisScale>> axes =
      ParseSpacing(flags.spacing);
  if (!axes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--spacing: ", axes.status().message()));
  }
  out.axes = *std::move(axes);
  return out;
}

void AddKeyOptions(CLI::App& command, KeyChoice& choice) {
  command.add_option("--key-file", choice.flag,
                     "of the cluster, see `dogged key` (default: "
                     "DOGGED_KEY_FILE, or ~/.dogged/key if it is there)");
  command.add_option("--ca-file", choice.certificates.ca,
                     "certificates of CAs whose certificates members have, in "
                     "PEM; beside a key, or in its place (default: "
                     "DOGGED_CA_FILE)");
  command.add_option("--cert-file", choice.certificates.certificate,
                     "ours, and those between it and the CA (default: "
                     "DOGGED_CERT_FILE)");
  command.add_option("--cert-key-file", choice.certificates.key,
                     "its private key (default: DOGGED_CERT_KEY_FILE)");
  command.add_flag("--insecure", choice.insecure,
                   "no key: anybody who reaches the agents can run code there");
}

void AddProgramFlags(CLI::App& app, ProgramOptions& options,
                     ProgramFlags& flags) {
  app.add_option("FILE", options.file, "the program, FILE.dog")->required();
  app.add_option("-D", flags.definitions, "set a parameter: -D N=1000")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--input", flags.inputs, "read an array from a .npy file")
      ->type_name("ARRAY=FILE")
      ->allow_extra_args(false);
  AddChoice(app, "--kernels", flags.kernels, {"compiled", "interpreted"},
            "compiled or interpreted");
  AddChoice(app, "--coalesce", flags.coalesce, {"on", "nest", "off"},
            "on: many points a task; nest: as tiles of loop nests; off: one");
}

absl::Status FinishProgramFlags(const ProgramFlags& flags,
                                ProgramOptions& options) {
  DOGGED_ASSIGN_OR_RETURN(options.definitions,
                          ParsePairs(flags.definitions, "-D"));
  DOGGED_ASSIGN_OR_RETURN(options.inputs, ParsePairs(flags.inputs, "--input"));
  options.compiled = flags.kernels == "compiled";
  options.coalesce = flags.coalesce != "off";
  options.prefers_nest = flags.coalesce == "nest";
  return absl::OkStatus();
}

}  // namespace dogged
