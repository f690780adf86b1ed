#include "apps/dogged/cli/agent_flags.h"

#include <string>

#include "absl/strings/str_join.h"
#include "apps/dogged/agent/agent_command.h"
#include "apps/dogged/cli/flag_values.h"
#include "routing/plans/planner.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

class AgentFlags : public CommandFlags {
 public:
  AgentFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        command_(AddCommand(
            app, "agent",
            "dogged agent --listen 127.0.0.1:7070 --join 127.0.0.1:7071",
            "Takes part in a cluster until SIGTERM, SIGINT, SIGHUP or "
            "SIGUSR1, then hands over and leaves.")) {
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
        .add_option("--health", options_.health,
                    "HOST:PORT that answers /livez and /readyz by HTTP, to "
                    "anybody; port 0: any (default: none)")
        ->type_name("HOST:PORT");
    command_
        .add_option("--join", options_.join,
                    "where others are: HOST:PORT; file:DIR, a folder that all "
                    "agents see; dns:NAME:PORT, all records of a name; several "
                    "with commas; -: those in the input")
        ->type_name("POINT")
        ->allow_extra_args(false);
    command_
        .add_option("--workers", options_.workers,
                    "worker threads (default: processors that it may use)")
        ->check(CLI::Range(1, 1024))
        ->envname("DOGGED_WORKERS");
    command_
        .add_option("--memory", memory_,
                    "what this agent's values may take: bytes, or 64M, 4G; "
                    "all: no bound (default: most of what its control group "
                    "may have, or all)")
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
    command_.add_option("--lifetime", lifetime_,
                        "leaves after so long, as 58m, as if it were told to");
    command_
        .add_option("--leave-within", leave_within_,
                    "has gone so long after it is told to leave; as long, if "
                    "need be, it waits for an agent that takes its values")
        ->default_str("10s");
    command_.add_option("--ready-file", options_.ready_file,
                        "gets HOST:PORT once this agent listens");
    AddChoice(command_, "--multicast", options_.multicast, MulticastPlanNames(),
              absl::StrJoin(MulticastPlanNames(), ", "));
    AddChoice(command_, "--arena", options_.arena, {"on", "off"},
              "on: agents of this host read large values in place; off: "
              "values are copied");
    AddLibraries(command_, options_.libraries);
    command_
        .add_option("--kernels", options_.kernels,
                    "users' libraries that it runs: builtin (none), "
                    "listed:FILE (of SHA-256 digests), any")
        ->capture_default_str();
    command_
        .add_flag("--small-pages", options_.small_pages,
                  "its code stays where perf knows it, on no huge pages")
        ->envname("DOGGED_SMALL_PAGES");
    AddKeyOptions(command_, options_.keys);
    AddChoice(command_, "--wire", options_.wire, {"sealed", "signed", "plain"},
              "messages to agents of other hosts; sealed, unless this one "
              "listens on loopback or has no key");
  }
  bool IsParsed() const override { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() override {
    options_.has_memory = !memory_.empty();
    if (memory_ != "all") {
      DOGGED_ASSIGN_OR_RETURN(
          options_.memory_bytes,
          ParseBytes(memory_, "--memory (or DOGGED_MEMORY)"));
    }
    DOGGED_RETURN_IF_ERROR(
        ParseTime(lifetime_, "--lifetime", options_.lifetime));
    DOGGED_RETURN_IF_ERROR(
        ParseTime(leave_within_, "--leave-within", options_.leave_within));
    return AgentCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  AgentCommandOptions options_;
  std::string memory_;
  std::string lifetime_;
  std::string leave_within_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddAgentFlags(CLI::App& app,
                                            const Environment& environment) {
  return std::make_unique<AgentFlags>(app, environment);
}

}  // namespace dogged
