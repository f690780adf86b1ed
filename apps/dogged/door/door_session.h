// DoorSession: what a client of the door has here: one cluster, own agents or
// those of others, and jobs; and the loop that answers its requests while jobs
// go on. docs/JSON.md has the requests.
//
// Used by one thread.
#ifndef DOGGED_APPS_DOGGED_DOOR_DOOR_SESSION_H_
#define DOGGED_APPS_DOGGED_DOOR_DOOR_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/door/door_channel.h"
#include "apps/dogged/door/door_job.h"
#include "apps/dogged/door/door_request.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/run/local_agents.h"
#include "apps/dogged/run/run_options.h"
#include "runtime/base/random.h"

namespace dogged {

class DoorSession {
 public:
  // Both outlive it.
  DoorSession(DoorChannel& channel, const Environment& environment);
  DoorSession(const DoorSession&) = delete;
  DoorSession& operator=(const DoorSession&) = delete;

  // Until the client has gone. Own agents end then, and their jobs with them.
  void Run();

 private:
  // An answer: fields, and descriptors that go with them.
  struct Answer {
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();
    std::vector<OwnedDescriptor> descriptors;
  };
  void Serve(absl::string_view line);
  absl::StatusOr<Answer> Do(const DoorRequest& request);
  absl::StatusOr<Answer> Check(const DoorRequest& request);
  absl::StatusOr<Answer> Sim(const DoorRequest& request);
  absl::StatusOr<Answer> Open(const DoorRequest& request);
  absl::StatusOr<Answer> Start(const DoorRequest& request);
  absl::StatusOr<Answer> Submit(const DoorRequest& request);
  absl::StatusOr<Answer> Attach(const DoorRequest& request);
  // Results that a job's program has itself have the names of their arrays,
  // also where others of these arrays were wanted.
  void NameOwnResults(const Job& job, std::vector<NamedResult>& results) const;
  absl::StatusOr<Answer> Result(const DoorRequest& request);
  absl::StatusOr<Answer> Cancel(const DoorRequest& request);
  absl::StatusOr<Answer> Forget(const DoorRequest& request);
  absl::StatusOr<Answer> Status(const DoorRequest& request);

  // Descriptors that came with a request, which has to take them before
  // anything else: a line that is refused has taken its own, too.
  absl::StatusOr<std::vector<OwnedDescriptor>> TakeDescriptors(
      const DoorRequest& request);
  // The program that a request gives, compiled for `run`, whose `given` is set.
  absl::StatusOr<LoadedProgram> Load(const DoorRequest& request,
                                     RunOptions& run, GivenProgram& given,
                                     bool may_lack_inputs);
  absl::StatusOr<DoorJob*> JobOf(const DoorRequest& request);
  nlohmann::ordered_json OwnAgents() const;
  std::vector<std::string> Addresses() const;
  // Errors: kUnavailable if nobody answers, or all own agents have ended.
  absl::StatusOr<std::unique_ptr<ClusterClient>> ConnectToAgents() const;
  // Until own agents know one another.
  absl::Status AwaitViews(const std::shared_ptr<Credentials>& credentials);
  void Reap(absl::Duration patience);
  // Jobs go on for as long as `patience`, and say what happened.
  void StepJobs(absl::Duration patience);
  void Say(const nlohmann::ordered_json& object,
           const std::vector<OwnedDescriptor>& descriptors = {});

  DoorChannel& channel_;
  const Environment& environment_;
  const KernelSource kernels_;
  Rng rng_;
  bool is_open_ = false;
  bool has_gone_ = false;                // the client
  std::unique_ptr<LocalAgents> agents_;  // null: of others
  RunOptions cluster_;                   // of others; or how many are own
  std::map<int64_t, std::unique_ptr<DoorJob>> jobs_;
  int64_t last_job_ = 0;
  std::optional<nlohmann::ordered_json> diagnostics_;  // of the last program
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_DOOR_DOOR_SESSION_H_
