// `dogged agent`: one agent, until it is told to leave.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "apps/dogged/commands.h"
#include "apps/dogged/job_source.h"
#include "apps/dogged/memory.h"
#include "dsl/results.h"
#include "routing/control_socket.h"
#include "routing/fabric_module.h"
#include "routing/poller.h"
#include "routing/site_topology.h"
#include "runtime/agent/control.h"
#include "runtime/agent/server.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/exec/background_thread.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/pool.h"

namespace dogged {
namespace {

constexpr absl::Duration kJoinTimeout = absl::Seconds(10);

// The server that a signal ends. Signal handlers know nothing else.
std::atomic<Server*>& ServerOfSignals() {
  static std::atomic<Server*> server{nullptr};
  return server;
}

extern "C" void HandleLeaveSignal(int) {
  if (Server* server = ServerOfSignals().load()) server->Leave();
}

void InstallSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = HandleLeaveSignal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::pair<int64_t, int64_t> MemoryOfThisProcess() {
  return {ResidentBytes(), PeakResidentBytes()};
}

bool IsLoopback(absl::string_view address) {
  return absl::StartsWith(address, "127.") ||
         absl::StartsWith(address, "[::1]") ||
         absl::StartsWith(address, "localhost:");
}

absl::string_view HostPart(absl::string_view address) {
  return address.substr(0, address.rfind(':'));
}

absl::StatusOr<std::string> FetchSnapshot(
    const std::vector<std::string>& members) {
  absl::Status last = absl::UnavailableError("no agent to join was named");
  for (const std::string& address : members) {
    auto client = ControlClient::Connect(address, kJoinTimeout);
    if (!client.ok()) {
      last = client.status();
      continue;
    }
    auto frame = (*client)->Call(static_cast<uint8_t>(ControlType::kJoin), "",
                                 kJoinTimeout);
    if (frame.ok() &&
        frame->type == static_cast<uint8_t>(ControlType::kSnapshot)) {
      return std::string(frame->body.view());
    }
    last = Annotate(
        frame.ok() ? absl::UnavailableError("no dogged agent") : frame.status(),
        address);
  }
  return Annotate(last, "can't join");
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
    std::ifstream file(options.topology_file);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (!file) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.topology_file, ": can't be read"));
    }
    const auto site = SiteTopology::Parse(text, options.topology_base);
    if (!site.ok()) return Annotate(site.status(), options.topology_file);
    const auto id = site->IdOf(host);
    // Who mistyped is told so, whatever kind of error it is.
    if (!id.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.topology_file, ": ", id.status().message()));
    }
    host_id = *id;
  }
  return ExtendTopologyId(host_id, PlaceOfThisProcess(), agent);
}

// One incarnation after another: the next one starts if the others declared
// the last one dead, with the jobs that it knew.
class AgentProcess {
 public:
  AgentProcess(const AgentCommandOptions& options,
               const Environment& environment)
      : options_(options), kernels_(environment), rng_(environment.entropy) {}

  absl::Status Run() {
    DOGGED_ASSIGN_OR_RETURN(poller_, Poller::Create());
    DOGGED_ASSIGN_OR_RETURN(control_, ControlPort::Listen(options_.listen));
    poller_->Watch(control_->wait_fd());
    std::vector<std::string> seeds = options_.join;
    std::vector<std::pair<JobRecord, Bytes>> jobs;
    // Before the workers: the module must be loaded by a single thread.
    while (true) {
      const AgentId id(rng_.Next() | 1);
      FabricOptions fabric{.self = id,
                           .host = std::string(HostPart(control_->address())),
                           .provider = {},
                           .limits = {}};
      transport_.reset();
      DOGGED_ASSIGN_OR_RETURN(transport_, LoadFabricTransport("", fabric));
      InstallSignalHandlers();
      if (transport_->wait_fd() >= 0) poller_->Watch(transport_->wait_fd());
      if (pool_ == nullptr) {
        pool_ = std::make_unique<Pool>(
            PlaceWorkersHere(options_.workers),
            [poller = poller_.get()] { poller->Wake(); });
      }
      if (background_ == nullptr) {
        background_ = std::make_unique<BackgroundThread>(
            [poller = poller_.get()] { poller->Wake(); });
      }
      bool again = false;
      DOGGED_RETURN_IF_ERROR(RunIncarnation(id, seeds, jobs, again));
      if (!again) {
        kernels_.Interrupt();
        return absl::OkStatus();
      }
      if (transport_->wait_fd() >= 0) poller_->Unwatch(transport_->wait_fd());
      Log(LogLevel::kWarning,
          "the others took this agent for dead; it joins again as a new one");
    }
  }

 private:
  absl::Status RunIncarnation(AgentId id, std::vector<std::string>& seeds,
                              std::vector<std::pair<JobRecord, Bytes>>& jobs,
                              bool& again) {
    AgentOptions agent_options;
    agent_options.self.id = id;
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    agent_options.self.host = host;
    agent_options.self.control_address = control_->address();
    agent_options.self.fabric_address = transport_->address();
    agent_options.self.workers = options_.workers;
    agent_options.self.numeric_class = kernels_.numeric_class();
    agent_options.job_limits.memory_bytes_max = options_.memory_bytes;
    agent_options.seed = rng_.Next();
    DOGGED_ASSIGN_OR_RETURN(agent_options.plan,
                            ParseMulticastPlan(options_.multicast));
    DOGGED_ASSIGN_OR_RETURN(agent_options.self.topology_id,
                            TopologyIdOf(options_, host, id));
    Agent agent(std::move(agent_options), *transport_, *pool_, *background_,
                {[this](const Job& job) { return kernels_.Load(job); },
                 [](const Program& program, const auto& lookup) {
                   return dsl::ResultDigest(program, lookup);
                 }});
    if (!seeds.empty()) {
      DOGGED_ASSIGN_OR_RETURN(const std::string snapshot, FetchSnapshot(seeds));
      DOGGED_RETURN_IF_ERROR(agent.Join(clock_.Now(), snapshot));
    }
    for (auto& [record, encoded] : jobs) {
      const auto job = agent.Submit(clock_.Now(), std::string(encoded.view()),
                                    record.submission, record.options);
      if (!job.ok()) return job.status();
    }
    Server server(agent, {.clock = clock_,
                          .transport = *transport_,
                          .control = *control_,
                          .poller = *poller_,
                          .memory = MemoryOfThisProcess});
    ServerOfSignals() = &server;
    DOGGED_RETURN_IF_ERROR(SayReady());
    const Server::End end = server.Run();
    ServerOfSignals() = nullptr;
    again = end == Server::End::kDeclaredDead;
    jobs = agent.RunningJobs();
    seeds.clear();
    for (const Member& member : agent.membership().view()->members()) {
      if (member.id != id) seeds.push_back(member.control_address);
    }
    return absl::OkStatus();
  }

  absl::Status SayReady() {
    if (said_ready_) return absl::OkStatus();
    said_ready_ = true;
    std::printf("listening %s\n", control_->address().c_str());
    std::fflush(stdout);
    if (options_.ready_file.empty()) return absl::OkStatus();
    const std::string partial = absl::StrCat(options_.ready_file, ".partial");
    std::ofstream(partial) << control_->address() << "\n";
    if (std::rename(partial.c_str(), options_.ready_file.c_str()) != 0) {
      return absl::NotFoundError(
          absl::StrCat(options_.ready_file, ": can't be written"));
    }
    return absl::OkStatus();
  }

  const AgentCommandOptions options_;
  const KernelSource kernels_;
  Rng rng_;
  SystemClock clock_;
  std::unique_ptr<Poller> poller_;
  std::unique_ptr<ControlPort> control_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Pool> pool_;  // after the poller: its workers wake it
  std::unique_ptr<BackgroundThread> background_;  // likewise
  bool said_ready_ = false;
};

}  // namespace

ExitCode AgentCommand(const AgentCommandOptions& options,
                      const Environment& environment) {
  if (!options.insecure && !IsLoopback(options.listen)) {
    std::fprintf(stderr,
                 "error: --listen %s: beyond loopback anybody who reaches the "
                 "port could run code here; say --insecure if the network is "
                 "yours alone\n",
                 options.listen.c_str());
    return ExitCode::kMistyped;
  }
  AgentCommandOptions filled = options;
  filled.workers = WorkersPerAgent(options.workers, 1);
  AgentProcess process(filled, environment);
  const absl::Status status = process.Run();
  if (status.ok()) return ExitCode::kDone;
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return status.code() == absl::StatusCode::kInvalidArgument
             ? ExitCode::kMistyped
             : ExitCode::kNoAgents;
}

}  // namespace dogged
