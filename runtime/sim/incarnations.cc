#include "runtime/sim/incarnations.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"
#include "runtime/base/status.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

constexpr int kNamedContacts = 4;
// An outage waits for a directory to have the job, and agents come back within
// some seconds of it.
constexpr absl::Duration kOutageRetry = absl::Milliseconds(5);
constexpr int64_t kOutageMillis = 4000;

// Name of a job, and its value; see RecordStore.
bool HasJob(const SimDisk& disk) {
  for (const absl::string_view prefix : {"rjob/", "rvalue/"}) {
    const auto it = disk.content.lower_bound(std::string(prefix));
    if (it == disk.content.end() || !absl::StartsWith(it->first, prefix)) {
      return false;
    }
  }
  return true;
}

// Stands for the digest of results: no language is at hand here.
absl::StatusOr<Digest> HashDigests(
    const Program& program,
    const std::function<absl::StatusOr<Value>(const Label&)>& lookup) {
  const Relations relations(program);
  std::map<Label, Digest> digests;
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

SimNode& Incarnations::Add(std::shared_ptr<SimDisk> disk, Sickness sickness) {
  return AddIncarnation(std::move(disk), nullptr, sickness);
}

void Incarnations::Restart(const SimNode& crashed) {
  AddIncarnation(crashed.disk, &crashed, crashed.sickness);
}

SimNode& Incarnations::AddProcess(const SimNode* predecessor) {
  // As a user names some: each may die before this one has met it. A process
  // that is started again is told the same.
  std::set<std::string> named;
  if (predecessor != nullptr) named = predecessor->named;
  const bool goes_on = predecessor != nullptr && !predecessor->crashed;
  for (int i = 0; i < kNamedContacts && !goes_on; ++i) {
    const SimNode* other = nodes_.Random();
    if (other == nullptr && !nodes_.all().empty())
      other = world_.rng.Pick(nodes_.all()).get();
    if (other != nullptr) named.insert(NodeTable::AddressOf(other->place));
  }
  SimNode& node = nodes_.Add();
  node.id = AgentId(world_.rng.Next() | 1);
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

SimNode& Incarnations::AddIncarnation(std::shared_ptr<SimDisk> disk,
                                      const SimNode* predecessor,
                                      Sickness sickness) {
  SimNode& node = AddProcess(predecessor);
  node.sickness = sickness;
  node.host = absl::StrCat("host", node.place % world_.options.hosts);
  if (node.arena == nullptr && world_.options.arena_bytes > 0) {
    world_.arenas.push_back(std::make_unique<SimArena>(
        world_.processes, node.host, world_.options.arena_bytes,
        world_.options.arena_value_bytes_min));
    node.arena = world_.arenas.back().get();
  }
  const auto wake = [this, &node] { nodes_.Wake(node); };
  node.transport = std::make_unique<SimNetwork::Endpoint>(
      world_.network, node.id, wake, node.place);
  node.executor = std::make_unique<SimExecutor>(
      world_.queue, world_.options.workers,
      world_.options.task_time * SlownessOf(sickness),
      world_.rng.Stream(absl::StrCat("executor", nodes_.all().size())), wake,
      node.arena);
  node.executor->Trace(node.id, world_.options.trace);
  if (sickness == Sickness::kNoValues) node.executor->LackMemory(0.5);
  if (world_.options.compares_made) {
    node.executor->OnEnded(
        [this](const Completion& done) { unequal_.NoteMade(done); });
  }
  node.background = std::make_unique<SimBackground>(
      world_.queue, CompileTime(sickness, world_.options.compile_time),
      world_.rng.Stream(absl::StrCat("background", nodes_.all().size())), wake);
  node.foreign = std::ssize(nodes_.all()) <= world_.options.foreign_agents;
  AgentOptions agent_options;
  agent_options.self.id = node.id;
  agent_options.is_reborn = predecessor != nullptr && !predecessor->crashed;
  agent_options.membership.looks_for_others = node.contacts->size() > 0;
  agent_options.membership.kin = node.contacts->kin();
  agent_options.self.numeric_class =
      node.foreign ? "foreign" : world_.job.numeric_class;
  agent_options.self.host = node.host;
  agent_options.self.control_address = NodeTable::AddressOf(node.place);
  agent_options.self.fabric_address = node.transport->address();
  agent_options.self.workers = world_.options.workers;
  if (node.arena != nullptr) {
    agent_options.self.arena = node.arena->address();
    agent_options.shared_memory = node.arena;
    // As in `dogged agent`: a lent value can't be evicted.
    agent_options.lending.lent_bytes_max =
        world_.options.job_limits.memory_bytes_max / 8;
    agent_options.lending.recount_first = absl::Milliseconds(
        20 << Rng(world_.options.seed).Stream("recount").Below(6));
  }
  agent_options.self.topology_id = *TopologyId::Parse(
      absl::StrCat((nodes_.all().size() / 64) % 8,
                   (nodes_.all().size() / 8) % 8, nodes_.all().size() % 8));
  agent_options.seed = world_.rng.Next();
  agent_options.job_limits = world_.options.job_limits;
  agent_options.limits = world_.options.limits;
  if (sickness == Sickness::kShortMemory) {
    agent_options.job_limits.memory_bytes_max = kShortMemoryBytes;
  }
  agent_options.limits.stream_bytes_min = world_.options.stream_bytes_min;
  agent_options.live_bytes = [this, &node] { return nodes_.LiveBytes(node); };
  agent_options.keeps_values = world_.options.directories;
  agent_options.wall_time = [this] { return world_.queue.now(); };
  if (world_.options.directories || world_.options.spill) {
    node.disk = disk != nullptr ? disk : std::make_shared<SimDisk>();
    DiskFaults faults = world_.options.disk;
    if (sickness == Sickness::kFullDisk) faults.bytes_max = 1;
    node.engine = std::make_unique<SimEngine>(
        world_.queue, *node.disk, faults,
        world_.rng.Stream(absl::StrCat("disk", nodes_.all().size())), wake);
    agent_options.engine = node.engine.get();
  }
  node.agent = std::make_unique<Agent>(
      std::move(agent_options), *node.transport, *node.executor,
      *node.background,
      JobTools{SickLoader(world_.load_kernels, sickness), HashDigests});
  nodes_.Wake(node);
  return node;
}

Sickness Incarnations::SicknessOf(int agent) const {
  const std::vector<Sickness>& sick = world_.options.sick_agents;
  return agent < std::ssize(sick) ? sick[agent] : Sickness::kNone;
}

Sickness Incarnations::DrawSickness() {
  if (world_.options.sick_joiner != Sickness::kNone)
    return world_.options.sick_joiner;
  return static_cast<Sickness>(1 + world_.rng.Below(kSicknesses));
}

void Incarnations::Run(SimNode& node) {
  node.woken = false;
  if (node.agent == nullptr || node.paused) return;
  nodes_.Bill(node);
  SetValueMemory(node.arena);
  node.agent->RunOnce(world_.queue.now());
  SetValueMemory(nullptr);
  contacts_.NoteEvents(node);
  if (node.agent->membership().view() != node.view) {
    node.view = node.agent->membership().view();
    world_.NoteDisturbance();
  }
  if (const JobRun* run = node.agent->FindRun(world_.job_id); run != nullptr) {
    // To look at all of a run that holds much takes longer than an event.
    if (++unchecked_ * 4 >= run->held_count()) {
      unchecked_ = 0;
      run->CheckInvariants();
    }
    DOGGED_CHECK(!run->failure().ok() || run->tasks().running_count() <=
                                             node.executor->unfinished_count())
        << run->tasks().running_count() << " tasks count as running, and "
        << node.executor->unfinished_count() << " are at the executor";
    world_.outcome.held_labels_max =
        std::max(world_.outcome.held_labels_max, run->held_count());
    if (node.foreign) {
      world_.outcome.foreign_labels =
          std::max(world_.outcome.foreign_labels, run->held_count());
    }
  }
  if (node.agent->declared_dead()) {
    Rebirth(node);
    return;
  }
  if (node.leaving && node.agent->IsGone()) {
    world_.outcome.leave_time_max = std::max(
        world_.outcome.leave_time_max, world_.queue.now() - node.told_to_leave);
    CollectStats(node);
    node.agent.reset();
    if (node.arena != nullptr) node.arena->End();
    return;
  }
  contacts_.Keep(node);
  const absl::Time wake =
      std::min(node.agent->next_wake(), node.contacts->next_due());
  if (wake < absl::InfiniteFuture()) {
    world_.queue.At(std::max(wake, world_.queue.now() + absl::Microseconds(10)),
                    [this, &node] { nodes_.Wake(node); });
  }
}

void Incarnations::End(SimNode& node) {
  node.agent.reset();
  node.background.reset();
  node.engine.reset();
  node.executor.reset();
  node.transport.reset();
}

void Incarnations::Crash(SimNode& node) {
  CollectStats(node);
  node.crashed = true;
  const AgentId id = node.id;
  const int place = node.place;
  nodes_.Bill(node);
  if (node.arena != nullptr) node.arena->End();
  End(node);
  // Two others held life lines to it.
  for (int i = 0; i < 2; ++i) {
    world_.queue.After(absl::Milliseconds(1 + world_.rng.Below(5)), [this, id,
                                                                     place] {
      SimNode* witness = nodes_.Random();
      if (witness == nullptr || witness->id == id || witness->paused ||
          !world_.network.Reaches(place, witness->place, 0)) {
        return;
      }
      witness->agent->PeerDied(world_.queue.now(), id, "its connection closed");
      nodes_.Wake(*witness);
    });
  }
}

void Incarnations::Blackout() {
  for (size_t i = 0, count = nodes_.all().size(); i < count; ++i) {
    SimNode& node = *nodes_.all()[i];
    if (node.agent == nullptr) continue;
    Crash(node);
    world_.queue.After(absl::Milliseconds(world_.rng.Below(500)),
                       [this, &node] { Restart(node); });
  }
}

void Incarnations::Outage() {
  const auto has_job = [](const SimNode& node) {
    return node.disk != nullptr && HasJob(*node.disk);
  };
  std::vector<SimNode*> live;
  for (const auto& node : nodes_.all()) {
    if (node->agent != nullptr) live.push_back(node.get());
  }
  if (std::none_of(live.begin(), live.end(),
                   [&](const SimNode* node) { return has_job(*node); })) {
    world_.queue.After(kOutageRetry, [this] { Outage(); });
    return;
  }
  for (SimNode* node : live) Crash(*node);
  const auto come_back = [this](SimNode& node) {
    world_.queue.After(absl::Milliseconds(world_.rng.Below(kOutageMillis)),
                       [this, &node] { Restart(node); });
  };
  std::vector<SimNode*> keepers;
  for (SimNode* node : live) {
    if (has_job(*node)) keepers.push_back(node);
  }
  DOGGED_CHECK(!keepers.empty()) << "a synced record is lost";
  SimNode* const first = world_.rng.Pick(keepers);
  for (SimNode* node : live) {
    if (node == first || world_.rng.Chance(0.5)) come_back(*node);
  }
  for (int64_t i = world_.rng.Below(3); i > 0; --i) {
    world_.queue.After(absl::Milliseconds(world_.rng.Below(kOutageMillis)),
                       [this] { Add(); });
  }
}

void Incarnations::Rebirth(SimNode& node) {
  CollectStats(node);
  ++world_.outcome.rebirths;
  nodes_.Bill(node);
  SetValueMemory(node.arena);
  CarriedOver left = node.agent->TakeCarriedOver(world_.job_id);
  SetValueMemory(nullptr);
  auto records = node.agent->Records();
  End(node);
  SimNode& reborn = AddIncarnation(node.disk, &node, node.sickness);
  reborn.left_records = std::move(records);
  for (const auto& [label, value] : left.values) {
    DOGGED_CHECK(value.IsNone() || Hash128(value.view()) == value.digest())
        << "carried over with other bytes";
    const int64_t bytes = value.bytes() + Value::kHeaderBytes;
    reborn.live_bytes += bytes;
    node.live_bytes -= bytes;
  }
  reborn.left = std::move(left);
}

void Incarnations::CollectStats(const SimNode& node) {
  if (node.agent == nullptr) return;
  if (const Lending* lending = node.agent->lending(); lending != nullptr) {
    world_.outcome.loans += lending->loan_count();
  }
  world_.outcome.spared += node.agent->streams().spared_count();
  world_.outcome.refused += node.agent->refused_count();
  const JobRun* run = node.agent->FindRun(world_.job_id);
  if (run == nullptr) return;
  world_.outcome.stats += run->stats();
  world_.outcome.agent_stats.push_back(run->stats());
  if (node.foreign) world_.outcome.foreign_tasks += run->stats().tasks_executed;
  if (node.sickness != Sickness::kNone)
    world_.outcome.sick_tasks += run->stats().tasks_executed;
}

}  // namespace dogged
