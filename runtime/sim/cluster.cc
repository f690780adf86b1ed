#include "runtime/sim/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"
#include "runtime/base/status.h"
#include "runtime/job/job_run.h"
#include "runtime/sim/cluster_node.h"

namespace dogged {

namespace {

// From the start of one agent to that of the next.
constexpr absl::Duration kStartInterval = absl::Milliseconds(3);

constexpr int kNamedContacts = 4;

// Stands for the digest of results: no language is at hand here.
absl::StatusOr<Digest> HashDigests(
    const Program& program,
    const std::function<absl::StatusOr<Value>(const Label&)>& lookup) {
  const Relations relations(program);
  absl::btree_map<Label, Digest> digests;
  absl::Status status;
  relations.ForEachResult([&](const Label& label) {
    const absl::StatusOr<Value> value = lookup(label);
    status.Update(value.status());
    if (value.ok()) digests[label] = value->digest();
    return status.ok();
  });
  if (!status.ok()) return status;
  return DigestOfDigests(digests);
}

}  // namespace

Digest DigestOfDigests(const absl::btree_map<Label, Digest>& digests) {
  Encoder out;
  for (const auto& [label, digest] : digests) {
    label.Encode(out);
    out.PutU64(digest.low);
    out.PutU64(digest.high);
  }
  return Hash128(out.Take());
}

Cluster::Cluster(const SimOptions& options, std::string encoded_job,
                 KernelLoader load_kernels)
    : options_(options),
      encoded_job_(std::move(encoded_job)),
      load_kernels_(std::move(load_kernels)),
      rng_(Rng(options.seed).Stream("cluster")),
      network_(queue_, options.faults.network,
               Rng(options.seed).Stream("network"), options.trace) {
  if (options_.limits.outbox_bytes_max < Limits{}.outbox_bytes_max) {
    network_.SetQueueBytesMax(options_.limits.outbox_bytes_max);
  }
  if (options_.job_limits.generation_interval == 0) {
    Rng limits = Rng(options.seed).Stream("limits");
    options_.job_limits.generation_interval =
        limits.Chance(0.5) ? JobLimits{}.generation_interval
                           : 1 + limits.Below(6);
  }
  if (options_.job_limits.credit_bytes < 0) {
    // Enough, or none: all is announced first.
    options_.job_limits.credit_bytes =
        Rng(options.seed).Stream("credit").Chance(0.25)
            ? 0
            : JobLimits{}.credit_bytes;
  }
  if (options_.job_limits.copies.labels_max < 0) {
    Rng limits = Rng(options.seed).Stream("copies");
    options_.job_limits.copies.labels_max =
        limits.Chance(0.5) ? CopyLimits{}.labels_max : limits.Below(4);
  }
  if (options_.job_limits.cuts.loss_interval == absl::ZeroDuration()) {
    // Cuts as often as there is room, now and then, or none but by chance.
    constexpr absl::Duration kIntervals[] = {
        absl::Milliseconds(1), absl::Seconds(10), absl::Hours(24)};
    options_.job_limits.cuts.loss_interval = kIntervals
        [Rng(options.seed).Stream("losses").Below(std::size(kIntervals))];
  }
  if (options_.job_limits.cut_bytes_min < 0) {
    options_.job_limits.cut_bytes_min =
        Rng(options.seed).Stream("released").Chance(0.5)
            ? 0
            : JobLimits{}.cut_bytes_min;
  }
  if (options_.job_limits.batch_bytes_max < 0) {
    // Each alone, a few, or many.
    constexpr int64_t kSizes[] = {0, 100, JobLimits{}.batch_bytes_max};
    options_.job_limits.batch_bytes_max =
        kSizes[Rng(options.seed).Stream("bulks").Below(std::size(kSizes))];
  }
  if (options_.arena_bytes < 0) {
    // None, too little for all, or enough.
    constexpr int64_t kSizes[] = {0, 2048, 1 << 18, 1 << 18};
    options_.arena_bytes =
        kSizes[Rng(options.seed).Stream("arena").Below(std::size(kSizes))];
  }
  if (!options_.gathers_first.has_value()) {
    options_.gathers_first = Rng(options.seed).Stream("gathers").Chance(0.5);
  }
}

Cluster::~Cluster() = default;

Cluster::Node* Cluster::AddNode(std::shared_ptr<SimDisk> disk,
                                Sickness sickness) {
  return AddIncarnation(std::move(disk), nullptr, sickness);
}

void Cluster::Restart(const Node& crashed) {
  AddIncarnation(crashed.disk, &crashed, crashed.sickness);
}

Cluster::Node& Cluster::AddProcess(const Node* predecessor) {
  // As a user names some: each may die before this one has met it. A process
  // that is started again is told the same.
  absl::btree_set<std::string> named;
  if (predecessor != nullptr) named = predecessor->named;
  const bool goes_on = predecessor != nullptr && !predecessor->crashed;
  for (int i = 0; i < kNamedContacts && !goes_on; ++i) {
    const Node* other = RandomNode();
    if (other == nullptr && !nodes_.empty()) other = rng_.Pick(nodes_).get();
    if (other != nullptr) named.insert(AddressOf(other->place));
  }
  nodes_.push_back(std::make_unique<Node>());
  Node& node = *nodes_.back();
  node.id = AgentId(rng_.Next() | 1);
  node.place = predecessor != nullptr ? predecessor->place : next_place_++;
  if (goes_on) {
    node.contacts = predecessor->contacts;
    node.contacts->BeginAnew();
    node.arena = predecessor->arena;
  } else {
    node.contacts = std::make_shared<Contacts>(std::vector<std::string>());
    for (const std::string& address : named) node.contacts->AddGiven(address);
  }
  node.named = std::move(named);
  return node;
}

Cluster::Node* Cluster::AddIncarnation(std::shared_ptr<SimDisk> disk,
                                       const Node* predecessor,
                                       Sickness sickness) {
  Node& node = AddProcess(predecessor);
  node.sickness = sickness;
  node.host = absl::StrCat("host", node.place % options_.hosts);
  if (node.arena == nullptr && options_.arena_bytes > 0) {
    arenas_.push_back(
        std::make_unique<SimArena>(processes_, node.host, options_.arena_bytes,
                                   options_.arena_value_bytes_min));
    node.arena = arenas_.back().get();
  }
  const auto wake = [this, &node] { Wake(node); };
  node.transport = std::make_unique<SimNetwork::Endpoint>(network_, node.id,
                                                          wake, node.place);
  node.executor = std::make_unique<SimExecutor>(
      queue_, options_.workers, options_.task_time * SlownessOf(sickness),
      rng_.Stream(absl::StrCat("executor", nodes_.size())), wake, node.arena);
  node.executor->Trace(node.id, options_.trace);
  if (sickness == Sickness::kNoValues) node.executor->LackMemory(0.5);
  if (options_.compares_made) {
    node.executor->OnEnded([this](const Completion& done) { NoteMade(done); });
  }
  node.background = std::make_unique<SimBackground>(
      queue_, CompileTime(sickness, options_.compile_time),
      rng_.Stream(absl::StrCat("background", nodes_.size())), wake);
  node.foreign = static_cast<int>(nodes_.size()) <= options_.foreign_agents;
  AgentOptions agent_options;
  agent_options.self.id = node.id;
  agent_options.is_reborn = predecessor != nullptr && !predecessor->crashed;
  agent_options.looks_for_others = node.contacts->size() > 0;
  agent_options.self.numeric_class =
      node.foreign ? "foreign" : job_->numeric_class;
  agent_options.self.host = node.host;
  agent_options.self.control_address = AddressOf(node.place);
  agent_options.self.fabric_address = node.transport->address();
  agent_options.self.workers = options_.workers;
  if (node.arena != nullptr) {
    agent_options.self.arena = node.arena->address();
    agent_options.shared_memory = node.arena;
    // As in `dogged agent`: a lent value can't be evicted.
    agent_options.lending.lent_bytes_max =
        options_.job_limits.memory_bytes_max / 8;
    agent_options.lending.recount_first =
        absl::Milliseconds(20 << Rng(options_.seed).Stream("recount").Below(6));
  }
  agent_options.self.topology_id = *TopologyId::Parse(absl::StrCat(
      (nodes_.size() / 64) % 8, (nodes_.size() / 8) % 8, nodes_.size() % 8));
  agent_options.seed = rng_.Next();
  agent_options.job_limits = options_.job_limits;
  agent_options.limits = options_.limits;
  if (sickness == Sickness::kShortMemory) {
    agent_options.job_limits.memory_bytes_max = kShortMemoryBytes;
  }
  agent_options.limits.stream_bytes_min = options_.stream_bytes_min;
  agent_options.live_bytes = [this, &node] { return LiveBytes(node); };
  agent_options.keeps_values = options_.directories;
  if (options_.directories || options_.spill) {
    node.disk = disk != nullptr ? disk : std::make_shared<SimDisk>();
    DiskFaults faults = options_.disk;
    if (sickness == Sickness::kFullDisk) faults.bytes_max = 1;
    node.engine = std::make_unique<SimEngine>(
        queue_, *node.disk, faults,
        rng_.Stream(absl::StrCat("disk", nodes_.size())), wake);
    agent_options.engine = node.engine.get();
  }
  node.agent = std::make_unique<Agent>(
      std::move(agent_options), *node.transport, *node.executor,
      *node.background,
      JobTools{SickLoader(load_kernels_, sickness), HashDigests});
  Wake(node);
  return &node;
}

Sickness Cluster::SicknessOf(int agent) const {
  const auto at = static_cast<size_t>(agent);
  return at < options_.sick_agents.size() ? options_.sick_agents[at]
                                          : Sickness::kNone;
}

Sickness Cluster::DrawSickness() {
  if (options_.sick_joiner != Sickness::kNone) return options_.sick_joiner;
  return static_cast<Sickness>(1 + rng_.Below(kSicknesses));
}

int64_t Cluster::LiveBytes(const Node& node) const {
  return node.live_bytes +
         (billed_ == &node ? Value::LiveBytes() - live_before_ : 0);
}

void Cluster::Wake(Node& node) {
  if (billed_ == nullptr) Bill(node);
  if (node.woken || node.paused || node.agent == nullptr) return;
  node.woken = true;
  queue_.After(absl::ZeroDuration(), [this, &node] { RunNode(node); });
}

void Cluster::RunNode(Node& node) {
  node.woken = false;
  if (node.agent == nullptr || node.paused) return;
  Bill(node);
  SetValueMemory(node.arena);
  node.agent->RunOnce(queue_.now());
  SetValueMemory(nullptr);
  NoteEvents(node);
  if (node.agent->membership().view() != node.view) {
    node.view = node.agent->membership().view();
    disturbed_ = queue_.now();
  }
  if (const JobRun* run = node.agent->FindRun(job_id_); run != nullptr) {
    // To look at all of a run that holds much takes longer than an event.
    if (++unchecked_ * 4 >= run->held_count()) {
      unchecked_ = 0;
      run->CheckInvariants();
    }
    DOGGED_CHECK(!run->failure().ok() ||
                 run->running_count() <= node.executor->unfinished_count())
        << run->running_count() << " tasks count as running, and "
        << node.executor->unfinished_count() << " are at the executor";
    outcome_.held_labels_max =
        std::max(outcome_.held_labels_max, run->held_count());
    if (node.foreign) {
      outcome_.foreign_labels =
          std::max(outcome_.foreign_labels, run->held_count());
    }
  }
  if (node.agent->declared_dead()) {
    Rebirth(node);
    return;
  }
  if (node.leaving && node.agent->IsGone()) {
    outcome_.leave_time_max =
        std::max(outcome_.leave_time_max, queue_.now() - node.told_to_leave);
    CollectStats(node);
    node.agent.reset();
    if (node.arena != nullptr) node.arena->End();
    return;
  }
  KeepContacts(node);
  const absl::Time wake =
      std::min(node.agent->next_wake(), node.contacts->next_due());
  if (wake < absl::InfiniteFuture()) {
    queue_.At(std::max(wake, queue_.now() + absl::Microseconds(10)),
              [this, &node] { Wake(node); });
  }
}

void Cluster::Crash(Node& node) {
  CollectStats(node);
  node.crashed = true;
  const AgentId id = node.id;
  const int place = node.place;
  Bill(node);
  if (node.arena != nullptr) node.arena->End();
  node.agent.reset();
  node.background.reset();
  node.engine.reset();
  node.executor.reset();
  node.transport.reset();
  // Two others held life lines to it.
  for (int i = 0; i < 2; ++i) {
    queue_.After(absl::Milliseconds(1 + rng_.Below(5)), [this, id, place] {
      Node* witness = RandomNode();
      if (witness == nullptr || witness->id == id || witness->paused ||
          !network_.Reaches(place, witness->place, 0)) {
        return;
      }
      witness->agent->PeerDied(queue_.now(), id, "its connection closed");
      Wake(*witness);
    });
  }
}

void Cluster::Blackout() {
  for (size_t i = 0, count = nodes_.size(); i < count; ++i) {
    Node& node = *nodes_[i];
    if (node.agent == nullptr) continue;
    Crash(node);
    queue_.After(absl::Milliseconds(rng_.Below(500)),
                 [this, &node] { Restart(node); });
  }
}

void Cluster::Rebirth(Node& node) {
  CollectStats(node);
  ++outcome_.rebirths;
  Bill(node);
  SetValueMemory(node.arena);
  CarriedOver left = node.agent->TakeCarriedOver(job_id_);
  SetValueMemory(nullptr);
  node.agent.reset();
  node.background.reset();
  node.engine.reset();
  node.executor.reset();
  node.transport.reset();
  Node* reborn = AddIncarnation(node.disk, &node, node.sickness);
  for (const auto& [label, value] : left.values) {
    DOGGED_CHECK(value.IsNone() || Hash128(value.view()) == value.digest())
        << "carried over with other bytes";
    const int64_t bytes = value.bytes() + Value::kHeaderBytes;
    reborn->live_bytes += bytes;
    node.live_bytes -= bytes;
  }
  reborn->left = std::move(left);
}

Cluster::Node* Cluster::RandomNode() {
  std::vector<Node*> live;
  for (const auto& node : nodes_) {
    if (node->agent != nullptr && !node->leaving) live.push_back(node.get());
  }
  if (live.empty()) return nullptr;
  return rng_.Pick(live);
}

void Cluster::CollectStats(const Node& node) {
  if (node.agent == nullptr) return;
  if (const Lending* lending = node.agent->lending(); lending != nullptr) {
    outcome_.loans += lending->loan_count();
  }
  outcome_.spared += node.agent->streams().spared_count();
  outcome_.refused += node.agent->refused_count();
  const JobRun* run = node.agent->FindRun(job_id_);
  if (run == nullptr) return;
  outcome_.stats += run->stats();
  outcome_.agent_stats.push_back(run->stats());
  if (node.foreign) outcome_.foreign_tasks += run->stats().tasks_executed;
  if (node.sickness != Sickness::kNone)
    outcome_.sick_tasks += run->stats().tasks_executed;
}

// A digest of its own: to ask a value for one has it computed, which agents do
// when they need it.
void Cluster::NoteMade(const Completion& done) {
  if (!done.status.ok()) return;
  relations_->ForEachCreated(done.task, [&](int create, const Label& label) {
    made_[label].insert(
        Hash128(done.outputs[static_cast<size_t>(create)].view()));
  });
}

// `node` and the first client's contact are members for each other, and no cut
// lies between them.
bool Cluster::IsNearClient(const Node& node) const {
  const Node* contact = clients_.front().contact;
  if (contact == nullptr || contact->agent == nullptr) return false;
  const auto sees = [this](const Node& one, const Node& other) {
    return one.agent->membership().view()->Contains(other.id) &&
           network_.Reaches(one.place, other.place, 0);
  };
  return contact == &node || (sees(*contact, node) && sees(node, *contact));
}

void Cluster::CountUnequal() {
  for (const auto& node : nodes_) {
    if (node->agent == nullptr) continue;
    const JobRun* run = node->agent->FindRun(job_id_);
    outcome_.is_failing |= run != nullptr && !run->failure().ok();
  }
  for (const auto& [label, made] : made_) {
    if (made.size() < 2) continue;
    ++outcome_.unequal_labels;
    absl::btree_set<Digest> known;
    const auto result = clients_.front().results.find(label);
    if (result != clients_.front().results.end()) known.insert(result->second);
    for (const auto& node : nodes_) {
      if (node->agent == nullptr || !IsNearClient(*node)) continue;
      const JobRun* run = node->agent->FindRun(job_id_);
      if (run == nullptr) continue;
      const std::optional<Digest> digest = run->KnownDigest(label);
      if (digest.has_value()) known.insert(*digest);
    }
    if (known.size() > 1) {
      fprintf(stderr, "TWO %s\n", job_->program.LabelText(label).c_str());
      for (auto& n : nodes_) {
        if (!n->agent) continue;
        const JobRun* run = n->agent->FindRun(job_id_);
        auto d = run ? run->KnownDigest(label) : std::nullopt;
        fprintf(stderr,
                " node %s place %d near %d contact %d knows %s held %d home? "
                "fail %d\n",
                n->id.ToString().c_str(), n->place, IsNearClient(*n),
                clients_[0].contact == n.get(),
                d ? d->ToString().c_str() : "none",
                run ? (int)run->held_count() : -1,
                run ? (int)!run->failure().ok() : -1);
      }
      fprintf(stderr, "result %d\n",
              (int)(result != clients_[0].results.end()));
    }
    if (known.size() > 1) ++outcome_.unequal_known;
  }
}

SimOutcome Cluster::Run() {
  const std::string context = absl::StrCat("seed ", options_.seed);
  SetCheckContext(context.c_str());
  job_ = std::make_unique<Job>(*Job::Decode(encoded_job_));
  relations_ = std::make_unique<Relations>(job_->program);
  // For a loop, the tasks of all rounds that there may be, until it has ended.
  outcome_.tasks_needed = job_->program.TaskCount();
  clients_.push_back(
      {.submission = SubmissionId(1), .rounds = Rounds(*relations_)});
  ListResults(clients_.front());
  job_id_ = JobId(JobHash(encoded_job_).high);
  Node* first = AddNode(nullptr, SicknessOf(0));
  if (!*options_.gathers_first) Submit(*first, clients_[0].submission);
  for (int i = 1; i < options_.agents; ++i) {
    queue_.After(i * kStartInterval,
                 [this, i] { AddNode(nullptr, SicknessOf(i)); });
  }
  if (*options_.gathers_first) {
    SubmitToAll();
  } else {
    // Faults are for agents that have met.
    queue_.After((options_.agents + 1) * kStartInterval, [this] { Begin(); });
  }
  // Long enough for one agent to do all of it several times.
  const absl::Time limit =
      queue_.now() + options_.time_max +
      4 * static_cast<double>(outcome_.tasks_needed) * options_.task_time;
  const absl::Time start = queue_.now();
  while (!finished_ && queue_.now() < limit) {
    billed_ = nullptr;
    live_before_ = Value::LiveBytes();
    if (!queue_.RunNext()) break;
    if (billed_ == nullptr) continue;
    billed_->live_bytes += Value::LiveBytes() - live_before_;
    outcome_.live_bytes_max =
        std::max(outcome_.live_bytes_max, billed_->live_bytes);
  }
  billed_ = nullptr;
  if (finished_ && outcome_.status.ok() &&
      options_.heals_within > absl::ZeroDuration()) {
    AwaitOneView(queue_.now() + options_.heals_within);
  }
  if (!finished_) {
    outcome_.status = absl::DeadlineExceededError(
        absl::StrCat(WhatIsMissing(), " after ",
                     absl::FormatDuration(queue_.now() - start)));
  }
  for (const auto& node : nodes_) {
    CollectStats(*node);
    if (node->agent != nullptr && node->disk != nullptr) {
      outcome_.disk_bytes += node->disk->bytes;
    }
  }
  CountUnequal();
  const Rounds& rounds = clients_.front().rounds;
  if (rounds.IsLoop() && rounds.HasEnded()) {
    outcome_.tasks_needed = rounds.TaskCount();
  }
  outcome_.trace_digest = network_.trace_digest();
  outcome_.messages = network_.sent_count();
  outcome_.elapsed = queue_.now() - start;
  outcome_.undisturbed = queue_.now() - disturbed_;
  SetCheckContext("");
  return outcome_;
}

}  // namespace dogged
