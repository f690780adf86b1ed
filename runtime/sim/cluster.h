// Cluster: many agents in one thread, one event queue, one seed. Runs a job
// under faults on production code and says whether the results are right.
#ifndef DOGGED_RUNTIME_SIM_CLUSTER_H_
#define DOGGED_RUNTIME_SIM_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/job_tools.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/limits.h"
#include "runtime/base/random.h"
#include "runtime/exec/executor.h"
#include "runtime/graph/job.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/rounds.h"
#include "runtime/job/context/job_options.h"
#include "runtime/job/context/job_stats.h"
#include "runtime/sim/background.h"
#include "runtime/sim/disk.h"
#include "runtime/sim/event_queue.h"
#include "runtime/sim/executor.h"
#include "runtime/sim/network.h"
#include "runtime/sim/shared_memory.h"
#include "runtime/sim/sickness.h"
#include "runtime/sim/trace.h"

namespace dogged {

// How many of each; times and agents are drawn from the seed.
struct FaultPlan {
  int crash = 0;      // an agent vanishes, for ever
  int pair = 0;       // two agents vanish at the same moment
  int restart = 0;    // vanishes and comes back as another incarnation
  int pause = 0;      // stands still for a while
  int join = 0;       // a new agent
  int leave = 0;      // hands over and goes
  int partition = 0;  // two parts hear nothing of each other for a while
  int blackout = 0;   // all vanish, and come back as other incarnations
  int sick = 0;       // a new agent with a sickness, drawn
  // The same for up to ten minutes; most times are much shorter.
  int stop = 0;   // an agent stands still
  int split = 0;  // two parts
  int deaf = 0;   // an agent hears nothing, but is heard
  int mute = 0;   // an agent is not heard, but hears
  int link = 0;   // of two agents one does not hear the other, or both
  int large = 0;  // messages of more than 600 bytes are lost between two
  int slow = 0;   // messages between two take up to 300 ms
  NetworkFaults network;

  // Some may last for ten minutes.
  bool HasLongFaults() const {
    return stop + split + deaf + mute + link + large + slow > 0;
  }
  // "crash=2,drop=0.05". Errors: kInvalidArgument naming the word.
  static absl::StatusOr<FaultPlan> Parse(absl::string_view text);
  int count() const {
    return crash + pair + restart + pause + join + leave + partition +
           blackout + stop + split + deaf + mute + link + large + slow + sick;
  }
};

struct SimOptions {
  int agents = 8;
  int workers = 1;
  // Number of the first agents that are of another numeric class than the job.
  int foreign_agents = 0;
  // Sicknesses of the first agents, and of an agent that joins as `sick`; kNone
  // of the latter: drawn.
  std::vector<Sickness> sick_agents;
  Sickness sick_joiner = Sickness::kNone;
  // False: the client dies once it has submitted, and the run is over when
  // every agent knows that the job is done.
  bool client_stays = true;
  // A second client attaches to the job, and begins to read, slowly, once the
  // first has all results and has told so.
  bool second_client = false;
  // All agents know each other when the job is submitted; false: the first
  // agent has the job before the rest join. None: drawn.
  std::optional<bool> gathers_first;
  uint64_t seed = 1;
  JobOptions job;
  FaultPlan faults;
  absl::Duration task_time = absl::Milliseconds(5);
  // Making the kernels of a job takes this long, on average.
  absl::Duration compile_time = absl::Milliseconds(50);
  // Faults are spread over this much time from the start; zero: over the time
  // that the tasks alone would take.
  absl::Duration fault_span;
  // Virtual time, beyond that of the tasks, after which a run counts as hung.
  absl::Duration time_max = absl::Minutes(2);
  // Hosts that the agents are spread over: copies avoid the host of the home.
  int hosts = 4;
  // Limits drawn from the seed. generation_interval 0: small in half of the
  // seeds. copies.labels_max -1: in half of the seeds hardly any copies without
  // a cut. credit_bytes -1: in a quarter of the seeds no credit.
  // batch_bytes_max -1: in a third of the seeds a label for each message, in a
  // third a few.
  JobLimits job_limits = {{.generation_interval = 0,
                           .copies = {.labels_max = -1},
                           .cuts = {.loss_interval = absl::ZeroDuration()},
                           .cut_bytes_min = -1,
                           .credit_bytes = -1,
                           .batch_bytes_max = -1}};
  // Each agent has a directory, which it finds again when it comes back.
  bool directories = false;
  // Agents write values even without directories, if memory is short.
  bool spill = false;
  DiskFaults disk;
  // Arenas that agents of a host share: bytes of each, and the length from
  // which on values lie there. -1: drawn; 0: nothing is shared.
  int64_t arena_bytes = -1;
  int64_t arena_value_bytes_min = 1;
  // Longer bodies travel as streams; a small one makes all values do so.
  int64_t stream_bytes_min = Limits{}.stream_bytes_min;
  // Time within which all agents must have the same view, after the results are
  // there and all links are mended; zero: not checked.
  absl::Duration heals_within;
  // Counts labels that were made with several digests, see SimOutcome.
  bool compares_made = false;
  // Job whose large inputs clients give to agents; outlives the cluster.
  const Job* inputs = nullptr;
  // Limits of routing. The bound of a queue holds for the network, too, if it
  // is smaller than the default.
  Limits limits;
  SimTrace trace;  // null: nobody looks
};

struct SimOutcome {
  // kDeadlineExceeded if it hung, the job's failure if it failed.
  absl::Status status;
  absl::btree_map<Label, Digest> results;
  absl::btree_map<Label, Digest> later_results;  // of the last client
  JobRecord record;  // the last seen; only without a client
  uint64_t trace_digest = 0;
  JobStats stats;                     // over all agents that ever were
  std::vector<JobStats> agent_stats;  // of each of them
  int64_t tasks_needed = 0;
  int faults_injected = 0;
  int64_t messages = 0;
  absl::Duration elapsed;         // virtual
  int64_t held_labels_max = 0;    // at any agent, at any event
  absl::Duration leave_time_max;  // from being told to leave to being gone
  int64_t foreign_tasks = 0;      // run by agents of another numeric class
  int64_t foreign_labels = 0;     // held by them, at most
  int64_t sick_tasks = 0;         // run by sick agents
  int64_t live_bytes_max = 0;     // of values, likewise
  int64_t disk_bytes = 0;         // of all disks, at the end
  int64_t loans = 0;              // values lent to others of the host
  int64_t spared = 0;             // offered to agents that had them
  int64_t refused = 0;            // messages that made no sense
  // Labels that were made with several digests: all; and those of which the
  // client, its contact and the members that this one reaches know several
  // digests at the end.
  int64_t unequal_labels = 0;
  int64_t unequal_known = 0;
  // An agent has just failed the job, and the client was done first.
  bool is_failing = false;
  absl::Duration undisturbed;  // since a view changed, or a cut healed
  int64_t rebirths = 0;        // agents that went on as another incarnation
};

// The result digest of a simulated job record.
Digest DigestOfDigests(const absl::btree_map<Label, Digest>& digests);

class Cluster {
 public:
  Cluster(const SimOptions& options, std::string encoded_job,
          KernelLoader load_kernels);
  ~Cluster();

  // Runs until the client has all results, or the time is up.
  SimOutcome Run();

 private:
  struct Node;
  struct Client {
    SubmissionId submission;
    Rounds rounds;                         // as far as it knows
    Node* contact = nullptr;               // agent that it talks to
    absl::btree_map<Label, bool> missing;  // asked for, or not
    absl::btree_map<Label, Digest> results;
    absl::Duration stands;  // that long after the first one is done
    absl::Time reads_from = absl::InfinitePast();
    bool is_done = false;
    // A client that has got nothing for a while of a job that is done asks
    // another agent.
    size_t missing_before = 0;
    absl::Time progressed = absl::InfinitePast();
  };

  // A process that is told of one that lives; the first one is told of nobody.
  // `disk` may be null: then it gets an empty one, if it is to have one.
  Node* AddNode(std::shared_ptr<SimDisk> disk = nullptr,
                Sickness sickness = Sickness::kNone);
  Sickness SicknessOf(int agent) const;  // by its number
  Sickness DrawSickness();
  // The process is started again, at the same address; with its directory.
  void Restart(const Node& crashed);
  // As `predecessor` a process goes on with another incarnation, or begins anew
  // if that has crashed.
  Node* AddIncarnation(std::shared_ptr<SimDisk> disk, const Node* predecessor,
                       Sickness sickness);
  // Without its agent and ports.
  Node& AddProcess(const Node* predecessor);
  // --- cluster_contacts.cc
  // What a process does with its contacts, see AgentLoop.
  void KeepContacts(Node& node);
  void Dial(Node& node, const std::string& address);
  void EndDial(Node& node, AgentId caller, const std::string& address,
               const std::optional<std::string>& answer);
  static std::string AddressOf(int place);
  Node* NodeAt(absl::string_view address);
  void NoteEvents(Node& node);
  // Mends all, and waits for one view until then.
  void AwaitOneView(absl::Time limit);
  void Wake(Node& node);
  void RunNode(Node& node);
  void Crash(Node& node);
  void Blackout();
  // Values that are made or dropped by this event are `node`'s.
  void Bill(Node& node) { billed_ = &node; }
  int64_t LiveBytes(const Node& node) const;
  // A node that was declared dead starts again as another incarnation.
  void Rebirth(Node& node);
  Node* RandomNode();
  // --- cluster_faults.cc
  void ScheduleFaults();
  void ScheduleLongFaults();
  void ScheduleFault(int count, std::function<void()> fault);
  void Pause(Node& node, absl::Duration time);
  absl::Duration LongTime();
  absl::btree_set<int> RandomHalf();
  // Two that live, by their places; none if there are not so many.
  std::optional<std::pair<int, int>> RandomPlaces();
  // `link` from one to the other, or both ways, for a long time.
  void Impair(int from, int to, SimNetwork::Link link, bool both);
  // --- cluster_client.cc
  void Submit(Node& node, SubmissionId submission);
  // As soon as all agents know one another.
  void SubmitToAll();
  void Begin();
  void AddSecondClient();
  void PollClients();
  bool PollClient(Client& client);
  bool IsStuck(Client& client);
  Node* RandomMember();
  // Tells `node` whether a client that it talks to supplies inputs.
  void SetSupplier(Node& node, bool is_there);
  void SupplyInputs();
  // Lists the results that a client misses, once the end of a loop is known.
  static void ListResults(Client& client);
  std::string WhatIsMissing() const;
  void SayDelivered(const Client& client);
  void AwaitDone();
  void CollectStats(const Node& node);
  void NoteMade(const Completion& done);
  bool IsNearClient(const Node& node) const;
  void CountUnequal();

  SimOptions options_;  // const after construction
  const std::string encoded_job_;
  const KernelLoader load_kernels_;
  Rng rng_;
  // Before all that may hold values.
  SimArena::Processes processes_;
  std::vector<std::unique_ptr<SimArena>> arenas_;
  EventQueue queue_;
  SimNetwork network_;
  std::vector<std::unique_ptr<Node>> nodes_;  // the dead included
  std::unique_ptr<Job> job_;
  std::unique_ptr<Relations> relations_;
  JobId job_id_;
  int next_place_ = 0;
  int64_t unchecked_ = 0;  // events since invariants were checked
  std::vector<Client> clients_;
  absl::btree_map<Label, absl::btree_set<Digest>> made_;  // if it compares
  absl::Time disturbed_ =
      absl::InfinitePast();  // a view has changed, or a cut healed
  Node* billed_ = nullptr;
  int64_t live_before_ = 0;  // of the whole process, before this event
  SimOutcome outcome_;
  bool finished_ = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_CLUSTER_H_
