// OneAgent: an agent's part in a job, whose peers are the messages that a test
// writes and reads.
#ifndef DOGGED_TESTS_AGENT_ONE_AGENT_H_
#define DOGGED_TESTS_AGENT_ONE_AGENT_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/graph/builder.h"
#include "runtime/job/job_run.h"
#include "tests/exec/programs.h"

namespace dogged {

inline constexpr AgentId kSelf(1);
inline constexpr AgentId kPeer(2);
inline constexpr AgentId kThird(3);
inline constexpr JobId kJob(7);

// Keeps what it gets until the test lets it run.
class HeldTasks : public Executor {
 public:
  void Submit(ReadyTask task) override { tasks_.push_back(std::move(task)); }
  void Poll(std::vector<Completion>&) override {}
  int worker_count() const override { return 1; }
  int processor_count() const override { return processors; }
  int RunnableWorkers() const override { return runnable_workers; }
  int64_t unfinished_count() const override {
    return others + std::ssize(tasks_);
  }
  std::vector<ReadyTask> TakeAll() { return std::exchange(tasks_, {}); }

  int processors = 1;
  int runnable_workers = 1;
  int64_t others = 0;  // tasks of other jobs

 private:
  std::vector<ReadyTask> tasks_;
};

// The kind of a message about labels, or about other things of a job.
struct MessageKind {
  MessageKind(LabelMessage kind) : value(static_cast<uint8_t>(kind)) {}
  MessageKind(JobMessage kind) : value(static_cast<uint8_t>(kind)) {}
  uint8_t value;
};

// Its values have so many bytes, as it foretells; 0: that is not known.
class KernelOfBytes : public FunctionKernel {
 public:
  explicit KernelOfBytes(int64_t bytes)
      : FunctionKernel(AddUp), bytes_(bytes) {}
  ByteCounts OutputBytes(const Task&) const override {
    return bytes_ == 0 ? ByteCounts() : ByteCounts({bytes_});
  }

 private:
  const int64_t bytes_;
};

// Time stands still but for Pass().
class OneAgent {
 public:
  explicit OneAgent(Program program, JobOptions options = {.replicas = 1},
                    MulticastPlan plan = MulticastPlan::kFlat,
                    int64_t output_bytes = 0)
      : job_(std::make_shared<Job>(Job{.program = std::move(program)})),
        multicast_(kSelf, plan, Limits{}),
        run_({.self = kSelf,
              .id = kJob,
              .job = job_,
              .kernels = Kernels(job_->program, output_bytes),
              .options = options,
              .limits = limits_,
              .executor = &tasks_,
              .multicast = &multicast_,
              .queued_bytes = [this](AgentId) { return queued_bytes; },
              .rng = Rng(1)}) {
    out_.wake_early = [this](AgentId to) { woken_early_.push_back(to); };
    std::vector<Member> members;
    for (const AgentId agent : {kSelf, kPeer, kThird}) {
      members.push_back({.id = agent, .host = agent.ToString()});
    }
    multicast_.SetView(std::make_shared<View>(std::move(members)));
    run_.SetMembers({now_, out_}, {.members = Placed(), .salts = nullptr});
    Pass(2 * limits_.handover_max);  // nobody has anything to hand over
  }

  // Group of an array whose labels have one key, and their home at `agent`.
  static int32_t GroupAt(AgentId agent) { return GroupAt({agent}); }
  // Likewise; each of `agents` becomes the home once those before it have died.
  static int32_t GroupAt(std::initializer_list<AgentId> agents) {
    const Placement placement(Placed(), static_cast<int>(agents.size()));
    int32_t group = 1;
    while (!absl::c_equal(
        placement.Ranks(static_cast<uint64_t>(group)).first(agents.size()),
        agents)) {
      ++group;
    }
    return group;
  }

  JobRun& run() { return run_; }
  HeldTasks& tasks() { return tasks_; }

  void Receive(AgentId from, MessageKind kind, const Bytes& body) {
    ASSERT_TRUE(TryReceive(from, kind, body.view()).ok());
    run_.Feed({now_, out_});
  }
  absl::Status TryReceive(AgentId from, MessageKind kind,
                          absl::string_view body) {
    return run_.Receive({now_, out_}, from, kind.value, Bytes::CopyOf(body));
  }
  void Complete(ReadyTask task, ValueList outputs,
                absl::Status status = absl::OkStatus(),
                absl::Duration elapsed = absl::ZeroDuration()) {
    run_.OnCompletion({now_, out_}, {.job = kJob,
                                     .task = task.task,
                                     .outputs = std::move(outputs),
                                     .inputs = std::move(task.inputs),
                                     .status = std::move(status),
                                     .elapsed = elapsed});
  }
  void Pass(absl::Duration time) {
    now_ += time;
    run_.Tick({now_, out_});
    run_.Feed({now_, out_});
  }
  void Adopt(const CarriedOver& carried) {
    run_.AdoptCarriedOver({now_, out_}, carried);
  }
  void OnDisk(const ValueStore::Event& event) {
    run_.OnDisk({now_, out_}, event);
    run_.Feed({now_, out_});
  }
  void Want(const Label& label) {
    run_.RequestResult({now_, out_}, label, RequestKind::kMake);
  }
  // All others die, or all but these.
  void StayAlone() { StayWith({}); }
  void StayWith(std::initializer_list<AgentId> others) {
    std::vector<PlacementMember> members = {
        {.agent = kSelf, .host = kSelf.ToString()}};
    for (const AgentId other : others) {
      members.push_back({.agent = other, .host = other.ToString()});
    }
    run_.SetMembers({now_, out_},
                    {.members = std::move(members), .salts = nullptr});
    run_.Feed({now_, out_});
  }
  // All three are on one host.
  void ShareHost() {
    std::vector<PlacementMember> members = Placed();
    for (PlacementMember& member : members) member.host = "here";
    run_.SetMembers({now_, out_},
                    {.members = std::move(members), .salts = nullptr});
    run_.Feed({now_, out_});
  }
  // Messages of `kind` since the last call: their targets and bodies.
  std::vector<std::pair<AgentId, std::string>> AllSent(MessageKind kind) {
    std::vector<std::pair<AgentId, std::string>> all;
    run_.SendBatches(out_);
    for (const Outbox::OutgoingMessage& wish :
         std::exchange(out_.messages, {})) {
      if (wish.kind == kind.value) {
        all.emplace_back(wish.to, std::string(wish.body.Join().view()));
      }
    }
    return all;
  }
  // The bodies of those to `to`.
  std::vector<std::string> Sent(AgentId to, MessageKind kind) {
    std::vector<std::string> bodies;
    for (auto& [target, body] : AllSent(kind)) {
      if (target == to) bodies.push_back(std::move(body));
    }
    return bodies;
  }
  // Demands sent to `to` since the last call.
  std::vector<DemandBody> Demanded(AgentId to) {
    std::vector<DemandBody> all;
    for (const std::string& bodies : Sent(to, LabelMessage::kDemand)) {
      const std::vector<DemandBody> some = DecodeDemand(bodies).value();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  // Bytes that wait for each of the others.
  int64_t queued_bytes = 0;
  // Agents woken early since the last call.
  std::vector<AgentId> WokenEarly() { return std::exchange(woken_early_, {}); }
  // Messages to `to` since the last call, by multicast too, that have `body`.
  int SentWith(AgentId to, const Bytes& body) {
    int count = 0;
    run_.SendBatches(out_);
    for (const Outbox::OutgoingMessage& wish :
         std::exchange(out_.messages, {})) {
      count += wish.to == to &&
               absl::StrContains(wish.body.Join().view(), body.view());
    }
    return count;
  }

 private:
  static std::vector<PlacementMember> Placed() {
    std::vector<PlacementMember> out;
    for (const AgentId agent : {kSelf, kPeer, kThird}) {
      out.push_back({.agent = agent, .host = agent.ToString()});
    }
    return out;
  }
  static std::shared_ptr<const KernelTable> Kernels(const Program& program,
                                                    int64_t output_bytes) {
    auto out = std::make_shared<KernelTable>();
    for (size_t i = 0; i < program.kernels.size(); ++i) {
      out->push_back(std::make_unique<KernelOfBytes>(output_bytes));
    }
    return out;
  }

  const std::shared_ptr<const Job> job_;
  const JobLimits limits_;
  HeldTasks tasks_;
  Multicast multicast_;
  JobRun run_;
  Outbox out_;
  std::vector<AgentId> woken_early_;
  absl::Time now_ = absl::UnixEpoch();
};

// A message about all these labels.
inline Bytes Joined(std::initializer_list<Bytes> bodies) {
  std::string out;
  for (const Bytes& body : bodies) {
    out.append(body.data(), static_cast<size_t>(body.size()));
  }
  return Bytes(std::move(out));
}

inline Value Sealed(Value value) {
  value.Seal();
  return value;
}

// An array of one row, all of it at home at `home`.
inline int32_t AddRow(ProgramBuilder& b, const std::string& name,
                      AgentId home) {
  return b.AddArray({.name = name,
                     .rank = 1,
                     .affinity_block = {0},
                     .affinity_group = OneAgent::GroupAt(home),
                     .version_index = 0});
}

// first -> second -> last, each a row at home somewhere; last is the result.
inline Program Chain(AgentId first, AgentId second, AgentId last) {
  ProgramBuilder b("chain");
  const AffineExpr t = AffineExpr::Index(0);
  const int32_t add = b.AddKernel({"add", "test", ""});
  std::optional<int32_t> before;
  const std::vector<std::pair<std::string, AgentId>> rows = {
      {"first", first}, {"second", second}, {"last", last}};
  for (const auto& [name, home] : rows) {
    const int32_t row = AddRow(b, name, home);
    TaskClass made{.name = name,
                   .domain = Domain::Box({{"t", 0, 0}}),
                   .creates = {{row, {t}}},
                   .kernel = add};
    if (before.has_value()) made.uses = {{*before, {t}, {}}};
    b.AddClass(made);
    before = row;
  }
  b.AddResult(*before, Domain::Box({{"t", 0, 0}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

// `width` tasks of the peer read one label of this agent.
inline Program Fan(int64_t width) {
  Program program = WideRelease(width);
  program.arrays[0].affinity_group = OneAgent::GroupAt(kSelf);
  program.arrays[1].affinity_group = OneAgent::GroupAt(kPeer);
  program.arrays[1].affinity_block = {0};
  return program;
}

// `program` with all its labels at home at `agent`.
inline Program AllAt(AgentId agent, Program program) {
  for (Array& array : program.arrays) {
    array.affinity_group = OneAgent::GroupAt(agent);
    array.affinity_block =
        std::vector<int64_t>(static_cast<size_t>(array.rank), 0);
  }
  return program;
}

// Leaves 0 ... `last` of one row, results from `first_result` on.
inline Program Leaves(AgentId home, int64_t last, int64_t first_result = 0) {
  ProgramBuilder b("leaves");
  const int32_t x = AddRow(b, "x", home);
  b.AddClass({.name = "leaf",
              .domain = Domain::Box({{"i", 0, last}}),
              .creates = {{x, {AffineExpr::Index(0)}}},
              .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(x, Domain::Box({{"i", first_result, last}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

}  // namespace dogged

#endif  // DOGGED_TESTS_AGENT_ONE_AGENT_H_
