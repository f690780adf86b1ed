// The dictionary: gets of values that another agent of this host holds, and
// binds in this agent's shard. The holder is a real agent; the asker is an
// agent too, of another numeric class, whose loop this benchmark runs itself.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/peers/stores.h"
#include "kvstore/dictionary/shard.h"
#include "routing/control/control_client.h"
#include "routing/control/control_socket.h"
#include "routing/control/poller.h"
#include "routing/fabric/fabric_module.h"
#include "routing/memory/arena.h"
#include "routing/memory/host_transport.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/check.h"
#include "runtime/exec/background_thread.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/pool.h"

namespace dogged {
namespace {

constexpr int kLabels = 64;
constexpr char kValues[] = R"(
param WORDS
array x(i = 0:63) : int64 [WORDS]  place i
kernel fill(out b) from "dogged-bench-stamps.so"
task make
  creates x(i) as b
  for i = 0:63
  call fill(b)
end task
result x(:)
)";

// An agent that asks.
class Asker {
 public:
  explicit Asker(const std::string& seed)
      : poller_(*Poller::Create()),
        control_(*ControlPort::Listen("127.0.0.1:0")),
        arena_(Arena::Create({.token = 2})),
        pool_(PlaceWorkersHere(1), [] {}),
        background_([] {}) {
    const AgentId id(static_cast<uint64_t>(getpid()) << 20 | 1);
    auto transport = LoadFabricTransport(
        "", {.self = id, .host = "127.0.0.1", .provider = {}, .limits = {}});
    DOGGED_CHECK(transport.ok()) << transport.status().ToString();
    transport_ = HostTransport::Wrap(id, *std::move(transport), clock_);
    poller_->Watch(transport_->wait_fd());
    AgentOptions options;
    options.self.id = id;
    options.self.host = "bench";
    options.self.control_address = control_->address();
    options.self.fabric_address = transport_->address();
    options.self.numeric_class = "asks only";
    options.self.topology_id = *TopologyId::Parse("0");
    options.shared_memory = arena_.get();
    if (arena_ != nullptr) options.self.arena = arena_->address();
    agent_ = std::make_unique<Agent>(options, *transport_, pool_, background_,
                                     JobTools{});
    auto client = ControlClient::Connect(seed, absl::Seconds(5));
    DOGGED_CHECK(client.ok()) << client.status().ToString();
    auto frame = (*client)->Call(FrameType(ControlType::kJoin),
                                 agent_->Snapshot(), absl::Seconds(5));
    DOGGED_CHECK(frame.ok()) << frame.status().ToString();
    DOGGED_CHECK(agent_->Join(clock_.Now(), frame->body.view(), seed).ok());
  }

  void AwaitRun(JobId job) {
    while (agent_->FindRun(job) == nullptr) Step();
    // Until the other has heard that this one maps its arena.
    const absl::Time limit = clock_.Now() + absl::Seconds(1);
    while (clock_.Now() < limit) Step();
  }
  // Microseconds until the values of all `labels` are here.
  double Get(JobId job, absl::Span<const Label> labels) {
    const double seconds = Seconds([&] {
      DOGGED_CHECK(agent_->Want(clock_.Now(), job, labels).ok());
      size_t count = 0;
      while (count < labels.size()) {
        agent_->RunOnce(clock_.Now());
        found_ = agent_->TakeResults(job);
        count += found_.size();
        if (count < labels.size()) Wait();
      }
    });
    return 1e6 * seconds;
  }
  bool last_was_lent() const { return found_.back().second.IsView(); }

 private:
  void Step() {
    std::vector<ControlEvent> ignored;
    control_->Poll(ignored);
    agent_->RunOnce(clock_.Now());
    Wait();
  }
  // As AgentLoop does, which would be hot as well.
  void Wait() {
    const absl::Time limit = clock_.Now() + absl::Microseconds(50);
    while (clock_.Now() < limit) {
      for (int i = 0; i < 64; ++i) {
        if (transport_->HasArrivals()) return;
      }
      if (poller_->Wait(absl::ZeroDuration())) return;
      std::this_thread::yield();  // the agent may have to run here
    }
    if (!transport_->PrepareToWait()) return;
    poller_->Wait(
        std::min(agent_->next_wake() - clock_.Now(), absl::Milliseconds(10)));
  }

  SystemClock clock_;
  std::unique_ptr<Poller> poller_;
  std::unique_ptr<ControlPort> control_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<Transport> transport_;
  Pool pool_;
  BackgroundThread background_;
  std::unique_ptr<Agent> agent_;
  std::vector<std::pair<Label, Value>> found_;
};

void AddRow(const std::string& name, const std::vector<double>& samples,
            const std::string& ratio_to, double other,
            std::vector<BenchRow>& rows) {
  BenchRow row{.name = name, .value = Median(samples), .unit = "us"};
  row.samples = std::ssize(samples);
  if (other > 0) {
    row.ratio_to = ratio_to;
    row.ratio = row.value / other;
  }
  rows.push_back(std::move(row));
}

// A value made from bytes that are there, and bound to a new label.
std::vector<double> Binds(int64_t words, int count) {
  const std::vector<int64_t> source(static_cast<size_t>(words), 3);
  std::vector<double> out;
  Shard shard;
  for (int i = 0; i < count; ++i) {
    const Label label{.array = 0, .index = {i}};
    out.push_back(1e6 * Seconds([&] {
                    Value value = Value::Allocate(ElementType::kInt64, {words});
                    std::memcpy(value.mutable_data(), source.data(),
                                source.size() * sizeof(int64_t));
                    value.Seal();
                    DOGGED_CHECK(shard.Bind(label, std::move(value)).ok());
                  }));
    if (i >= kLabels) shard.Erase({.array = 0, .index = {i - kLabels}});
  }
  return out;
}

void BenchSize(const std::string& size, int64_t words, AgentsRun& agents,
               Asker& asker, const BenchOptions& options,
               std::vector<BenchRow>& rows) {
  const int count = 200 * options.samples;
  const auto outcome =
      agents.Run({.text = kValues,
                  .parameters = {{"WORDS", absl::StrCat(words)}},
                  .ends = false});
  asker.AwaitRun(outcome.job);
  std::vector<double> gets;
  std::vector<double> batches;
  std::vector<Label> all;
  for (int i = 0; i < kLabels; ++i) all.push_back({.array = 0, .index = {i}});
  for (int i = 0; i < count; ++i) {
    gets.push_back(
        asker.Get(outcome.job, absl::MakeSpan(&all[i % kLabels], 1)));
  }
  const bool lent = asker.last_was_lent();
  for (int i = 0; i < count / 10; ++i) {
    batches.push_back(asker.Get(outcome.job, all) / kLabels);
  }
  double peer_get = 0;
  double peer_set = 0;
  std::string peer;
  if (!options.alone) {
    for (const StoreTimes& times : TimeStores(8 * words, count)) {
      if (peer.empty()) {
        peer_get = Median(times.get_us);
        peer_set = Median(times.set_us);
        peer = times.name;
      }
      AddRow(absl::StrCat(times.name, "_get_", size), times.get_us, "", 0,
             rows);
      AddRow(absl::StrCat(times.name, "_set_", size), times.set_us, "", 0,
             rows);
    }
  }
  AddRow(absl::StrCat("get_", size, lent ? "_lent" : ""), gets,
         absl::StrCat(peer, "_get_", size), peer_get, rows);
  AddRow(absl::StrCat("get_64_at_once_", size, "_each"), batches,
         absl::StrCat(peer, "_get_", size), peer_get, rows);
  AddRow(absl::StrCat("bind_", size), Binds(words, count),
         absl::StrCat(peer, "_set_", size), peer_set, rows);
}

}  // namespace

std::vector<BenchRow> BenchDictionary(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  AgentsRun agents(1, 1);
  Asker asker(agents.processes().front().address);
  BenchSize("64B", 8, agents, asker, options, rows);
  BenchSize("8KB", 1024, agents, asker, options, rows);
  BenchSize("512KB", 65536, agents, asker, options, rows);
  return rows;
}

}  // namespace dogged
