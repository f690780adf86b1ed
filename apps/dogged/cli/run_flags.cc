#include "apps/dogged/cli/run_flags.h"

#include <cstdio>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/cli/flag_values.h"
#include "apps/dogged/run/run_command.h"
#include "routing/plans/planner.h"
#include "runtime/base/status.h"
#include "runtime/job/context/job_options.h"

namespace dogged {
namespace {

class RunFlags : public CommandFlags {
 public:
  RunFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(
            app, "run",
            "dogged run apps/heat1d/heat1d.dog -D N=20001 --agents 4 "
            "--kill-at 40% --check --output 'phi(:)(100)=heat.png'",
            "Runs a program and writes its results.")) {
    command_.footer(
        "DOGGED_DIR: where own agents keep values until the run ends well");
    options_.seed = environment.entropy >> 32;
    AddProgramFlags(command_, options_.program, program_flags_);
    AddPlaces();
    AddFaults();
    command_
        .add_option("--output", options_.program.outputs,
                    "write a result: 'phi(:)(100)=heat.npy', "
                    "'phi(5:20)(100)=part.png'; over time as .apng, for VTK "
                    "as .vti or .pvd, in chunks as .zarr")
        ->type_name("SELECTION=FILE")
        ->allow_extra_args(false);
    AddFormFlags(command_, form_flags_);
    AddChoice(
        command_, "--output-to", options_.output_to, {"here", "agents"},
        "agents: as of fetch, each agent writes the values that it holds");
    command_.add_flag("--check", options_.check,
                      "compare with a serial run, bit by bit");
    AddLibraries(command_, options_.libraries);
    command_.add_flag("--search-only", options_.search_only,
                      "no notification, only the backward search");
    command_.add_option("--seed", seed_, "of every random choice")
        ->envname("DOGGED_SEED");
    AddJsonFlags(command_, options_.json, /*has_events=*/true);
  }

  bool IsParsed() const override { return command_.parsed(); }
  bool KnowsPrograms() const override { return true; }
  absl::StatusOr<ExitCode> Run() override {
    DOGGED_RETURN_IF_ERROR(
        FinishProgramFlags(program_flags_, options_.program));
    DOGGED_ASSIGN_OR_RETURN(options_.program.output_form, FormOf(form_flags_));
    DOGGED_ASSIGN_OR_RETURN(options_.kill_at,
                            ParseWhens(kill_at_, "--kill-at"));
    DOGGED_ASSIGN_OR_RETURN(options_.join_at,
                            ParseWhens(join_at_, "--join-at"));
    DOGGED_ASSIGN_OR_RETURN(options_.kill_every_seconds,
                            ParseSeconds(kill_every_, "--kill-every"));
    DOGGED_ASSIGN_OR_RETURN(options_.redo_max_seconds,
                            ParseSeconds(redo_, "--redo-at-most"));
    DOGGED_RETURN_IF_ERROR(
        ParseTime(patience_, "--patience", options_.patience));
    if (!seed_.empty()) {
      DOGGED_ASSIGN_OR_RETURN(options_.seed,
                              ParseSeed(seed_, "--seed (or DOGGED_SEED)"));
    }
    ChooseAgents();
    // The agents are to be started with it.
    DOGGED_ASSIGN_OR_RETURN(options_.memory_bytes,
                            ParseBytes(environment_.memory, "DOGGED_MEMORY"));
    return RunCommand(options_, environment_);
  }

 private:
  // It stands on the command line; variables don't count.
  bool IsGiven(const char* flag) const {
    return absl::c_linear_search(command_.parse_order(),
                                 command_.get_option(flag));
  }
  // A variable says where to run unless flags are about own agents; of a
  // cluster they would say how tiles are cut, or nothing.
  void ChooseAgents() {
    if (options_.cluster.empty() || IsGiven("--cluster")) return;
    if (!IsGiven("--patience")) {
      for (const char* flag :
           {"--agents", "--kill-at", "--kill-every", "--join-at"}) {
        if (!IsGiven(flag)) continue;
        std::fprintf(stderr,
                     "runs on agents of its own, as %s says, and not at "
                     "DOGGED_CLUSTER: --cluster %s is for that\n",
                     flag, options_.cluster.c_str());
        options_.cluster.clear();
        return;
      }
    }
    std::fprintf(stderr, "runs at %s, as DOGGED_CLUSTER says\n",
                 options_.cluster.c_str());
  }
  void AddPlaces() {
    command_
        .add_option("--agents", options_.program.agents,
                    "how many agents (default: 1, or those of --cluster)")
        ->check(CLI::Range(1, JobOptions::kTargetMax))
        ->envname("DOGGED_AGENTS");
    command_
        .add_option("--workers", options_.program.workers,
                    "worker threads per agent (default: processors / agents)")
        ->check(CLI::Range(1, JobOptions::kTargetMax))
        ->envname("DOGGED_WORKERS");
    command_
        .add_option("--replicas", options_.replicas,
                    "copies of each value (default: 2, or 1 with one agent)")
        ->check(CLI::Range(1, JobOptions::kReplicasMax))
        ->envname("DOGGED_REPLICAS");
    command_.add_option(
        "--redo-at-most", redo_,
        "seconds of work that one lost agent may cost, as 30s: more "
        "cuts (default: what costs least on average)");
    command_
        .add_option("--cluster", options_.cluster,
                    "where agents are, instead of own ones: HOST:PORT, "
                    "file:DIR, dns:NAME:PORT; several with commas; the "
                    "variable gives way to --agents and faults")
        ->type_name("POINT")
        ->envname("DOGGED_CLUSTER");
    command_.add_option("--patience", patience_,
                        "how long it outlives a cluster without agents, as "
                        "10m, and sends the job again (default: it ends)");
    AddKeyOptions(command_, options_.key_choice);
    AddChoice(command_, "--multicast", options_.multicast, MulticastPlanNames(),
              absl::StrJoin(MulticastPlanNames(), ", "));
  }
  void AddFaults() {
    command_.add_option(
        "--kill-at", kill_at_,
        "kill an agent: 40% of the tasks, or 2s; a,b,c for more");
    command_.add_option("--kill-every", kill_every_,
                        "kill one so often, as 2.5s, and start another");
    command_.add_option("--join-at", join_at_,
                        "start one more agent, likewise");
  }

  const Environment& environment_;
  CLI::App& command_;
  RunOptions options_;
  ProgramFlags program_flags_;
  FormFlags form_flags_;
  std::string kill_at_;
  std::string join_at_;
  std::string kill_every_;
  std::string redo_;
  std::string patience_;
  std::string seed_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddRunFlags(CLI::App& app,
                                          const Environment& environment) {
  return std::make_unique<RunFlags>(app, environment);
}

}  // namespace dogged
