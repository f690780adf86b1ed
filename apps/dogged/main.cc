// The command line: flags and environment variables to plain options. A flag
// beats its DOGGED_* variable. Nothing else happens here.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/commands.h"
#include "apps/dogged/environment.h"
#include "apps/dogged/errors.h"
#include "apps/dogged/flag_values.h"
#include "apps/dogged/interrupt.h"
#include "apps/dogged/job_source.h"
#include "apps/dogged/memory.h"
#include "apps/dogged/standard_streams.h"
#include "apps/dogged/unknown_words.h"
#include "apps/tiles/blas_kernels.h"
#include "routing/planner.h"
#include "runtime/base/status.h"
#include "runtime/job/job_options.h"

namespace dogged {
namespace {

// What a process maps that knows programs and has no tasks: OpenBLAS is most.
constexpr int64_t kProgramAddresses = int64_t{96} << 20;

// What the flags were given as, before they are parsed further.
struct ProgramFlags {
  std::vector<std::string> definitions;
  std::vector<std::string> inputs;
  std::string kernels = "compiled";
  std::string coalesce = "on";
};

void AddChoice(CLI::App& app, const char* name, std::string& value,
               const std::vector<std::string>& choices,
               const std::string& what) {
  app.add_option(name, value, what)
      ->check(CLI::IsMember(choices))
      ->capture_default_str();
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
  AddChoice(app, "--coalesce", flags.coalesce, {"on", "off"},
            "on: many points a task; off: one");
}

absl::Status FinishProgramFlags(const ProgramFlags& flags,
                                ProgramOptions& options) {
  DOGGED_ASSIGN_OR_RETURN(options.definitions,
                          ParsePairs(flags.definitions, "-D"));
  DOGGED_ASSIGN_OR_RETURN(options.inputs, ParsePairs(flags.inputs, "--input"));
  options.compiled = flags.kernels == "compiled";
  options.coalesce = flags.coalesce == "on";
  return absl::OkStatus();
}

// Every help starts with an example.
CLI::App& AddCommand(CLI::App& app, const std::string& name,
                     const std::string& example, const std::string& what) {
  CLI::App* command = app.add_subcommand(name);
  command->description(absl::StrCat("Example: ", example, "\n\n", what));
  return *command;
}

// One command: its flags, and what to do once they are read. The object lives
// as long as the parser.
class RunFlags {
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
                    "as .vti or .pvd")
        ->type_name("SELECTION=FILE")
        ->allow_extra_args(false);
    command_.add_flag("--check", options_.check,
                      "compare with a serial run, bit by bit");
    command_.add_flag("--search-only", options_.search_only,
                      "no notification, only the backward search");
    command_.add_option("--seed", seed_, "of every random choice")
        ->envname("DOGGED_SEED");
    command_.add_flag("--json", options_.json, "print one JSON object");
  }

  bool parsed() const { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() {
    DOGGED_RETURN_IF_ERROR(
        FinishProgramFlags(program_flags_, options_.program));
    DOGGED_ASSIGN_OR_RETURN(options_.kill_at,
                            ParseWhens(kill_at_, "--kill-at"));
    DOGGED_ASSIGN_OR_RETURN(options_.join_at,
                            ParseWhens(join_at_, "--join-at"));
    DOGGED_ASSIGN_OR_RETURN(options_.kill_every_seconds,
                            ParseSeconds(kill_every_, "--kill-every"));
    options_.seed_given = !seed_.empty();
    if (options_.seed_given) {
      DOGGED_ASSIGN_OR_RETURN(options_.seed,
                              ParseSeed(seed_, "--seed (or DOGGED_SEED)"));
    }
    // The agents are to be started with it.
    DOGGED_RETURN_IF_ERROR(
        ParseBytes(environment_.memory, "DOGGED_MEMORY").status());
    return RunCommand(options_, environment_);
  }

 private:
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
    command_
        .add_option("--cluster", options_.cluster,
                    "HOST:PORT of a running agent, instead of own agents")
        ->envname("DOGGED_CLUSTER");
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
  std::string kill_at_;
  std::string join_at_;
  std::string kill_every_;
  std::string seed_;
};

class AgentFlags {
 public:
  AgentFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(
            app, "agent",
            "dogged agent --listen 127.0.0.1:7070 --join 127.0.0.1:7071",
            "Takes part in a cluster until SIGTERM, then hands over and "
            "leaves.")) {
    command_.add_option("--listen", options_.listen, "HOST:PORT; port 0: any")
        ->capture_default_str()
        ->envname("DOGGED_LISTEN");
    command_.add_option(
        "--advertise", options_.advertise,
        "HOST:PORT by which others reach it; port 0: as --listen");
    command_
        .add_option("--fabric-port", options_.fabric_port,
                    "of the connections between agents; 0: any")
        ->check(CLI::Range(0, 65535));
    command_
        .add_option("--join", options_.join, "HOST:PORT; -: those in the input")
        ->allow_extra_args(false);
    command_.add_option("--workers", options_.workers, "worker threads")
        ->check(CLI::Range(1, 1024))
        ->envname("DOGGED_WORKERS");
    command_
        .add_option("--memory", memory_,
                    "what this agent's values may take: bytes, or 64M, 4G")
        ->envname("DOGGED_MEMORY");
    command_
        .add_option("--dir", options_.directory,
                    "keeps values there, and offers them after a restart")
        ->envname("DOGGED_DIR");
    command_.add_option("--topology-id", options_.topology_id,
                        "digits; a longer shared prefix means nearer");
    command_.add_option("--topology-file", options_.topology_file,
                        "the site's hosts: topology.conf of Slurm, a dump of "
                        "ibnetdiscover, or lines as in docs/ROUTING.md");
    command_
        .add_option("--topology-base", options_.topology_base,
                    "of the digits made from --topology-file")
        ->check(CLI::Range(2, 256))
        ->capture_default_str();
    command_.add_option("--ready-file", options_.ready_file,
                        "gets HOST:PORT once this agent listens");
    AddChoice(command_, "--multicast", options_.multicast, MulticastPlanNames(),
              absl::StrJoin(MulticastPlanNames(), ", "));
    AddChoice(command_, "--arena", options_.arena, {"on", "off"},
              "on: agents of this host read large values in place; off: "
              "values are copied");
    AddChoice(command_, "--libraries", options_.libraries, {"apart", "here"},
              "users' kernels run apart, in processes of their own, or "
              "here: faster, but they can end the agent");
    command_
        .add_flag("--small-pages", options_.small_pages,
                  "its code stays where perf knows it, on no huge pages")
        ->envname("DOGGED_SMALL_PAGES");
    command_.add_flag("--insecure", options_.insecure,
                      "listen beyond loopback without any protection");
  }
  bool parsed() const { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() {
    DOGGED_ASSIGN_OR_RETURN(options_.memory_bytes,
                            ParseBytes(memory_, "--memory (or DOGGED_MEMORY)"));
    return AgentCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  AgentCommandOptions options_;
  std::string memory_;
};

class ClusterFlags {
 public:
  explicit ClusterFlags(CLI::App& app)
      : status_(AddCommand(app, "status",
                           "dogged status --cluster 127.0.0.1:7070",
                           "Says who is there and how the jobs are doing.")),
        cancel_(AddCommand(app, "cancel",
                           "dogged cancel --cluster 127.0.0.1:7070 3f2a91",
                           "Cancels a job, named by the first digits of its "
                           "hash.")) {
    for (CLI::App* command : {&status_, &cancel_}) {
      command
          ->add_option("--cluster", options_.cluster, "HOST:PORT of an agent")
          ->required()
          ->envname("DOGGED_CLUSTER");
    }
    status_.add_flag("--json", options_.json, "print one JSON object");
    status_.add_flag("--all", options_.all,
                     "all jobs that ended, not only the last 20");
    cancel_.add_option("JOB", options_.job, "first digits of the job's hash")
        ->required();
  }
  bool parsed() const { return status_.parsed() || cancel_.parsed(); }
  ExitCode Run() {
    return status_.parsed() ? StatusCommand(options_) : CancelCommand(options_);
  }

 private:
  CLI::App& status_;
  CLI::App& cancel_;
  ClusterOptions options_;
};

class CheckFlags {
 public:
  CheckFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(app, "check",
                            "dogged check apps/heat1d/heat1d.dog -D N=20001",
                            "Only compiles: errors, size of the graph, "
                            "tiles.")) {
    AddProgramFlags(command_, options_, flags_);
    command_.add_flag("--emit-c", options_.emit_c,
                      "print the C that kernels are compiled from");
  }
  bool parsed() const { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() {
    DOGGED_RETURN_IF_ERROR(FinishProgramFlags(flags_, options_));
    return CheckCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  ProgramOptions options_;
  ProgramFlags flags_;
};

class ExplainFlags {
 public:
  explicit ExplainFlags(CLI::App& app)
      : command_(AddCommand(app, "explain", "dogged explain D012",
                            "What stands behind the code of a message.")) {
    command_.add_option("CODE", code_, "such as D012")->required();
  }
  bool parsed() const { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() { return ExplainCommand(code_); }

 private:
  CLI::App& command_;
  std::string code_;
};

class FormatFlags {
 public:
  explicit FormatFlags(CLI::App& app)
      : command_(AddCommand(app, "fmt", "dogged fmt apps/heat1d/heat1d.dog",
                            "Gives programs their canonical form.")) {
    command_.add_option("FILE", files_, "programs")->required();
    command_.add_flag("--check", only_check_,
                      "change nothing; name files that are not in this form");
  }
  bool parsed() const { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() { return FormatCommand(files_, only_check_); }

 private:
  CLI::App& command_;
  std::vector<std::string> files_;
  bool only_check_ = false;
};

class GraphFlags {
 public:
  GraphFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(
            app, "graph",
            "dogged graph apps/heat1d/heat1d.dog --at 'phi(3)(4)' -o g.svg",
            "Draws the tasks around a label, never the whole graph.")) {
    AddProgramFlags(command_, options_.program, flags_);
    command_.add_option("--at", options_.at, "a label, such as 'phi(3)(4)'")
        ->required();
    command_.add_option("--radius", options_.radius, "steps from its task")
        ->check(CLI::Range(0, 100))
        ->capture_default_str();
    command_.add_option("-o,--out", options_.output,
                        "a .svg, or .dot for graphviz; default: print SVG");
  }
  bool parsed() const { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() {
    DOGGED_RETURN_IF_ERROR(FinishProgramFlags(flags_, options_.program));
    return GraphCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  GraphOptions options_;
  ProgramFlags flags_;
};

class SimFlags {
 public:
  SimFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(
            app, "sim",
            "dogged sim apps/heat1d/heat1d.dog -D N=101 -D T=20 --seeds 1:100 "
            "--faults crash=2,pause=2,drop=0.05",
            "Runs a whole cluster in one thread, from seeds, under faults.")) {
    AddProgramFlags(command_, options_.program, flags_);
    command_.add_option("--agents", options_.agents, "how many agents")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command_.add_option("--seeds", seeds_, "A:B, both included")
        ->required()
        ->type_name("A:B");
    command_.add_option("--faults", options_.faults,
                        "crash=2,restart=1,pause=1,join=1,leave=1,partition=1,"
                        "drop=0.05,duplicate=0.05,reorder=0.05,corrupt=0.001");
    command_
        .add_option("--replicas", options_.replicas, "copies of each value")
        ->check(CLI::Range(1, JobOptions::kReplicasMax))
        ->capture_default_str();
    command_.add_flag("--search-only", options_.search_only,
                      "no notification, only the backward search");
    AddChoice(command_, "--claims", claims_, {"on", "off"},
              "with --search-only: off lets searchers run what others run "
              "already");
    command_.add_flag("--json", options_.json, "print one JSON object");
  }
  bool parsed() const { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() {
    DOGGED_RETURN_IF_ERROR(FinishProgramFlags(flags_, options_.program));
    options_.claims = claims_ == "on";
    DOGGED_RETURN_IF_ERROR(
        ParseSeeds(seeds_, options_.first_seed, options_.last_seed));
    return SimCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  SimCommandOptions options_;
  ProgramFlags flags_;
  std::string claims_ = "on";
  std::string seeds_;
};

int Main(int argc, char** argv) {
  OccupyStandardStreams();
  PrepareForScarcity();
  if (argc > 2 && absl::string_view(argv[1]) == "kernel-helper") {
    return static_cast<int>(KernelHelperCommand(argv[2]));
  }
  CatchInterrupts("interrupted\n");
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like others
  const Environment environment = ReadEnvironment();
  CLI::App app;
  app.description(
      "Example: dogged run apps/heat1d/heat1d.dog --agents 4 --kill-at 40%\n\n"
      "Runs stencils and tiled algebra on agents that come and go.");
  app.require_subcommand(1);
  app.set_version_flag("--version", "dogged 0.1.0");
  RunFlags run(app, environment);
  AgentFlags agent(app, environment);
  ClusterFlags cluster(app);
  CheckFlags check(app, environment);
  ExplainFlags explain(app);
  FormatFlags format(app);
  GraphFlags graph(app, environment);
  SimFlags sim(app, environment);
  if (const std::string words = UnknownCommand(app, argc > 1 ? argv[1] : "");
      !words.empty()) {
    SayError(words);
    return static_cast<int>(ExitCode::kMistyped);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    SayError(UnknownWord(app));
    return static_cast<int>(ExitCode::kMistyped);
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors; everything else is a mistyped command.
    if (error.get_exit_code() == 0) return app.exit(error);
    SayError(absl::StrCat(ValueWords(app, error.what()), "; ", HelpWords(app)));
    return static_cast<int>(ExitCode::kMistyped);
  }
  if (run.parsed() || check.parsed() || graph.parsed() || sim.parsed()) {
    // What these know of programs depends on it. An agent needs more.
    absl::Status room = CheckAddresses("dogged", kProgramAddresses, 0);
    if (room.ok()) room = SetUpBlas();
    if (!room.ok()) {
      SayError(room.message());
      return static_cast<int>(ExitCodeOf(room));
    }
  }
  absl::StatusOr<ExitCode> code = ExitCode::kMistyped;
  if (run.parsed()) code = run.Run();
  if (agent.parsed()) code = agent.Run();
  if (cluster.parsed()) code = cluster.Run();
  if (check.parsed()) code = check.Run();
  if (explain.parsed()) code = explain.Run();
  if (format.parsed()) code = format.Run();
  if (graph.parsed()) code = graph.Run();
  if (sim.parsed()) code = sim.Run();
  if (code.ok()) return static_cast<int>(*code);
  SayError(code.status().message());
  return static_cast<int>(ExitCode::kMistyped);
}

// What was asked for and not written is not done.
int CheckOutput(int code) {
  const absl::Status status = FinishOutput();
  if (status.ok()) return code;
  SayError(status.message());
  if (code != 0) return code;
  return static_cast<int>(absl::IsResourceExhausted(status)
                              ? ExitCode::kNoRoom
                              : ExitCode::kMistyped);
}

}  // namespace
}  // namespace dogged

int main(int argc, char** argv) {
  return dogged::CheckOutput(dogged::Main(argc, argv));
}
