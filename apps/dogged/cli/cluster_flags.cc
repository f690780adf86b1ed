#include "apps/dogged/cli/cluster_flags.h"

#include "apps/dogged/client/cancel_command.h"
#include "apps/dogged/client/status_command.h"

namespace dogged {
namespace {

class ClusterFlags : public CommandFlags {
 public:
  ClusterFlags(CLI::App& app, const Environment& environment)
      : environment_(environment),
        status_(AddCommand(app, "status",
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
      AddKeyOptions(*command, options_.keys);
    }
    status_.add_flag("--json", options_.json, "print one JSON object");
    status_.add_flag("--all", options_.all,
                     "all jobs that ended, not only the last 20");
    cancel_.add_option("JOB", options_.job, "first digits of the job's hash")
        ->required();
  }
  bool IsParsed() const override {
    return status_.parsed() || cancel_.parsed();
  }
  absl::StatusOr<ExitCode> Run() override {
    return status_.parsed() ? StatusCommand(options_, environment_)
                            : CancelCommand(options_, environment_);
  }

 private:
  const Environment& environment_;
  CLI::App& status_;
  CLI::App& cancel_;
  ClusterOptions options_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddClusterFlags(CLI::App& app,
                                              const Environment& environment) {
  return std::make_unique<ClusterFlags>(app, environment);
}

}  // namespace dogged
