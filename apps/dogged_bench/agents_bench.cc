// Agents of this host beside one alone: `dogged run` on real processes, as a
// user starts it. Cost of agents, gain by a second one that joins half way,
// cost of copies, and processor time of agents without a job.
#include <chrono>
#include <future>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

// Output of `dogged run` of Cholesky, with `flags`.
std::string RunDogged(int64_t n, const std::string& flags) {
  const std::string command = absl::StrCat(
      BenchFolder(), "/dogged run " DOGGED_APPS_DIR "/cholesky/cholesky.dog",
      " -D N=", n, " --json ", flags, " 2>/dev/null");
  return OutputOf(command);
}

struct Contender {
  const char* name;
  const char* flags;
  const char* ratio_to;  // one above; may be empty
  int scale = 1;         // of N
  // The run is of agents that are there before it; 0: it starts its own.
  int agents = 0;
  int workers = 0;  // of each
};
constexpr Contender kContenders[] = {
    {"workers_2", "--agents 1 --workers 2", ""},
    {"agents_2", "--agents 2 --workers 1 --replicas 1", "workers_2"},
    {"agents_2_replicas_2", "--agents 2 --workers 1 --replicas 2", "agents_2"},
    // Costs of an agent, and of two.
    {"standing_agent", "--replicas 1", "workers_2", 1, 1, 2},
    {"standing_agents_2", "--replicas 1", "standing_agent", 1, 2, 1},
    {"agents_4", "--agents 4 --workers 1", ""},
    {"workers_1", "--agents 1 --workers 1", ""},
    // The second agent joins when there is nothing left: till then the first is
    // alone.
    {"agents_1", "--agents 1 --workers 1 --join-at 99%", "workers_1"},
    // A run so long that a third of a second, in which an agent comes up, is
    // little of it.
    {"agents_1_long", "--agents 1 --workers 1 --join-at 99%", "", 2},
    {"joined_at_half", "--agents 1 --workers 1 --join-at 50%", "agents_1_long",
     2}};

std::string RunContender(int64_t n, const Contender& contender) {
  if (contender.agents == 0)
    return RunDogged(contender.scale * n, contender.flags);
  const AgentsRun standing(contender.agents, contender.workers);
  return RunDogged(contender.scale * n,
                   absl::StrCat(contender.flags, " --cluster ",
                                standing.processes().front().address));
}

// Processor time of agents that know each other and have no job.
BenchRow Idle(int agents) {
  constexpr int kSeconds = 10;
  const AgentsRun idle(agents, 1);
  std::promise<void> never;  // there is nothing to wait for
  const std::future<void> wait = never.get_future();
  wait.wait_for(std::chrono::seconds(1));  // for the rest of a start
  const double before = idle.CpuSeconds();
  wait.wait_for(std::chrono::seconds(kSeconds));
  const double used = idle.CpuSeconds() - before;
  return {.name = absl::StrCat("idle_of_", agents),
          .value = 100 * used / agents / kSeconds,
          .unit = "% of a core an agent",
          .samples = 1};
}

}  // namespace

std::vector<BenchRow> BenchAgents(const BenchOptions& options) {
  const int64_t n = options.n > 0 ? options.n : 4096;
  std::map<std::string, std::vector<double>> seconds;
  std::map<std::string, std::vector<double>> waste;
  for (int i = 0; i < options.samples; ++i) {
    for (const Contender& contender : kContenders) {
      if (!options.only.Takes(contender.name)) continue;
      const std::string json = RunContender(n, contender);
      seconds[contender.name].push_back(NumberOf(json, "compute_seconds"));
      waste[contender.name].push_back(NumberOf(json, "tasks_executed") /
                                      NumberOf(json, "tasks_needed"));
    }
  }
  std::vector<BenchRow> rows;
  for (const Contender& contender : kContenders) {
    const std::vector<double>& ours = seconds[contender.name];
    if (ours.empty()) continue;
    BenchRow row{.name = contender.name,
                 .value = Median(ours),
                 .unit = "s",
                 .samples = options.samples};
    const std::vector<double>& peer = seconds[contender.ratio_to];
    if (!peer.empty()) {
      std::vector<double> ratios;
      for (size_t i = 0; i < ours.size(); ++i) {
        ratios.push_back(ours[i] / peer[i]);
      }
      row.ratio_to = contender.ratio_to;
      row.ratio = Median(std::move(ratios));
    }
    rows.push_back(std::move(row));
    rows.push_back({.name = absl::StrCat(contender.name, "_executed"),
                    .value = Median(waste[contender.name]),
                    .unit = "per needed",
                    .samples = options.samples});
  }
  if (options.only.Takes("idle")) {
    rows.push_back(Idle(1));
    rows.push_back(Idle(2));
  }
  return rows;
}

}  // namespace dogged
