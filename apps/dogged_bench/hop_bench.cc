// From task to task between agents of one host, and from one task to tasks of
// all of them: real processes, as `dogged run` starts them. Kernels stamp the
// time (stamps.cc), so each hop is a sample of its own.
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "runtime/base/check.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

// Each label is a key of its own, so about half of the hops are remote.
constexpr char kChain[] = R"(
param N
param WORDS
param PID
param PAUSE
array x(i = 0:N) : int64 [WORDS]  place i
kernel stamp(out b, number, number) from "dogged-bench-stamps.so"
kernel stamp_after(in a, out b, number, number) from "dogged-bench-stamps.so"
task first
  creates x(0) as b
  call stamp(b, PID, PAUSE)
end task
task hop
  creates x(i) as b
  for i = 1:N
  using x(i-1) as a
  call stamp_after(a, b, PID, PAUSE)
end task
result x(:)
)";

// A task in each round, and tasks of all agents that read what it made. Rounds
// are apart: the next one spins until the last one is over.
constexpr char kToAll[] = R"(
param ROUNDS
param WORDS
param PID
array s(r = 0:ROUNDS) : int64 [WORDS]  place r
array c(r = 0:ROUNDS)(j = 0:31) : int64 [2]  place r, j
kernel stamp(out b, number, number) from "dogged-bench-stamps.so"
kernel stamp_after(in a, out b, number, number) from "dogged-bench-stamps.so"
task first
  creates s(0) as b
  call stamp(b, PID, 20000000)
end task
task next
  creates s(r) as b
  for r = 1:ROUNDS
  using c(r-1)(0) as a
  call stamp_after(a, b, PID, 20000000)
end task
task read
  creates c(r)(j) as b
  for r = 0:ROUNDS  j = 0:31
  using s(r) as a
  call stamp_after(a, b, PID, 0)
end task
result s(:)
result c(:)(:)
)";

struct Stamps {
  double start = 0;  // microseconds
  double end = 0;
  bool first_agent = false;
};

Stamps StampsOf(const Value& value) {
  const auto words = value.span<int64_t>();
  Stamps out{.start = 5e-4 * static_cast<double>(words[0]),
             .end = 5e-4 * static_cast<double>(words[words.size() > 1]),
             .first_agent = words[0] % 2 == 1};
  return out;
}

// Microseconds from the end of a task to the start of the next one, `remote`
// or on the same agent. `pause`: each spins that long, in microseconds.
std::vector<double> Hops(AgentsRun& agents, int64_t count, int64_t words,
                         double pause, bool remote) {
  const auto text = [](auto number) { return absl::StrCat(number); };
  const auto outcome =
      agents.Run(kChain, {{"N", text(count)},
                          {"WORDS", text(words)},
                          {"PID", text(agents.processes().front().pid)},
                          {"PAUSE", text(static_cast<int64_t>(1000 * pause))}});
  std::vector<double> out;
  const Stamps* last = nullptr;
  std::vector<Stamps> all;
  for (const auto& [label, value] : outcome.results) {
    all.push_back(StampsOf(value));
  }
  for (const Stamps& stamps : all) {
    if (last != nullptr &&
        (last->first_agent != stamps.first_agent) == remote) {
      // A stamp alone stands after the spinning.
      const double spun = words > 1 ? 0 : pause;
      out.push_back(stamps.start - last->end - spun);
    }
    last = &stamps;
  }
  // The first ones find connections and caches cold.
  out.erase(out.begin(), out.begin() + static_cast<ptrdiff_t>(out.size() / 8));
  return out;
}

// Microseconds from the end of a task until the last of 32 tasks, wherever
// they are, starts with its value.
std::vector<double> ToAll(AgentsRun& agents, int64_t rounds, int64_t words) {
  const auto outcome = agents.Run(
      kToAll, {{"ROUNDS", absl::StrCat(rounds)},
               {"WORDS", absl::StrCat(words)},
               {"PID", absl::StrCat(agents.processes().front().pid)}});
  std::map<int64_t, double> made;
  std::map<int64_t, double> last;
  for (const auto& [label, value] : outcome.results) {
    const Stamps stamps = StampsOf(value);
    const int64_t round = label.index[0];
    if (label.index.size() == 1) {
      made[round] = stamps.end;
    } else {
      last[round] = std::max(last[round], stamps.start);
    }
  }
  std::vector<double> out;
  for (const auto& [round, end] : made) {
    if (round > 1) out.push_back(last[round] - end);
  }
  return out;
}

double Quantile(std::vector<double> samples, double share) {
  std::sort(samples.begin(), samples.end());
  return samples[static_cast<size_t>(share *
                                     static_cast<double>(samples.size() - 1))];
}

// Half a round trip of 8 bytes between two blocked threads over two pipes: what
// a wake-up of the kernel costs here.
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

void AddRow(const std::string& name, const std::vector<double>& samples,
            std::vector<BenchRow>& rows) {
  for (const auto& [suffix, share] :
       {std::pair{"", 0.5}, std::pair{"_p95", 0.95}}) {
    BenchRow row{
        .name = name + suffix, .value = Quantile(samples, share), .unit = "us"};
    row.samples = static_cast<int64_t>(samples.size());
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
  rows.push_back({.name = "pipe_hop",
                  .value = PipeHop(),
                  .unit = "us",
                  .samples = 5000,
                  .ratio_to = "",
                  .ratio = 0});
  AgentsRun lending(2, 1);
  AgentsRun copying(2, 1, {"--arena", "off"});
  const auto hops = [&](const std::string& name, int64_t count, int64_t words,
                        double pause, bool remote = true) {
    if (!options.only.empty() && options.only != name) return;
    AddRow(name, Hops(lending, count, words, pause, remote), rows);
    AddRow(name + "_copied", Hops(copying, count, words, pause, remote), rows);
    AddRatio(name, name + "_copied", rows);
  };
  // What starts late has started.
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
