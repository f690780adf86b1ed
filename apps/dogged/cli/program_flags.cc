#include "apps/dogged/cli/program_flags.h"

#include <string>
#include <vector>

#include "apps/dogged/cli/explain_command.h"
#include "apps/dogged/cli/flag_values.h"
#include "apps/dogged/cli/format_command.h"
#include "apps/dogged/run/check_command.h"
#include "apps/dogged/run/graph_command.h"
#include "apps/dogged/run/sim_command.h"
#include "runtime/base/status.h"
#include "runtime/job/context/job_options.h"

namespace dogged {
namespace {

class CheckFlags : public CommandFlags {
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
    AddJsonFlags(command_, options_.json);
  }
  bool IsParsed() const override { return command_.parsed(); }
  bool KnowsPrograms() const override { return true; }
  absl::StatusOr<ExitCode> Run() override {
    DOGGED_RETURN_IF_ERROR(FinishProgramFlags(flags_, options_));
    return CheckCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  ProgramOptions options_;
  ProgramFlags flags_;
};

class ExplainFlags : public CommandFlags {
 public:
  explicit ExplainFlags(CLI::App& app)
      : command_(AddCommand(app, "explain", "dogged explain D012",
                            "What stands behind the code of a message.")) {
    command_.add_option("CODE", code_, "such as D012")->required();
  }
  bool IsParsed() const override { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() override { return ExplainCommand(code_); }

 private:
  CLI::App& command_;
  std::string code_;
};

class FormatFlags : public CommandFlags {
 public:
  explicit FormatFlags(CLI::App& app)
      : command_(AddCommand(app, "fmt", "dogged fmt apps/heat1d/heat1d.dog",
                            "Gives programs their canonical form.")) {
    command_.add_option("FILE", options_.files, "programs")->required();
    command_.add_flag("--check", options_.only_check,
                      "change nothing; name files that are not in this form");
    AddJsonFlags(command_, options_.json);
  }
  bool IsParsed() const override { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() override { return FormatCommand(options_); }

 private:
  CLI::App& command_;
  FormatOptions options_;
};

class GraphFlags : public CommandFlags {
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
  bool IsParsed() const override { return command_.parsed(); }
  bool KnowsPrograms() const override { return true; }
  absl::StatusOr<ExitCode> Run() override {
    DOGGED_RETURN_IF_ERROR(FinishProgramFlags(flags_, options_.program));
    return GraphCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& command_;
  GraphOptions options_;
  ProgramFlags flags_;
};

class SimFlags : public CommandFlags {
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
                        "blackout=1,sick=1,stop=1,split=1,deaf=1,mute=1,link=1,"
                        "large=1,slow=1,"
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
    AddJsonFlags(command_, options_.json);
  }
  bool IsParsed() const override { return command_.parsed(); }
  bool KnowsPrograms() const override { return true; }
  absl::StatusOr<ExitCode> Run() override {
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

}  // namespace

std::unique_ptr<CommandFlags> AddCheckFlags(CLI::App& app,
                                            const Environment& environment) {
  return std::make_unique<CheckFlags>(app, environment);
}

std::unique_ptr<CommandFlags> AddExplainFlags(CLI::App& app) {
  return std::make_unique<ExplainFlags>(app);
}

std::unique_ptr<CommandFlags> AddFormatFlags(CLI::App& app) {
  return std::make_unique<FormatFlags>(app);
}

std::unique_ptr<CommandFlags> AddGraphFlags(CLI::App& app,
                                            const Environment& environment) {
  return std::make_unique<GraphFlags>(app, environment);
}

std::unique_ptr<CommandFlags> AddSimFlags(CLI::App& app,
                                          const Environment& environment) {
  return std::make_unique<SimFlags>(app, environment);
}

}  // namespace dogged
