#include "apps/dogged/cli/submit_flags.h"

#include <string>

#include "apps/dogged/cli/cluster_flags.h"
#include "apps/dogged/cli/flag_values.h"
#include "apps/dogged/jobs/submit_command.h"
#include "runtime/base/status.h"
#include "runtime/job/context/job_options.h"

namespace dogged {
namespace {

class SubmitFlags : public CommandFlags {
 public:
  SubmitFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(
            app, "submit",
            "dogged submit apps/heat1d/heat1d.dog --cluster 127.0.0.1:7070",
            "Gives a program to a cluster, prints the job's hash, and leaves: "
            "wait and fetch take that.")) {
    AddProgramFlags(command_, options_.run.program, program_flags_);
    AddClusterOption(command_, options_.run.cluster, options_.run.key_choice);
    command_
        .add_option("--want", options_.run.program.wanted,
                    "labels to fetch later, besides the program's results: "
                    "'phi(:)(50)'")
        ->type_name("SELECTION")
        ->allow_extra_args(false);
    command_.add_option("--keep", keep_,
                        "how long results stay after the job's end: 90s, 10m, "
                        "2h, 7d (default: 1h)");
    command_
        .add_option("--agents", options_.run.program.agents,
                    "how many agents tiles are cut for (default: those that "
                    "there are)")
        ->check(CLI::Range(1, JobOptions::kTargetMax))
        ->envname("DOGGED_AGENTS");
    command_
        .add_option("--workers", options_.run.program.workers,
                    "workers of each (default: as they have)")
        ->check(CLI::Range(1, JobOptions::kTargetMax))
        ->envname("DOGGED_WORKERS");
    command_
        .add_option("--replicas", options_.run.replicas,
                    "copies of each value (default: 2, or 1 with one agent)")
        ->check(CLI::Range(1, JobOptions::kReplicasMax))
        ->envname("DOGGED_REPLICAS");
    command_.add_option("--redo-at-most", redo_,
                        "seconds of work that one lost agent may cost, as 30s");
    AddJsonFlags(command_, options_.run.json);
  }
  bool IsParsed() const override { return command_.parsed(); }
  bool KnowsPrograms() const override { return true; }
  absl::StatusOr<ExitCode> Run() override {
    DOGGED_RETURN_IF_ERROR(
        FinishProgramFlags(program_flags_, options_.run.program));
    DOGGED_ASSIGN_OR_RETURN(options_.run.redo_max_seconds,
                            ParseSeconds(redo_, "--redo-at-most"));
    absl::Duration keep = absl::Seconds(options_.keep_seconds);
    DOGGED_RETURN_IF_ERROR(ParseTime(keep_, "--keep", keep));
    options_.keep_seconds = absl::ToDoubleSeconds(keep);
    return SubmitCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  SubmitOptions options_;
  ProgramFlags program_flags_;
  std::string redo_;
  std::string keep_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddSubmitFlags(CLI::App& app,
                                             const Environment& environment) {
  return std::make_unique<SubmitFlags>(app, environment);
}

}  // namespace dogged
