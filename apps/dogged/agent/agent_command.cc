#include "apps/dogged/agent/agent_command.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/agent/agent_needs.h"
#include "apps/dogged/agent/allowed_libraries.h"
#include "apps/dogged/agent/directory_cluster.h"
#include "apps/dogged/agent/health_thread.h"
#include "apps/dogged/agent/join_sources.h"
#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/agent/leave_signals.h"
#include "apps/dogged/agent/part_thread.h"
#include "apps/dogged/agent/spill_engine.h"
#include "apps/dogged/agent/told_address.h"
#include "apps/dogged/process/cgroup_limits.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/freed_memory.h"
#include "apps/dogged/process/huge_page_code.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/process/module_folder.h"
#include "apps/dogged/process/text_file.h"
#include "apps/dogged/process/worker_count.h"
#include "apps/dogged/rendezvous/meeting_point.h"
#include "apps/dogged/rendezvous/point_listing.h"
#include "apps/dogged/rendezvous/pool_folder.h"
#include "apps/output/file.h"
#include "apps/tiles/blas_kernels.h"
#include "dsl/results.h"
#include "kvstore/storage/rocksdb_module.h"
#include "routing/control/control_client.h"
#include "routing/control/control_socket.h"
#include "routing/control/poller.h"
#include "routing/control/socket_address.h"
#include "routing/fabric/fabric_module.h"
#include "routing/memory/arena.h"
#include "routing/memory/host_transport.h"
#include "routing/topology/site_topology.h"
#include "routing/trust/sealed_transport.h"
#include "routing/trust/wire_mode.h"
#include "runtime/agent/loop/agent_loop.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/wall_time.h"
#include "runtime/exec/background_thread.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/pool.h"
#include "runtime/exec/tile_pool.h"

namespace dogged {
namespace {

constexpr absl::Duration kJoinTimeout = absl::Seconds(10);
// Where agents have directories, one that lives no more may come back with an
// input that nobody has now.
constexpr absl::Duration kDirectoryPatience = absl::Minutes(10);
// Under --memory, lent values take at most this part of it: they can't be
// evicted before borrowers return them.
constexpr int64_t kLentShareOfMemory = 8;
// Of the memory that a control group may have, one of so many parts is for
// code, kernels and messages, the others for values.
constexpr int64_t kGroupParts = 4;
// Results that submissions ask to keep take at most this part of it, or of the
// computer's memory.
constexpr int64_t kKeptShareOfMemory = 4;
// A worker's tiles of most programs, inputs and outputs, take no more.
constexpr int64_t kMemoryOfWorker = int64_t{4} << 20;
// Pages for values that are made at the start, unless memory is bounded: half
// of the free pages that are kept later.
constexpr int64_t kWarmBytes = int64_t{32} << 20;

std::function<ProcessMemory()> MemoryUpTo(int64_t limit) {
  return [limit] {
    return ProcessMemory{.now = ResidentBytes(),
                         .peak = PeakResidentBytes(),
                         .limit = limit,
                         .host = PhysicalBytes()};
  };
}

// Like a kill: other agents do the work of this one, without its values on
// disk.
void EndDamaged(const std::string& words) {
  EndWith(absl::StrCat("error: ", words, "\n"), ExitCode::kFailed);
}

// Where this process may run: a package and NUMA node if it is one.
HostPlace PlaceOfThisProcess() {
  const CpuLayout layout = ReadCpuLayout();
  const CpuLayout::Cpu& first = layout.cpus.front();
  HostPlace place{first.package + 1, first.numa_node + 1};
  for (const CpuLayout::Cpu& cpu : layout.cpus) {
    if (cpu.package != first.package) place.package = 0;
    if (cpu.numa_node != first.numa_node) place.numa_node = 0;
  }
  return place;
}

absl::StatusOr<TopologyId> TopologyIdOf(const AgentCommandOptions& options,
                                        absl::string_view host, AgentId agent) {
  if (!options.topology_id.empty()) {
    return TopologyId::Parse(options.topology_id);
  }
  TopologyId host_id = HashedHostId(host);
  if (!options.topology_file.empty()) {
    // A mistyped option is reported as such, whatever kind of error it is.
    const auto text = ReadFile(options.topology_file, "description of a site");
    if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
    const auto site = SiteTopology::Parse(*text, options.topology_base);
    if (!site.ok()) return Annotate(site.status(), options.topology_file);
    const auto id = site->IdOf(host);
    if (!id.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.topology_file, ": ", id.status().message()));
    }
    host_id = *id;
  }
  return ExtendTopologyId(host_id, PlaceOfThisProcess(), agent);
}

// The protection of messages to other hosts, as an agent says or by default: on
// loopback there are none.
WireMode WireModeOf(const AgentCommandOptions& options, bool has_keys) {
  for (const WireMode mode :
       {WireMode::kPlain, WireMode::kSigned, WireMode::kSealed}) {
    if (options.wire == WireModeText(mode)) return mode;
  }
  const auto address = ResolveAddress(options.listen);
  const bool is_beyond = address.ok() && !address->IsLoopback();
  return has_keys && is_beyond ? WireMode::kSealed : WireMode::kPlain;
}

// AgentProcess: incarnations one after another. If other agents declare one
// dead, the next one starts, with the jobs that it knew.
class AgentProcess {
 public:
  // `credentials` is null without any.
  AgentProcess(const AgentCommandOptions& options,
               const Environment& environment,
               std::shared_ptr<Credentials> credentials,
               AllowedLibraries allowed)
      : options_(options),
        credentials_(std::move(credentials)),
        keys_(credentials_ == nullptr ? nullptr : credentials_->keys()),
        directory_cluster_(options.directory, keys_),
        has_directory_(!options.directory.empty()),
        wire_(WireModeOf(options, keys_ != nullptr)),
        temporary_folder_(environment.temporary_folder),
        kernels_(environment,
                 LibraryPlace::Of(options.libraries, options.workers),
                 std::move(allowed)),
        rng_(environment.entropy) {}
  ~AgentProcess() { SetValueMemory(nullptr); }

  absl::Status Run() {
    CatchLeaveSignals();
    LimitLife(options_.lifetime, options_.leave_within);
    if (options_.arena == "on") {
      arena_ = Arena::Create(
          {.warm_bytes = options_.memory_bytes > 0 ? 0 : kWarmBytes,
           .huge_pages = options_.memory_bytes == 0,
           .token = rng_.Next()});
    }
    if (options_.memory_bytes == 0) KeepFreedMemory();
    if (arena_ != nullptr) {
      SetValueMemory(&arena_->values());
    } else if (options_.memory_bytes == 0) {
      tiles_ = TilePool::Create(PhysicalBytes(), kWarmBytes);
      if (tiles_ != nullptr) tiles_->Install();
    }
    DOGGED_ASSIGN_OR_RETURN(poller_, Poller::Create());
    DOGGED_ASSIGN_OR_RETURN(
        control_,
        ControlPort::Listen(options_.listen,
                            {.credentials = credentials_.get(),
                             // Only agents with one key can open what each
                             // other sends.
                             .connects_by_key = wire_ != WireMode::kPlain}));
    poller_->Watch(control_->wait_fd());
    if (!options_.health.empty()) {
      DOGGED_ASSIGN_OR_RETURN(health_, HealthThread::Listen(options_.health));
    }
    DOGGED_RETURN_IF_ERROR(sources_.Begin(
        options_.join,
        {.keys = keys_,
         .has_certificate = wire_ == WireMode::kPlain &&
                            credentials_ != nullptr &&
                            credentials_->certificates() != nullptr},
        [poller = poller_.get()] { poller->Wake(); }, rng_.Next()));
    if (sources_.reads_input() && !ReadInput()) return join_status_;
    // Before the workers: the module must be loaded by a single thread.
    while (true) {
      const AgentId id(rng_.Next() | 1);
      FabricOptions fabric{.self = id,
                           .host = FabricHost(options_, control_->address()),
                           .port = options_.fabric_port,
                           .provider = {},
                           .keeps_strangers_out = credentials_ != nullptr,
                           .limits = {}};
      admission_ = nullptr;
      transport_.reset();
      DOGGED_ASSIGN_OR_RETURN(const std::string modules,
                              ModuleFolder("dogged_fabric.so"));
      {
        const LeaveSignalsHeld held;
        auto transport = LoadFabricTransport(modules, fabric);
        if (!transport.ok()) return OrNoAddresses(transport.status());
        if (!(*transport)->warning().empty()) {
          Log(LogLevel::kWarning,
              absl::StrCat("strangers may reach the fabric port, where "
                           "libfabric believes what it reads; let a firewall "
                           "keep them out: ",
                           (*transport)->warning()));
        }
        if (fabric.keeps_strangers_out) admission_ = transport->get();
        transport_ = *std::move(transport);
        CatchLeaveSignals();  // libraries that libfabric loads take some over
      }
      if (wire_ != WireMode::kPlain) {
        transport_ = std::make_unique<SealedTransport>(
            id, std::move(transport_), [this] { return keys_->ring(); }, wire_);
      }
      if (arena_ != nullptr) {
        transport_ = HostTransport::Wrap(id, std::move(transport_), clock_);
      }
      if (transport_->wait_fd() >= 0) poller_->Watch(transport_->wait_fd());
      if (pool_ == nullptr) {
        pool_ = std::make_unique<Pool>(
            PlaceWorkersHere(options_.workers),
            [poller = poller_.get()] { poller->Wake(); }, &turn_);
        DOGGED_RETURN_IF_ERROR(pool_->status());
      }
      if (background_ == nullptr) {
        background_ = std::make_unique<BackgroundThread>(
            [poller = poller_.get()] { poller->Wake(); });
        DOGGED_RETURN_IF_ERROR(background_->status());
        part_thread_ = std::make_unique<PartThread>(
            [poller = poller_.get()] { poller->Wake(); });
        DOGGED_RETURN_IF_ERROR(part_thread_->status());
        if (health_ != nullptr) DOGGED_RETURN_IF_ERROR(BeginHealth());
      }
      DOGGED_ASSIGN_OR_RETURN(const std::optional<std::string> death,
                              RunIncarnation(id));
      if (!death.has_value()) {
        kernels_.Interrupt();
        return join_status_;
      }
      if (transport_->wait_fd() >= 0) poller_->Unwatch(transport_->wait_fd());
      Log(LogLevel::kWarning,
          absl::StrCat("this agent counts as dead (", *death,
                       "); it joins again as a new one, with what it holds"));
      if (health_ != nullptr) {
        health_->NoteNoLoop();
        health_->SetNotReady("it counted as dead, and joins again");
      }
      sources_.contacts().BeginAnew();
    }
  }

 private:
  // A job that an incarnation ran, for the next one.
  struct LeftJob {
    JobRecord record;
    Bytes encoded;
    CarriedOver held;
  };

  // Why it counts as dead; none if it has left.
  absl::StatusOr<std::optional<std::string>> RunIncarnation(AgentId id) {
    AgentOptions agent_options;
    agent_options.self.id = id;
    agent_options.is_reborn = incarnations_++ > 0;
    agent_options.membership.looks_for_others = sources_.has_any();
    agent_options.membership.kin = sources_.contacts().kin();
    const std::string host = HostName();
    agent_options.self.host = host;
    agent_options.self.control_address =
        ToldControl(options_, control_->address());
    agent_options.self.fabric_address =
        ToldFabric(options_, transport_->address());
    agent_options.self.workers = options_.workers;
    agent_options.self.wire = WireHello::Here().range;
    agent_options.self.numeric_class = kernels_.numeric_parts().host;
    agent_options.leave_within = options_.leave_within;
    agent_options.job_limits.memory_bytes_max = options_.memory_bytes;
    agent_options.kept_bytes_max =
        (options_.memory_bytes > 0 ? options_.memory_bytes : PhysicalBytes()) /
        kKeptShareOfMemory;
    DOGGED_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, OpenEngine());
    agent_options.engine = engine.get();
    agent_options.on_freed = [this] {
      if (arena_ != nullptr) arena_->values().ReturnPages();
      if (tiles_ != nullptr) tiles_->memory().ReturnPages();
      ReturnFreedMemory();
      pool_->OnEachWorker(ReturnFreedMemory);
      background_->Submit([]() -> Background::Rest {
        ReturnFreedMemory();
        return [] {};
      });
      part_thread_->ReturnFreedMemory();
    };
    agent_options.keeps_values = has_directory_ && engine != nullptr;
    agent_options.wall_time = WallTime;
    if (agent_options.keeps_values) {
      agent_options.limits.input_patience = kDirectoryPatience;
    }
    agent_options.shared_memory = arena_.get();
    if (arena_ != nullptr) agent_options.self.arena = arena_->address();
    agent_options.lending.lent_bytes_max =
        options_.memory_bytes / kLentShareOfMemory;
    agent_options.seed = rng_.Next();
    DOGGED_ASSIGN_OR_RETURN(agent_options.plan,
                            ParseMulticastPlan(options_.multicast));
    DOGGED_ASSIGN_OR_RETURN(agent_options.self.topology_id,
                            TopologyIdOf(options_, host, id));
    Agent agent(std::move(agent_options), *transport_, *pool_, *background_,
                {[this](const Job& job) { return MakeKernels(job); },
                 [](const Program& program, const auto& lookup) {
                   return dsl::ResultDigest(program, lookup);
                 }});
    AgentLoop server(agent, {.clock = clock_,
                             .transport = *transport_,
                             .control = *control_,
                             .poller = *poller_,
                             .turn = turn_,
                             .memory = MemoryUpTo(options_.memory_bytes),
                             .writer = *part_thread_,
                             .contacts = sources_.contacts(),
                             .refresh_contacts = [this] { Refresh(); },
                             .on_settled = [&] { return Settle(agent); },
                             .admission = admission_,
                             .is_reborn = agent_options.is_reborn});
    sources_.Enter(id, agent.membership().self().control_address);
    TellOfLeaveSignals(&server);
    const AgentLoop::End end = server.Run();
    TellOfLeaveSignals(nullptr);
    if (end == AgentLoop::End::kLeft) return std::nullopt;
    records_ = agent.Records();
    for (auto& [record, encoded] : agent.RunningJobs()) {
      CarriedOver held = agent.TakeCarriedOver(record.job());
      jobs_.push_back({std::move(record), encoded, std::move(held)});
    }
    return server.death();
  }

  absl::Status BeginHealth() {
    DOGGED_RETURN_IF_ERROR(health_->Begin());
    Log(LogLevel::kInfo, absl::StrCat("probes of its health are answered at ",
                                      health_->address()));
    return absl::OkStatus();
  }

  // In each pass of the loop.
  void Refresh() {
    sources_.Refresh();
    if (has_directory_) directory_cluster_.Refresh();
    if (health_ == nullptr) return;
    health_->NoteTurn();
    if (IsToldToLeave() && !std::exchange(said_leaving_, true)) {
      health_->SetNotReady("it was told to leave");
    }
  }

  absl::StatusOr<LoadedKernels> MakeKernels(const Job& job) const {
    absl::Status trouble;
    DOGGED_ASSIGN_OR_RETURN(KernelTable table,
                            kernels_.Load(job, options_.workers, &trouble));
    return LoadedKernels(std::move(table), std::move(trouble));
  }

  // The agent knows the other members, or nobody answers for now: it serves,
  // and goes on with its predecessor's jobs. False: there are more addresses to
  // ask.
  bool Settle(Agent& agent) {
    if (IsToldToLeave() && !said_ready_) return true;
    const bool has_joined = sources_.contacts().has_joined();
    const std::string& too_far = sources_.contacts().too_far();
    if (!has_joined && !said_ready_ && !too_far.empty()) {
      // This agent is of no use beside those that it was to join.
      join_status_ =
          absl::FailedPreconditionError(absl::StrCat("can't join: ", too_far));
      agent.Leave(clock_.Now());
      return true;
    }
    if (!has_joined && sources_.reads_input() && !said_ready_) {
      if (ReadInput()) return false;
      agent.Leave(clock_.Now());
      return true;
    }
    for (const LeftJob& job : std::exchange(jobs_, {})) {
      const auto id = agent.Submit(
          clock_.Now(), std::string(job.encoded.view()), job.record.submission,
          job.record.options, job.record.text_hash);
      if (id.ok()) {
        agent.AdoptCarriedOver(clock_.Now(), *id, job.held);
      } else {
        // Only where another job was first; the other agents have its record.
        Log(LogLevel::kWarning, id.status().message());
      }
    }
    agent.AdoptRecords(clock_.Now(), std::exchange(records_, {}));
    if (!has_joined && !options_.join.empty()) {
      Log(LogLevel::kWarning,
          absl::StrCat("no agent answers at ",
                       absl::StrJoin(options_.join, ", "),
                       " yet: this one serves alone, and goes on asking"));
    }
    join_status_ = WriteReady(agent.membership().self());
    if (!join_status_.ok()) agent.Leave(clock_.Now());
    if (health_ != nullptr && !said_leaving_) health_->SetReady();
    return true;
  }

  // Takes addresses to join from the input. False if there are no more, then
  // join_status_ says so.
  bool ReadInput() {
    const bool has_more = sources_.ReadInput();
    if (!has_more && !IsToldToLeave()) {
      join_status_ = absl::UnavailableError(
          sources_.contacts().size() > 0
              ? "can't join: none of the agents that the input names answers"
              : "can't join: no agent to join was named");
    }
    return has_more;
  }

  // Opens the engine behind the live store: on the directory if there is one,
  // on a temporary one where memory is bounded, or none. Each incarnation has
  // its own, for the answers of one are no news for the next.
  absl::StatusOr<std::unique_ptr<Engine>> OpenEngine() {
    // An agent with bounded memory waits for its writes.
    const absl::Duration interval = options_.memory_bytes == 0
                                        ? RocksDbOptions{}.flush_interval
                                        : absl::Milliseconds(5);
    const auto open = [poller = poller_.get(),
                       interval](const std::string& directory)
        -> absl::StatusOr<std::unique_ptr<Engine>> {
      DOGGED_ASSIGN_OR_RETURN(const std::string modules,
                              ModuleFolder("dogged_rocksdb.so"));
      return LoadRocksDbEngine(modules,
                               {.directory = directory,
                                .on_reply = [poller] { poller->Wake(); },
                                .on_damage = EndDamaged,
                                .flush_interval = interval});
    };
    if (has_directory_ && incarnations_ == 1) {
      const absl::Status ours = directory_cluster_.Check();
      if (!ours.ok()) Log(LogLevel::kWarning, ours.message());
      has_directory_ = ours.ok();
    }
    if (has_directory_) {
      auto opened = open(options_.directory);
      // An agent that has served goes on without a disk that takes no more.
      const bool may_lack = said_ready_ && options_.memory_bytes == 0;
      if (opened.ok() || !may_lack) return opened;
      Log(LogLevel::kWarning, absl::StrCat("it goes on without its disk: ",
                                           opened.status().message()));
      return nullptr;
    }
    if (options_.memory_bytes == 0) return nullptr;
    return std::make_unique<SpillEngine>(temporary_folder_, open);
  }

  absl::Status WriteReady(const Member& self) {
    if (said_ready_) return absl::OkStatus();
    said_ready_ = true;
    if (!options_.ready_file.empty()) {
      const std::string partial = absl::StrCat(options_.ready_file, ".partial");
      std::ofstream(partial) << self.control_address << "\n";
      if (std::rename(partial.c_str(), options_.ready_file.c_str()) != 0) {
        return absl::NotFoundError(
            absl::StrCat(options_.ready_file, ": can't be written"));
      }
    }
    const std::string fabric(FabricAddressOf(self));
    std::printf("listening %s fabric %s\n", self.control_address.c_str(),
                fabric.c_str());
    std::fflush(stdout);
    return absl::OkStatus();
  }

  const AgentCommandOptions options_;
  const std::shared_ptr<Credentials> credentials_;
  KeyFile* const keys_;  // of credentials_; null without any
  DirectoryCluster directory_cluster_;
  bool has_directory_;  // and it has jobs of this cluster
  const WireMode wire_;
  const std::string temporary_folder_;
  const KernelSource kernels_;
  Rng rng_;
  SystemClock clock_;
  // Values lie in it: before all that may hold some.
  std::unique_ptr<Arena> arena_;
  // Without an arena, and without a bound that huge pages might pass.
  std::unique_ptr<TilePool> tiles_;
  std::unique_ptr<Poller> poller_;
  std::unique_ptr<ControlPort> control_;
  std::unique_ptr<Transport> transport_;
  Admission* admission_ = nullptr;  // of transport_; null without keys
  LoopTurn turn_;
  // After the poller and the turn, which its workers use.
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<BackgroundThread> background_;  // likewise
  std::unique_ptr<PartThread> part_thread_;       // likewise
  JoinSources sources_;                           // likewise
  std::unique_ptr<HealthThread> health_;          // null: nobody asks
  // Why this process ends without having been of use.
  absl::Status join_status_;
  std::vector<LeftJob> jobs_;
  std::vector<std::pair<std::string, GossipRecord>> records_;  // the same
  int incarnations_ = 0;
  bool said_ready_ = false;
  bool said_leaving_ = false;  // to health_
};

}  // namespace

namespace {

absl::Status CheckJoin(const AgentCommandOptions& options,
                       const SocketAddress& listen) {
  DOGGED_ASSIGN_OR_RETURN(const std::vector<MeetingPoint> points,
                          JoinPoints(options.join));
  for (const MeetingPoint& point : points) {
    if (point.kind == MeetingPoint::Kind::kFolder) {
      const absl::Status writable = PoolFolder(point.text).Prepare();
      if (!writable.ok()) return Annotate(writable, "--join");
    }
    if (point.kind != MeetingPoint::Kind::kAddress) {
      DOGGED_RETURN_IF_ERROR(CheckReach(options));
      continue;
    }
    const auto seed = ResolveAddress(point.text);
    if (!seed.ok()) return Annotate(seed.status(), "--join");
    // All agents may have the same words, so one of several points may be it.
    if (points.size() == 1 &&
        (seed->ToString() == listen.ToString() ||
         seed->ToString() == ToldControl(options, options.listen))) {
      return absl::InvalidArgumentError(
          absl::StrCat("--join ", point.text, ": that is this agent itself"));
    }
  }
  return absl::OkStatus();
}

// Finds mistyped options before anything starts.
absl::Status CheckAgentOptions(const AgentCommandOptions& options,
                               const Credentials* credentials) {
  const auto address = ResolveAddress(options.listen);
  if (!address.ok()) return Annotate(address.status(), "--listen");
  const bool has_keys =
      credentials != nullptr && credentials->keys() != nullptr;
  if (credentials != nullptr && !has_keys && !address->IsLoopback() &&
      options.wire.empty()) {
    return absl::InvalidArgumentError(
        "--ca-file: certificates open the control port; what agents of "
        "different hosts send each other is sealed by a key: make one with "
        "`dogged key new`, for all agents, or say --wire plain if the network "
        "is yours alone");
  }
  if (credentials == nullptr && !options.keys.insecure &&
      !address->IsLoopback()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen ", options.listen,
        ": beyond loopback anybody who reaches the port could run code here; "
        "make a key with `dogged key new`, for all agents and clients, or say "
        "--insecure if the network is yours alone"));
  }
  if (!has_keys && !options.wire.empty() &&
      options.wire != WireModeText(WireMode::kPlain)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--wire ", options.wire,
                     ": without a key nothing can be; make one with `dogged "
                     "key new`, for all agents and clients"));
  }
  DOGGED_RETURN_IF_ERROR(CheckTold(options));
  if (!options.health.empty()) {
    const auto health = ResolveAddress(options.health);
    if (!health.ok()) return Annotate(health.status(), "--health");
  }
  DOGGED_RETURN_IF_ERROR(CheckJoin(options, *address));
  if (options.ready_file.empty()) return absl::OkStatus();
  const absl::Status writable = CheckWritable(options.ready_file);
  if (!writable.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ready-file ", std::string(writable.message())));
  }
  std::ifstream before(options.ready_file);
  std::string other;
  if (before >> other && ControlClient::Connect(other, kJoinTimeout).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ready-file ", options.ready_file,
                     ": is that of the agent at ", other, ", which runs"));
  }
  return absl::OkStatus();
}

// The default of --memory; 0: no bound.
int64_t AllowedMemory() {
  const int64_t limit = ReadCgroupLimits().memory_bytes;
  if (limit == 0 || limit >= PhysicalBytes()) return 0;
  const int64_t bytes = limit / kGroupParts * (kGroupParts - 1);
  Log(LogLevel::kInfo, absl::StrCat("its control group may have ", limit,
                                    " bytes of memory: --memory is ", bytes));
  return bytes;
}

// An agent with less serves, for programs of small tiles, and says for each
// other one how much would do: `--memory 4` was hardly meant.
void WarnOfLittleMemory(const AgentCommandOptions& options) {
  const int64_t least = kMemoryOfWorker * options.workers;
  if (options.memory_bytes == 0 || options.memory_bytes >= least) return;
  Log(LogLevel::kWarning,
      absl::StrCat("--memory of ", options.memory_bytes,
                   options.memory_bytes == 1 ? " byte" : " bytes",
                   " is less than tiles of most programs take: for ",
                   options.workers, " --workers give ", least >> 20,
                   "M or more"));
}

// Errors: kResourceExhausted.
absl::Status CheckLimits(const AgentCommandOptions& options) {
  const bool stores = !options.directory.empty() || options.memory_bytes > 0;
  const std::string who =
      absl::StrCat("an agent of ", options.workers, " --workers");
  DOGGED_RETURN_IF_ERROR(TakeDescriptors(who, kAgentDescriptors));
  // Threads of the background, of RocksDB, and of libfabric at most.
  return CheckAddresses(who, kAgentAddresses + (stores ? kStorageAddresses : 0),
                        options.workers + (stores ? 6 : 2));
}

}  // namespace

ExitCode AgentCommand(const AgentCommandOptions& options,
                      const Environment& environment) {
  auto credentials =
      OpenCredentials(options.keys, environment,
                      {CertificateUse::kConnects, CertificateUse::kAccepts});
  auto allowed = AllowedLibraries::Parse(options.kernels);
  absl::Status mistyped =
      credentials.ok()
          ? CheckAgentOptions(options, credentials->get())
          : absl::InvalidArgumentError(credentials.status().message());
  mistyped.Update(allowed.status());
  if (!mistyped.ok()) {
    PrintError(mistyped.message());
    return mistyped.code() == absl::StatusCode::kInvalidArgument
               ? ExitCode::kMistyped
               : ExitCode::kNoAgents;
  }
  // Without them it is slower, no more.
  if (!options.small_pages) (void)MoveCodeToHugePages();
  AgentCommandOptions filled = options;
  filled.workers = WorkersPerAgent(options.workers, 1);
  if (!options.has_memory) filled.memory_bytes = AllowedMemory();
  absl::Status status = CheckLimits(filled);
  if (status.ok()) status = SetUpBlas();
  if (options.has_memory) WarnOfLittleMemory(filled);
  if (status.ok())
    status =
        AgentProcess(filled, environment, *credentials, *std::move(allowed))
            .Run();
  if (status.ok()) return ExitCode::kDone;
  PrintError(status.message());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
      return ExitCode::kMistyped;
    case absl::StatusCode::kResourceExhausted:
      return ExitCode::kNoRoom;
    default:
      return ExitCode::kNoAgents;
  }
}

}  // namespace dogged
