// ClusterClient: the client's side of a running cluster. Talks to one agent at
// a time and goes on with another one when that one is gone. Blocking, with
// deadlines; used by one thread.
#ifndef DOGGED_APPS_DOGGED_CLIENT_CLUSTER_CLIENT_H_
#define DOGGED_APPS_DOGGED_CLIENT_CLUSTER_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "apps/dogged/client/agent_addresses.h"
#include "apps/dogged/client/collected_results.h"
#include "routing/control/control_client.h"
#include "routing/trust/credentials.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/clock.h"
#include "runtime/graph/job.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/rounds.h"

namespace dogged {

// As ControlClient::Connect().
using ConnectControl =
    std::function<absl::StatusOr<std::unique_ptr<ControlCaller>>(
        absl::string_view address, absl::Duration timeout)>;

// With credentials as their files are at the time of each connection; without
// any if null.
ConnectControl ConnectWith(std::shared_ptr<Credentials> credentials);

class ClusterClient {
 public:
  // Agents that don't say within this how they are, are left out.
  static constexpr absl::Duration kStatusPatience = absl::Seconds(1);
  // For the one that a user named and waits for.
  static constexpr absl::Duration kNamedPatience = absl::Seconds(10);

  struct Options {
    // Agents that are named have so long to say how they are, while no other
    // one is known.
    absl::Duration patience = kStatusPatience;
    // Results that are read where they lie, until all are here: to copy them
    // takes processors that the last tasks need. Of more the oldest are copied,
    // so that this much is left to do in the end. Less than an agent lends.
    int64_t lent_bytes_max = int64_t{1} << 30;
    // Results that are here as bytes; more of them go to a file in the first of
    // the folders that takes one.
    int64_t results_bytes_max = std::numeric_limits<int64_t>::max();
    std::vector<std::string> result_folders;
    bool collects = true;  // results of the job that it submits
    ConnectControl connect = ConnectWith(nullptr);
  };
  // `addresses`: control ports of running agents, at least one of which takes
  // the connection. Errors: kUnavailable naming them; kNotFound for what is no
  // address.
  static absl::StatusOr<std::unique_ptr<ClusterClient>> Connect(
      std::vector<std::string> addresses, Options options);

  // Gives the job to the cluster and starts to collect its results.
  // `relations` and `job` outlive the client, which gives agents the job's
  // large inputs as they ask.
  // `text_hash` is that of the program, see TextHash().
  absl::Status Submit(const Job& job, SubmissionId submission,
                      const JobOptions& options, const Relations& relations,
                      uint64_t text_hash);
  // Collects the results of a job that the cluster has, as of Submit(); nobody
  // gives it inputs. `relations` outlives the client. Of a job that is done it
  // can be some of its results alone: `labels`, if there are any.
  absl::Status Attach(const JobRecord& record, const Relations& relations,
                      const std::vector<Label>& labels = {});
  // The value of a job, from any agent that has it, which becomes the contact.
  // Errors: kNotFound if no agent has it; kInvalidArgument if it can't be read.
  absl::StatusOr<Job> FetchJob(const Digest& hash);
  using Bound = std::vector<std::pair<Label, Value>>;
  // Labels of a job that were bound of late; waits for one as long as
  // `patience`. The first call asks for all of `labels`: each comes as soon as
  // it is bound, and nothing is made for it. Errors: as Collect().
  absl::StatusOr<Bound> Watch(JobId job, const std::vector<Label>& labels,
                              absl::Duration patience);
  // The part of `labels` that some agent holds now. Errors: as Collect().
  absl::StatusOr<Bound> TakeHeld(JobId job, std::vector<Label> labels);
  // Gives agents inputs that they ask for, for so long. Errors: as Collect().
  absl::Status Serve(absl::Duration time);
  // After kUnavailable: goes on with agents at these addresses instead of all
  // that were known, and gives them the job. Errors: as Collect().
  absl::Status Resume(std::vector<std::string> addresses);
  // Takes in what has come within `patience`. Fails over by itself, also from
  // an agent that PollStatus() found to be lost.
  //
  // Errors: kUnavailable if no known agent answers any more; kResourceExhausted
  //         without memory for what came, and all that had come is dropped;
  //         what the job failed of.
  absl::Status Collect(absl::Duration patience);
  bool HasAll() const {
    return !results_.HasMissing() && rounds_.has_value() && rounds_->HasEnded();
  }
  // How far the job's loop has come, as agents say.
  const Rounds& rounds() const { return *rounds_; }
  // None if it has not come. Errors: as ResultFile::Read().
  absl::StatusOr<Value> Find(const Label& label) const {
    return results_.Find(label);
  }
  // Agents of this host lend results: has them as its own now. False if some
  // were not what they were any more, and are missing again. Find() is to be
  // relied on after this. Errors: kResourceExhausted, as of Collect().
  absl::StatusOr<bool> CopyLent();
  int64_t lent_count() const { return results_.lent_count(); }  // ever
  int64_t found_count() const { return results_.found_count(); }
  // Of the large inputs: given to agents, some maybe again, and all.
  int64_t input_bytes_given() const { return input_bytes_given_; }
  int64_t input_bytes() const { return input_bytes_; }

  // Asks every agent that is known, or that one of these knows; those that do
  // not answer are left out.
  std::vector<StatusReply> PollStatus(const StatusRequest& request = {}) {
    return PollWithin(ShareOf(options_.patience, agent_count()), request);
  }
  // As PollStatus(), until somebody answers, but not longer than for
  // kNamedPatience. Errors: kUnavailable naming the agents, or in the words of
  // one that refuses this client for its key.
  absl::StatusOr<std::vector<StatusReply>> AwaitStatus(
      const StatusRequest& request = {});
  // Words of agents that refused this client for its key when they were last
  // asked, by address.
  const std::map<std::string, std::string>& refusals() const {
    return refusals_;
  }
  // As PollStatus(), of the submission of this client alone.
  std::vector<StatusReply> PollOwn() {
    return PollStatus(
        {.jobs = {.job = record_.job(), .submission = record_.submission}});
  }
  // A new agent's control port.
  void AddAddress(std::string address) { addresses_.Add(std::move(address)); }
  // All control ports that are known, those of silent agents last.
  std::vector<std::string> Addresses() { return addresses_.SilentLast(); }
  // Tells the cluster that the job has ended in this way, by another agent if
  // the one that it talks to has gone.
  absl::Status Conclude(JobRecord record);
  // Tells it that this client has the job's results, of this digest. They go
  // then, unless they stay for as long as JobOptions::keep_ms says.
  absl::Status ConcludeDone(const Digest& result_digest, bool they_stay);
  const JobRecord& record() const { return record_; }
  // Agents that this client knows of, alive or not.
  int agent_count() const { return static_cast<int>(addresses_.all().size()); }

 private:
  ClusterClient(std::vector<std::string> addresses, Options options)
      : options_(std::move(options)),
        addresses_(std::move(addresses), clock_),
        results_(options_.results_bytes_max, options_.result_folders) {}
  // How the agent at an address is. Errors: as of a connection.
  absl::StatusOr<StatusReply> AskStatus(const std::string& address,
                                        const Bytes& request,
                                        absl::Duration patience);
  // As PollStatus(), with so much patience with each that is named, while none
  // has answered. Writes waited_.
  std::vector<StatusReply> PollWithin(absl::Duration with_each,
                                      const StatusRequest& request);
  // Patience with each of so many agents, which share it.
  static absl::Duration ShareOf(absl::Duration patience, int64_t agents);
  // Takes what an agent knows of others and of this client's job.
  void NoteStatus(const StatusReply& reply);
  // Talks to the next agent that answers, and says all over again. Those that
  // were silent of late come last.
  absl::Status FailOver(const absl::Status& why);
  // Whether the contact says nothing, for a while or while no other agent holds
  // it for alive (a connection to a process that is stopped does not end), or
  // does not come by results that others have.
  bool IsContactLost(const std::vector<StatusReply>& replies);
  bool IsDoneSomewhere(const std::vector<StatusReply>& replies) const;
  absl::Status SendAll();
  absl::Status AskForMore();
  absl::Status TakeFrame(const ControlFrame& frame);
  absl::Status GiveChunks(absl::string_view wanted);
  // The part of `labels` that the agent behind `client` holds.
  static absl::StatusOr<Bound> TakeHeldOf(ControlCaller& client, JobId job,
                                          const std::vector<Label>& labels);
  // Copies what is lent beyond that, and gives it back.
  absl::Status ReturnBeyond(int64_t bytes);
  // What Collect() and CopyLent() do, but std::bad_alloc flies.
  absl::Status CollectOrThrow(absl::Duration patience);

  const Options options_;
  SystemClock clock_;
  AgentAddresses addresses_;  // agents that are known
  CollectedResults results_;  // of the job

  // The agent that it talks to; written by FailOver() and PollStatus().
  std::unique_ptr<ControlCaller> contact_;
  std::string contact_address_;
  bool is_contact_lost_ = false;
  bool is_watching_ = false;                            // Watch() has asked it
  absl::Time contact_answered_ = absl::InfinitePast();  // as to its status
  absl::Time results_came_ = absl::InfinitePast();
  absl::Duration waited_;  // for answers, in the last PollWithin()
  std::map<std::string, std::unique_ptr<ControlCaller>> status_clients_;
  std::map<std::string, std::string> refusals_;

  // The job; written by Submit().
  std::vector<JobInput> inputs_;  // of it, cut
  int64_t input_bytes_ = 0;
  int64_t input_bytes_given_ = 0;  // by GiveChunks()
  std::string encoded_job_;
  JobOptions job_options_;
  JobRecord record_;
  std::optional<Rounds> rounds_;  // raised by what agents say
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_CLUSTER_CLIENT_H_
