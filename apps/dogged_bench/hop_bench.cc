// From task to task between agents of one host, and from one task to tasks of
// all of them: real processes, as `dogged run` starts them. Kernels stamp the
// time (stamps.cc), so each hop is a sample of its own.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/peers/tcp.h"
#include "apps/dogged_bench/stamps.h"
#include "runtime/base/check.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

// Each label is a key of its own, so about half of the hops are remote.
constexpr char kChain[] = R"(
param N
param WORDS
param PAUSE
param BENCH
param FD
array x(i = 0:N) : int64 [WORDS]  place i
kernel stamp(out b, number, number, number, number) from
  "dogged-bench-stamps.so"
kernel stamp_after(in a, out b, number, number, number, number) from
  "dogged-bench-stamps.so"
task first
  creates x(0) as b
  call stamp(b, PAUSE, BENCH, FD, 0)
end task
task hop
  creates x(i) as b
  for i = 1:N
  using x(i-1) as a
  call stamp_after(a, b, PAUSE, BENCH, FD, i)
end task
result x(N)
)";

// A task in each round, and tasks of all agents that read its output. Rounds
// are apart: the next one spins until the last one is over.
constexpr char kToAll[] = R"(
param ROUNDS
param WORDS
param BENCH
param FD
array s(r = 0:ROUNDS) : int64 [WORDS]  place r
array c(r = 0:ROUNDS)(j = 0:31) : int64 [2]  place r, j
kernel stamp(out b, number, number, number, number) from
  "dogged-bench-stamps.so"
kernel stamp_after(in a, out b, number, number, number, number) from
  "dogged-bench-stamps.so"
task first
  creates s(0) as b
  call stamp(b, 20000000, BENCH, FD, 0)
end task
task next
  creates s(r) as b
  for r = 1:ROUNDS
  using c(r-1)(0) as a
  call stamp_after(a, b, 20000000, BENCH, FD, 33*r)
end task
task read
  creates c(r)(j) as b
  for r = 0:ROUNDS  j = 0:31
  using s(r) as a
  call stamp_after(a, b, 0, BENCH, FD, 33*r + 1 + j)
end task
result c(:)(:)
)";

// Memory of this process in which kernels leave their stamps.
class StampMemory {
 public:
  StampMemory() : fd_(memfd_create("dogged-bench-stamps", MFD_CLOEXEC)) {
    constexpr size_t kBytes = kStampsMax * sizeof(Stamps);
    DOGGED_CHECK(fd_ >= 0 && ftruncate(fd_, kBytes) == 0);
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    DOGGED_CHECK(memory != MAP_FAILED);
    stamps_ = static_cast<const Stamps*>(memory);
  }
  // For the life of the process: agents may still write.
  static const StampMemory& Get() {
    static const StampMemory memory;
    return memory;
  }
  const Stamps& operator[](int64_t i) const { return stamps_[i]; }
  dsl::ParameterValues With(dsl::ParameterValues parameters) const {
    parameters.emplace_back("BENCH", absl::StrCat(getpid()));
    parameters.emplace_back("FD", absl::StrCat(fd_));
    return parameters;
  }

 private:
  const int fd_;
  const Stamps* stamps_ = nullptr;
};

// Microseconds from the end of a task to the start of the next one, `remote`
// or on the same agent. `pause`: each spins that long, in microseconds.
std::vector<double> Hops(AgentsRun& agents, int64_t count, int64_t words,
                         double pause, bool remote) {
  const StampMemory& stamps = StampMemory::Get();
  DOGGED_CHECK(count < static_cast<int64_t>(kStampsMax));
  (void)agents.Run(
      kChain,
      stamps.With(
          {{"N", absl::StrCat(count)},
           {"WORDS", absl::StrCat(words)},
           {"PAUSE", absl::StrCat(static_cast<int64_t>(1000 * pause))}}));
  std::vector<double> out;
  // The first ones find connections and caches cold.
  for (int64_t i = count / 8; i < count; ++i) {
    if ((stamps[i].pid != stamps[i + 1].pid) != remote) continue;
    out.push_back(1e-3 *
                  static_cast<double>(stamps[i + 1].start - stamps[i].end));
  }
  return out;
}

// Microseconds from the end of a task until the last of 32 tasks, wherever
// they are, starts with its value.
std::vector<double> ToAll(AgentsRun& agents, int64_t rounds, int64_t words) {
  const StampMemory& stamps = StampMemory::Get();
  (void)agents.Run(kToAll, stamps.With({{"ROUNDS", absl::StrCat(rounds)},
                                        {"WORDS", absl::StrCat(words)}}));
  std::vector<double> out;
  for (int64_t round = 2; round <= rounds; ++round) {
    int64_t last = 0;
    for (int64_t j = 1; j <= 32; ++j) {
      last = std::max(last, stamps[33 * round + j].start);
    }
    out.push_back(1e-3 * static_cast<double>(last - stamps[33 * round].end));
  }
  return out;
}

double Quantile(std::vector<double> samples, double share) {
  std::sort(samples.begin(), samples.end());
  return samples[static_cast<size_t>(share *
                                     static_cast<double>(samples.size() - 1))];
}

// Half a round trip of 8 bytes between two blocked threads over two pipes: the
// cost of a wake-up by the kernel here.
double PipeHop() {
  int there[2], back[2];
  DOGGED_CHECK(pipe(there) == 0 && pipe(back) == 0);
  constexpr int kRounds = 5000;
  std::thread echo([from = there[0], to = back[1]] {
    int64_t word = 0;
    while (read(from, &word, sizeof(word)) == sizeof(word)) {
      if (write(to, &word, sizeof(word)) != sizeof(word)) return;
    }
  });
  int64_t word = 0;
  const double seconds = Seconds([&] {
    for (int i = 0; i < kRounds; ++i) {
      DOGGED_CHECK(write(there[1], &word, sizeof(word)) == sizeof(word));
      DOGGED_CHECK(read(back[0], &word, sizeof(word)) == sizeof(word));
    }
  });
  close(there[1]);
  echo.join();
  for (int fd : {there[0], back[0], back[1]}) close(fd);
  return 1e6 * seconds / kRounds / 2;
}

// A way over a pipe, after the writer has spun for 2 ms while the reader slept.
double PipeHopFromSleep() {
  int there[2], back[2];
  DOGGED_CHECK(pipe(there) == 0 && pipe(back) == 0);
  SystemClock clock;
  std::vector<double> out;
  std::thread reader([&] {
    absl::Time sent;
    while (read(there[0], &sent, sizeof(sent)) == sizeof(sent)) {
      out.push_back(absl::ToDoubleMicroseconds(clock.Now() - sent));
      if (write(back[1], &sent, sizeof(sent)) != sizeof(sent)) return;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const absl::Time end = clock.Now() + absl::Milliseconds(2);
    while (clock.Now() < end) {
    }
    absl::Time sent = clock.Now();
    DOGGED_CHECK(write(there[1], &sent, sizeof(sent)) == sizeof(sent));
    DOGGED_CHECK(read(back[0], &sent, sizeof(sent)) == sizeof(sent));
  }
  close(there[1]);
  reader.join();
  for (int fd : {there[0], back[0], back[1]}) close(fd);
  return Median(std::move(out));
}

void AddRow(const std::string& name, const std::vector<double>& samples,
            std::vector<BenchRow>& rows) {
  for (const auto& [suffix, share] :
       {std::pair{"", 0.5}, std::pair{"_p95", 0.95}}) {
    BenchRow row{
        .name = name + suffix, .value = Quantile(samples, share), .unit = "us"};
    row.samples = std::ssize(samples);
    rows.push_back(std::move(row));
  }
}

void AddRatio(const std::string& name, const std::string& other,
              std::vector<BenchRow>& rows) {
  const auto find = [&](const std::string& wanted) {
    return std::find_if(rows.begin(), rows.end(), [&](const BenchRow& row) {
      return row.name == wanted;
    });
  };
  const auto row = find(name);
  row->ratio_to = other;
  row->ratio = row->value / find(other)->value;
}

}  // namespace

std::vector<BenchRow> BenchHop(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  for (const auto& [name, value, samples] :
       {std::tuple{"pipe_hop", PipeHop(), 5000},
        std::tuple{"pipe_hop_from_sleep", PipeHopFromSleep(), 300}}) {
    rows.push_back({.name = name,
                    .value = value,
                    .unit = "us",
                    .samples = samples,
                    .ratio_to = "",
                    .ratio = 0});
  }
  AgentsRun lending(2, 1);
  AgentsRun copying(2, 1, {"--arena", "off"});
  const auto hops = [&](const std::string& name, int64_t count, int64_t words,
                        double pause, bool remote = true) {
    if (!options.only.Takes(name)) return;
    const std::string copied = name + "_copied", tcp = name + "_tcp";
    AddRow(name, Hops(lending, count, words, pause, remote), rows);
    AddRow(copied, Hops(copying, count, words, pause, remote), rows);
    AddRatio(name, copied, rows);
    if (!remote || pause > 0) return;
    AddRow(tcp, TcpHops(8 * static_cast<size_t>(words), 1000), rows);
    AddRatio(copied, tcp, rows);
  };
  // Parts that start late have started after this.
  for (AgentsRun* agents : {&lending, &copying}) Hops(*agents, 500, 1, 0, true);
  hops("hop_8B_hot", 4000, 1, 0);
  hops("hop_8B_hot_same_agent", 4000, 1, 0, false);
  hops("hop_8B_from_sleep", 500, 1, 2000);
  hops("hop_8KB_hot", 2000, 1024, 0);
  hops("hop_64KB_hot", 1000, 8192, 0);
  hops("hop_512KB_hot", 400, 65536, 0);
  return rows;
}

std::vector<BenchRow> BenchToAll(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  AgentsRun lending(8, 1);
  AgentsRun copying(8, 1, {"--arena", "off"}, "flat");
  for (const auto& [name, words] : {std::pair{"to_8_agents_64B", 8},
                                    std::pair{"to_8_agents_512KB", 65536}}) {
    std::vector<double> lent;
    std::vector<double> copied;
    for (int i = 0; i < options.samples; ++i) {
      for (const double us : ToAll(lending, 20, words)) lent.push_back(us);
      for (const double us : ToAll(copying, 20, words)) copied.push_back(us);
    }
    AddRow(name, lent, rows);
    AddRow(absl::StrCat(name, "_flat_copied"), copied, rows);
    AddRatio(name, absl::StrCat(name, "_flat_copied"), rows);
  }
  return rows;
}

}  // namespace dogged
