// DoorJob: a job of a client of the door, from its submission to the results,
// which lie in memory descriptors then. Advances when Step() is called, and
// says what happened.
//
// Used by one thread.
#ifndef DOGGED_APPS_DOGGED_DOOR_DOOR_JOB_H_
#define DOGGED_APPS_DOGGED_DOOR_DOOR_JOB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/door/door_channel.h"
#include "apps/dogged/jobs/result_watch.h"
#include "apps/dogged/report/member_news.h"
#include "apps/dogged/report/outputs.h"
#include "apps/dogged/report/run_report.h"
#include "apps/dogged/run/agent_losses.h"
#include "apps/dogged/run/loaded_program.h"
#include "runtime/base/clock.h"
#include "runtime/graph/relations.h"

namespace dogged {

// NamedResult: a result as its client calls it.
struct NamedResult {
  std::string name;  // "u", or as it was wanted: "u(:)(5)"
  Output output;
};

// The results of a program: its own by their arrays, with labels where an array
// has several, and those that were wanted, `wanted`, as they were written.
// Errors: kNotFound for a name that is no selection.
absl::StatusOr<std::vector<NamedResult>> ResultsOf(
    const LoadedProgram& program, const std::vector<std::string>& wanted);

class DoorJob {
 public:
  struct Options {
    SubmissionId submission;
    JobOptions job;
    std::vector<std::string> addresses;  // of agents
    ConnectControl connect;
    bool has_own_agents = false;  // whose deaths others tell of
    // Has NoteOwnLoss() told of those that have ended by now. A job that fails
    // for want of agents says which they were.
    std::function<void()> reap = nullptr;
    // Of a job that was attached to: the labels of what was wanted, once it is
    // known how its loop has ended.
    std::function<absl::StatusOr<std::vector<dsl::SelectedLabels>>(
        const Job& ended)>
        select = nullptr;
  };
  // A finished result, until it is handed over.
  struct Finished {
    ElementType type = ElementType::kDouble;
    Shape shape;
    OwnedDescriptor descriptor;
  };

  DoorJob(LoadedProgram program, std::vector<NamedResult> results,
          Options options);
  DoorJob(const DoorJob&) = delete;
  DoorJob& operator=(const DoorJob&) = delete;

  // Gives the job to the agents. Errors: as ClusterClient::Submit().
  absl::Status Submit();
  // In place of that: comes back for a job that agents have, which `client` has
  // found. It goes on, and its results stay, as if nobody had come. Errors: as
  // ClusterClient::Attach().
  absl::Status Attach(std::unique_ptr<ClusterClient> client, NamedJob named);
  // Works on for as long as `patience`. Afterwards TakeEvents() has news, the
  // last of which is "done" or "failed".
  void Step(absl::Duration patience);
  bool HasEnded() const { return has_ended_; }
  // Objects with "event", without the job's number.
  std::vector<nlohmann::ordered_json> TakeEvents();

  // An agent of this process's own has ended, or come.
  void NoteOwnLoss(const Loss& loss, const std::string& address);
  void NoteOwnAgent(const std::string& address, const std::string& name);
  // Ends the job for all of its clients. It fails as cancelled.
  absl::Status Cancel();
  // Errors: kNotFound for a name that no result has, or that was taken.
  absl::StatusOr<Finished> Take(const std::string& name);
  const std::string& hash() const { return hash_; }

 private:
  // Learns who the agents are, before the job is theirs.
  void NoteAgents(const std::vector<StatusReply>& replies);
  absl::Status StepOrFail(absl::Duration patience);
  absl::Status Poll();
  absl::Status SelectAtEnd(const Job& ended);
  // Makes the results, and says that the job is done.
  absl::Status Finish();
  RunReport ReportAt(absl::Time end) const;
  void Tell(const char* event, nlohmann::ordered_json fields);
  void TellProgress();
  int64_t TasksNeeded() const;

  SystemClock clock_;
  const LoadedProgram program_;
  std::vector<NamedResult> results_;
  const Options options_;
  const Relations relations_;
  const int64_t tasks_needed_;  // of a loop, for all rounds that may come
  std::unique_ptr<ClusterClient> client_;  // null once the job is done
  std::optional<ResultWatch> watch_;       // of a job that was attached to
  std::string hash_;
  absl::Time start_;
  absl::Time next_poll_ = absl::InfinitePast();
  bool has_ended_ = false;
  std::vector<nlohmann::ordered_json> events_;
  AgentLedger ledger_;
  AgentLosses losses_;
  MemberNews member_news_;
  int started_ = 0;
  std::set<std::string> told_;  // notes and troubles
  int64_t told_done_ = -1;
  std::map<std::string, Finished> finished_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_DOOR_DOOR_JOB_H_
