#include "apps/dogged/cli/cluster_flags.h"

#include "apps/dogged/client/cancel_command.h"
#include "apps/dogged/client/forget_command.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/client/status_command.h"
#include "apps/dogged/jobs/fetch_command.h"
#include "apps/dogged/jobs/get_command.h"
#include "apps/dogged/jobs/wait_command.h"
#include "apps/dogged/jobs/watch_command.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

class ClusterFlags : public CommandFlags {
 public:
  ClusterFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        status_(AddCommand(app, "status",
                           "dogged status --cluster 127.0.0.1:7070",
                           "Says who is there and how the jobs are doing.")),
        wait_(AddCommand(app, "wait",
                         "dogged wait --cluster 127.0.0.1:7070 3f2a91",
                         "Waits for the end of a job, named by the first "
                         "digits of its hash.")),
        fetch_(AddCommand(app, "fetch",
                          "dogged fetch --cluster 127.0.0.1:7070 3f2a91 "
                          "'phi(:)(100)=heat.npy'",
                          "Writes results of a job, once it is done; needs "
                          "neither its program nor its inputs.")),
        get_(AddCommand(app, "get",
                        "dogged get --cluster 127.0.0.1:7070 3f2a91 'u(3)(7)'",
                        "Prints the value of a label now, from an agent that "
                        "has it.")),
        watch_(AddCommand(app, "watch",
                          "dogged watch --cluster 127.0.0.1:7070 3f2a91 "
                          "'change(:)'",
                          "Prints a line for each label as it is bound, until "
                          "the job ends.")),
        cancel_(AddCommand(app, "cancel",
                           "dogged cancel --cluster 127.0.0.1:7070 3f2a91",
                           "Cancels a job, named by the first digits of its "
                           "hash.")),
        forget_(AddCommand(app, "forget",
                           "dogged forget --cluster 127.0.0.1:7070 3f2a91",
                           "Lets the results of a job go before --keep says "
                           "so.")) {
    for (CLI::App* command :
         {&status_, &wait_, &fetch_, &get_, &watch_, &cancel_, &forget_}) {
      AddClusterOption(*command, options_.cluster, options_.keys);
    }
    for (CLI::App* command : {&status_, &fetch_, &get_}) {
      AddJsonFlags(*command, options_.json);
    }
    AddJsonFlags(wait_, options_.json, /*has_events=*/true);
    status_.add_flag("--all", options_.all,
                     "all jobs that ended, not only the last 20");
    for (CLI::App* command :
         {&wait_, &fetch_, &get_, &watch_, &cancel_, &forget_}) {
      command->add_option("JOB", options_.job, "first digits of the job's hash")
          ->required();
    }
    for (CLI::App* command : {&get_, &watch_}) {
      command
          ->add_option("LABEL", options_.label,
                       "as 'u(3)(7)'; of watch also ranges, 'u(:)(0:7)'")
          ->required();
    }
    fetch_
        .add_option("OUTPUT", options_.outputs,
                    "as --output of run: 'phi(:)(100)=heat.npy'")
        ->type_name("SELECTION=FILE");
    AddFormFlags(fetch_, form_flags_);
    AddChoice(fetch_, "--output-to", options_.output_to, {"here", "agents"},
              "agents: each agent writes the values that it holds into the "
              ".npy files, on a file system that they share with this command");
  }
  bool IsParsed() const override {
    return status_.parsed() || wait_.parsed() || KnowsPrograms() ||
           cancel_.parsed() || forget_.parsed();
  }
  bool KnowsPrograms() const override {
    return fetch_.parsed() || get_.parsed() || watch_.parsed();
  }
  absl::StatusOr<ExitCode> Run() override {
    if (status_.parsed()) return StatusCommand(options_, environment_);
    DOGGED_RETURN_IF_ERROR(CheckDigits(options_.job, options_.cluster));
    if (wait_.parsed()) return WaitCommand(options_, environment_);
    DOGGED_ASSIGN_OR_RETURN(options_.output_form, FormOf(form_flags_));
    if (fetch_.parsed()) return FetchCommand(options_, environment_);
    if (get_.parsed()) return GetCommand(options_, environment_);
    if (watch_.parsed()) return WatchCommand(options_, environment_);
    if (forget_.parsed()) return ForgetCommand(options_, environment_);
    return CancelCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& status_;
  CLI::App& wait_;
  CLI::App& fetch_;
  CLI::App& get_;
  CLI::App& watch_;
  CLI::App& cancel_;
  CLI::App& forget_;
  ClusterOptions options_;
  FormFlags form_flags_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddClusterFlags(CLI::App& app,
                                              const Environment& environment) {
  return std::make_unique<ClusterFlags>(app, environment);
}

void AddClusterOption(CLI::App& command, std::string& cluster,
                      KeyChoice& keys) {
  command
      .add_option("--cluster", cluster,
                  "where agents are: HOST:PORT, file:DIR, dns:NAME:PORT; "
                  "several with commas")
      ->type_name("POINT")
      ->required()
      ->envname("DOGGED_CLUSTER");
  AddKeyOptions(command, keys);
}

}  // namespace dogged
