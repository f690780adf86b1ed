// Jobs on hosts of their own, which scripts/hosts has made, with links of a
// limited rate, beside MPI programs: what two copies of each value cost there,
// what a host costs that vanishes at half of the time, and what sealing costs.
// An agent of one worker, or an MPI process, on each host; all take turns.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/hosts_peers.h"
#include "runtime/base/check.h"

extern char** environ;

namespace dogged {
namespace {

constexpr int kPort = 7070;

std::string AddressOf(int host) {
  return absl::StrCat("10.77.0.", host + 1, ":", kPort);
}

// The flags of an agent or a client for its key: the file, or that there is
// none.
std::vector<std::string> KeyWords(const std::string& key) {
  if (key.empty()) return {"--insecure"};
  return {"--key-file", key};
}

// An agent on a host, until it goes out of scope. With a `key`, a file, what
// goes between hosts is sealed.
class HostAgent {
 public:
  HostAgent(int host, const std::string& key) {
    std::vector<std::string> words = {DOGGED_HOSTS_SCRIPT,
                                      "in",
                                      absl::StrCat(host),
                                      BenchFolder() + "/dogged",
                                      "agent",
                                      "--listen",
                                      AddressOf(host),
                                      "--workers",
                                      "1",
                                      "--arena",
                                      "off",
                                      "--libraries",
                                      "here"};
    for (std::string& word : KeyWords(key)) words.push_back(std::move(word));
    if (host > 0) {
      words.emplace_back("--join");
      words.push_back(AddressOf(0));
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int said[2];
    DOGGED_CHECK(pipe(said) == 0) << "no pipe";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, said[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, said[0]);
    DOGGED_CHECK(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(),
                             environ) == 0)
        << words[0];
    posix_spawn_file_actions_destroy(&actions);
    close(said[1]);
    // It says where it listens.
    char byte = 0;
    while (read(said[0], &byte, 1) == 1 && byte != '\n') continue;
    DOGGED_CHECK(byte == '\n')
        << "no agent on host " << host << ": is this inside scripts/hosts run?";
    out_ = said[0];
  }
  ~HostAgent() { (void)End(); }
  HostAgent(const HostAgent&) = delete;
  HostAgent& operator=(const HostAgent&) = delete;

  // Ends it. Processor time that it has used, in seconds.
  double End() {
    if (pid_ == 0) return 0;
    kill(pid_, SIGKILL);
    rusage used = {};
    wait4(std::exchange(pid_, 0), nullptr, 0, &used);
    close(out_);
    double seconds = 0;
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) +
                 1e-6 * static_cast<double>(time.tv_usec);
    }
    return seconds;
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
};

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  DOGGED_CHECK(!text.str().empty()) << path;
  return text.str();
}

// Values of 512 KB that go from task to task, to and fro between two hosts.
constexpr char kHop[] = "hop";
constexpr char kHops[] = R"(
param N = 50
array x(c = 0:7)(i = 0:N)(p = 0:1) : int64 [65536]  place p
kernel fill(out b) from "BENCH_FOLDER/dogged-bench-stamps.so"
kernel fill_after(in a, out b) from "BENCH_FOLDER/dogged-bench-stamps.so"
task first
  creates x(c)(0)(0) as b
  for c = 0:7
  call fill(b)
end task
task there
  creates x(c)(i)(1) as b
  for c = 0:7  i = 0:N
  using x(c)(i)(0) as a
  call fill_after(a, b)
end task
task back
  creates x(c)(i)(0) as b
  for c = 0:7  i = 1:N
  using x(c)(i-1)(1) as a
  call fill_after(a, b)
end task
result x(:)(N)(1)
)";
constexpr double kBytesOfHop = 8 * 65536;

// The program of apps/ with one number or tile for its result, so that nothing
// is gathered; the path of a temporary file.
std::string ProgramOf(const std::string& app) {
  const std::string path =
      absl::StrCat("/tmp/dogged-bench-", getpid(), "-", app, ".dog");
  if (app == kHop) {
    std::ofstream(path) << absl::StrReplaceAll(
        kHops, {{"BENCH_FOLDER", BenchFolder()}});
    return path;
  }
  const std::string text =
      TextOf(absl::StrCat(DOGGED_APPS_DIR "/", app, "/", app, ".dog"));
  const std::string small = absl::StrReplaceAll(
      text, {{"result u(:)(:)(T)",
              "reduce heat = sum(u(x)(y)(T)) over x = 0:N-1  y = 0:N-1\n"
              "result heat"},
             {"result L(i)(j) for i = 0:NT-1  j = 0:i", "result L(NT-1)(NT-1)"},
             {"result F(:)(:)\nresult P(:)", "result F(0)(NT-1)"}});
  DOGGED_CHECK(small != text) << app << " has another result now";
  std::ofstream(path) << small;
  return path;
}

struct Contender {
  const char* name;
  // A folder of apps/, or kHop; none: a peer, which `seconds` runs.
  const char* app;
  const char* flags;
  std::vector<const char*> ratios_to;  // further up
  // The last host's link goes down after this share of the time of the first of
  // them.
  double vanishes_at = 0;
  std::function<double(int hosts)> seconds;
  bool is_sealed = false;

  // Its figure is processor time a hop, not time.
  bool IsHop() const { return app == kHop; }
};

// ScalapackOnHostsSeconds with the best grid and block size, found at first.
std::function<double(int)> BestScalapack(bool is_lu, int64_t n) {
  struct Best {
    int64_t nb = 0;
    int rows = 0;
  };
  return [is_lu, n, best = std::make_shared<Best>()](int hosts) {
    if (best->nb > 0) {
      return ScalapackOnHostsSeconds(hosts, is_lu, n, best->nb, best->rows);
    }
    double least = 0;
    for (int rows = 1; rows <= hosts; ++rows) {
      if (hosts % rows != 0) continue;
      for (const int64_t nb : {64, 128}) {
        // The better of two: a run in three is twice as long or more.
        const double seconds =
            std::min(ScalapackOnHostsSeconds(hosts, is_lu, n, nb, rows),
                     ScalapackOnHostsSeconds(hosts, is_lu, n, nb, rows));
        if (seconds == 0) return 0.0;  // not there
        if (least > 0 && seconds >= least) continue;
        least = seconds;
        *best = {.nb = nb, .rows = rows};
      }
    }
    return least;
  };
}

std::vector<Contender> Contenders() {
  const auto halo = [](int64_t n, int64_t steps) {
    return [=](int hosts) { return HaloSeconds(hosts, n, steps); };
  };
  return {
      {.name = "heat2d_2048_mpi", .seconds = halo(2048, 100)},
      {"heat2d_2048_one_copy",
       "heat2d",
       "-D N=2048 -D T=100 --replicas 1",
       {"heat2d_2048_mpi"}},
      {"heat2d_2048",
       "heat2d",
       "-D N=2048 -D T=100",
       {"heat2d_2048_one_copy", "heat2d_2048_mpi"}},
      {.name = "heat2d_4096_mpi", .seconds = halo(4096, 200)},
      {"heat2d_4096_one_copy",
       "heat2d",
       "-D N=4096 -D T=200 --replicas 1",
       {"heat2d_4096_mpi"}},
      {"heat2d_4096",
       "heat2d",
       "-D N=4096 -D T=200",
       {"heat2d_4096_one_copy", "heat2d_4096_mpi"}},
      {.name = "heat2d_4096_sealed",
       .app = "heat2d",
       .flags = "-D N=4096 -D T=200",
       .ratios_to = {"heat2d_4096"},
       .is_sealed = true},
      {.name = "cholesky_4096_scalapack",
       .seconds = BestScalapack(/*is_lu=*/false, 4096)},
      {"cholesky_4096_one_copy",
       "cholesky",
       "-D N=4096 --replicas 1",
       {"cholesky_4096_scalapack"}},
      {"cholesky_4096",
       "cholesky",
       "-D N=4096",
       {"cholesky_4096_one_copy", "cholesky_4096_scalapack"}},
      {.name = "cholesky_4096_sealed",
       .app = "cholesky",
       .flags = "-D N=4096",
       .ratios_to = {"cholesky_4096"},
       .is_sealed = true},
      {.name = "lu_4096_scalapack",
       .seconds = BestScalapack(/*is_lu=*/true, 4096)},
      {"lu_4096_one_copy",
       "lu",
       "-D N=4096 --replicas 1",
       {"lu_4096_scalapack"}},
      {"lu_4096", "lu", "-D N=4096", {"lu_4096_one_copy", "lu_4096_scalapack"}},
      {"hop_512KB", kHop, "--replicas 1", {}},
      {.name = "hop_512KB_sealed",
       .app = kHop,
       .flags = "--replicas 1",
       .ratios_to = {"hop_512KB"},
       .is_sealed = true},
      {"heat2d_long", "heat2d", "-D N=4096 -D T=2000", {}},
      {"heat2d_long_vanishes",
       "heat2d",
       "-D N=4096 -D T=2000",
       {"heat2d_long"},
       0.5}};
}

struct HostsRun {
  std::string json;
  double processor_seconds = 0;  // of all agents
};

HostsRun RunOn(int hosts, const std::string& program,
               const Contender& contender, const std::string& key,
               double cut_after) {
  std::vector<std::unique_ptr<HostAgent>> agents;
  for (int host = 0; host < hosts; ++host) {
    agents.push_back(std::make_unique<HostAgent>(host, key));
  }
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  const std::future<void> cutter = std::async(std::launch::async, [&] {
    if (cut_after > 0 && end.wait_for(std::chrono::duration<double>(
                             cut_after)) == std::future_status::timeout) {
      OutputOf(absl::StrCat(DOGGED_HOSTS_SCRIPT " cut ", hosts - 1));
    }
  });
  const std::string command =
      absl::StrCat(DOGGED_HOSTS_SCRIPT " in 0 ", BenchFolder(), "/dogged run ",
                   program, " ", contender.flags, " --cluster ", AddressOf(0),
                   " --agents ", hosts, " --workers 1 --json ",
                   absl::StrJoin(KeyWords(key), " "), " 2>/dev/null");
  HostsRun run = {.json = OutputOf(command)};
  ended.set_value();
  cutter.wait();
  OutputOf(absl::StrCat(DOGGED_HOSTS_SCRIPT " mend ", hosts - 1));
  for (const auto& agent : agents) run.processor_seconds += agent->End();
  return run;
}

// By contender, in order of the samples.
using Figures = std::map<std::string, std::vector<double>>;

// Both lists are of the same turns; 0: did not run.
double MedianRatio(const std::vector<double>& ours,
                   const std::vector<double>& peer) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(ours.size(), peer.size()); ++i) {
    if (peer[i] > 0) ratios.push_back(ours[i] / peer[i]);
  }
  return ratios.empty() ? 0 : Median(ratios);
}

}  // namespace

std::vector<BenchRow> BenchHosts(const BenchOptions& options) {
  const int hosts = options.hosts > 0 ? options.hosts : 4;
  std::map<std::string, std::string> programs;
  for (const char* const app : {"heat2d", "cholesky", "lu", kHop}) {
    programs[app] = ProgramOf(app);
  }
  const std::string key = absl::StrCat("/tmp/dogged-bench-", getpid(), "-key");
  OutputOf(absl::StrCat(BenchFolder(), "/dogged key new --file ", key,
                        " 2>/dev/null"));
  const std::vector<Contender> contenders = Contenders();
  Figures seconds, sent, waste;
  for (int i = 0; i < options.samples; ++i) {
    for (const Contender& contender : contenders) {
      if (!options.only.Takes(contender.name)) continue;
      if (contender.seconds != nullptr) {
        seconds[contender.name].push_back(contender.seconds(hosts));
        continue;
      }
      double cut_after = 0;
      if (contender.vanishes_at > 0) {
        const std::vector<double>& peer = seconds[contender.ratios_to[0]];
        if (peer.empty()) continue;
        cut_after = contender.vanishes_at * peer.back();
      }
      const auto [json, processor_seconds] =
          RunOn(hosts, programs[contender.app], contender,
                contender.is_sealed ? key : "", cut_after);
      const double bytes = NumberOf(json, "bytes_sent");
      seconds[contender.name].push_back(
          contender.IsHop() ? processor_seconds / (bytes / kBytesOfHop)
                            : NumberOf(json, "compute_seconds"));
      sent[contender.name].push_back(bytes / 1e6);
      waste[contender.name].push_back(NumberOf(json, "tasks_executed") /
                                      NumberOf(json, "tasks_needed"));
    }
  }
  for (const auto& [app, path] : programs) unlink(path.c_str());
  unlink(key.c_str());
  std::vector<BenchRow> rows;
  const auto add = [&](const std::string& name, double value,
                       const char* unit) {
    rows.push_back({.name = name,
                    .value = value,
                    .unit = unit,
                    .samples = options.samples});
  };
  for (const Contender& contender : contenders) {
    const std::vector<double>& ours = seconds[contender.name];
    // A peer that is not installed takes no time.
    if (ours.empty() || Median(ours) == 0) continue;
    const std::string name = contender.name;
    const char* const unit = contender.IsHop() ? "s of processors a hop" : "s";
    add(name, Median(ours), unit);
    for (const char* const to : contender.ratios_to) {
      const double ratio = MedianRatio(ours, seconds[to]);
      if (ratio == 0) continue;
      // A row has one ratio.
      if (rows.back().ratio > 0) add(name, Median(ours), unit);
      rows.back().ratio_to = to;
      rows.back().ratio = ratio;
    }
    if (contender.seconds != nullptr) continue;
    add(name + "_sent", Median(sent[name]), "MB");
    if (contender.vanishes_at > 0) {
      add(name + "_executed", Median(waste[name]), "tasks a needed one");
    }
  }
  return rows;
}

}  // namespace dogged
