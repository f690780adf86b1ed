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
            double bound, std::vector<BenchRow>& rows) {
  for (const auto& [suffix, share] :
       {std::pair{"", 0.5}, std::pair{"_p95", 0.95}}) {
    BenchRow row{
        .name = name + suffix, .value = Quantile(samples, share), .unit = "us"};
    row.samples = static_cast<int64_t>(samples.size());
    if (bound > 0) {
      row.ratio_to = "pipe_hop";
      row.ratio = row.value / bound;
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<BenchRow> BenchHop(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  const double bound = PipeHop();
  rows.push_back({.name = "pipe_hop",
                  .value = bound,
                  .unit = "us",
                  .samples = 5000,
                  .ratio_to = "",
                  .ratio = 0});
  AgentsRun agents(2, 1);
  const auto hops = [&](const std::string& name, int64_t count, int64_t words,
                        double pause, bool remote = true) {
    if (!options.only.empty() && options.only != name) return;
    AddRow(name, Hops(agents, count, words, pause, remote), bound, rows);
  };
  Hops(agents, 200, 1, 0, true);  // what starts late has started
  hops("hop_8B_hot", 4000, 1, 0);
  hops("hop_8B_hot_same_agent", 4000, 1, 0, false);
  hops("hop_8B_from_sleep", 500, 1, 2000);
  hops("hop_8KB_hot", 2000, 1024, 0);
  hops("hop_64KB_hot", 1000, 8192, 0);
  hops("hop_512KB_hot", 400, 65536, 0);
  return rows;
}

}  // namespace dogged
