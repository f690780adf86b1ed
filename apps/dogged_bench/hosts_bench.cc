// Jobs on hosts of their own, which scripts/hosts has made, with links of a
// limited rate: what two copies of each value cost there, and what a host costs
// that vanishes at half of the time. An agent of one worker on each host.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "runtime/base/check.h"

extern char** environ;

namespace dogged {
namespace {

constexpr int kPort = 7070;

std::string AddressOf(int host) {
  return absl::StrCat("10.77.0.", host + 1, ":", kPort);
}

// An agent on a host, until it goes out of scope.
class HostAgent {
 public:
  explicit HostAgent(int host) {
    std::vector<std::string> words = {DOGGED_HOSTS_SCRIPT,
                                      "in",
                                      absl::StrCat(host),
                                      BenchFolder() + "/dogged",
                                      "agent",
                                      "--listen",
                                      AddressOf(host),
                                      "--insecure",
                                      "--workers",
                                      "1",
                                      "--arena",
                                      "off"};
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
  ~HostAgent() {
    Kill();
    waitpid(pid_, nullptr, 0);
    close(out_);
  }
  HostAgent(const HostAgent&) = delete;
  HostAgent& operator=(const HostAgent&) = delete;

  void Kill() const { kill(pid_, SIGKILL); }

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

// The program of apps/ with one number or tile for its result, so that nothing
// is gathered; the path of a temporary file.
std::string ProgramOf(const std::string& app) {
  const std::string text =
      TextOf(absl::StrCat(DOGGED_APPS_DIR "/", app, "/", app, ".dog"));
  const std::string small = absl::StrReplaceAll(
      text,
      {{"result u(:)(:)(T)",
        "reduce heat = sum(u(x)(y)(T)) over x = 0:N-1  y = 0:N-1\n"
        "result heat"},
       {"result L(i)(j) for i = 0:NT-1  j = 0:i", "result L(NT-1)(NT-1)"}});
  DOGGED_CHECK(small != text) << app << " has another result now";
  const std::string path =
      absl::StrCat("/tmp/dogged-bench-", getpid(), "-", app, ".dog");
  std::ofstream(path) << small;
  return path;
}

struct Contender {
  const char* name;
  const char* app;
  const char* flags;
  const char* ratio_to;  // one above; may be empty
  // The last host vanishes after this share of the time of `ratio_to`.
  double vanishes_at = 0;
};
constexpr Contender kContenders[] = {
    {"heat2d_2048_one_copy", "heat2d", "-D N=2048 -D T=100 --replicas 1", ""},
    {"heat2d_2048", "heat2d", "-D N=2048 -D T=100", "heat2d_2048_one_copy"},
    {"heat2d_4096_one_copy", "heat2d", "-D N=4096 -D T=200 --replicas 1", ""},
    {"heat2d_4096", "heat2d", "-D N=4096 -D T=200", "heat2d_4096_one_copy"},
    {"cholesky_4096_one_copy", "cholesky", "-D N=4096 --replicas 1", ""},
    {"cholesky_4096", "cholesky", "-D N=4096", "cholesky_4096_one_copy"},
    {"heat2d_long", "heat2d", "-D N=4096 -D T=2000", ""},
    {"heat2d_long_vanishes", "heat2d", "-D N=4096 -D T=2000", "heat2d_long",
     0.5}};

std::string RunOn(int hosts, const std::string& program,
                  const Contender& contender, double kill_after) {
  std::vector<std::unique_ptr<HostAgent>> agents;
  for (int host = 0; host < hosts; ++host) {
    agents.push_back(std::make_unique<HostAgent>(host));
  }
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  const std::future<void> killer = std::async(std::launch::async, [&] {
    if (kill_after > 0 && end.wait_for(std::chrono::duration<double>(
                              kill_after)) == std::future_status::timeout) {
      agents.back()->Kill();
    }
  });
  const std::string command =
      absl::StrCat(DOGGED_HOSTS_SCRIPT " in 0 ", BenchFolder(), "/dogged run ",
                   program, " ", contender.flags, " --cluster ", AddressOf(0),
                   " --agents ", hosts, " --workers 1 --json 2>/dev/null");
  std::string text = OutputOf(command);
  ended.set_value();
  killer.wait();
  return text;
}

}  // namespace

std::vector<BenchRow> BenchHosts(const BenchOptions& options) {
  const int hosts = options.hosts > 0 ? options.hosts : 4;
  std::map<std::string, std::string> programs;
  for (const char* const app : {"heat2d", "cholesky"}) {
    programs[app] = ProgramOf(app);
  }
  std::map<std::string, std::vector<double>> seconds, sent, waste;
  for (int i = 0; i < options.samples; ++i) {
    for (const Contender& contender : kContenders) {
      if (!options.only.Takes(contender.name)) continue;
      const std::vector<double>& peer = seconds[contender.ratio_to];
      if (contender.vanishes_at > 0 && peer.empty()) continue;
      const double kill_after =
          contender.vanishes_at > 0 ? contender.vanishes_at * peer.back() : 0;
      const std::string json =
          RunOn(hosts, programs[contender.app], contender, kill_after);
      seconds[contender.name].push_back(NumberOf(json, "compute_seconds"));
      sent[contender.name].push_back(NumberOf(json, "bytes_sent") / 1e6);
      waste[contender.name].push_back(NumberOf(json, "tasks_executed") /
                                      NumberOf(json, "tasks_needed"));
    }
  }
  for (const auto& [app, path] : programs) unlink(path.c_str());
  std::vector<BenchRow> rows;
  for (const Contender& contender : kContenders) {
    const std::vector<double>& ours = seconds[contender.name];
    if (ours.empty()) continue;
    const std::string name = contender.name;
    BenchRow row{.name = name,
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
      row.ratio = Median(ratios);
    }
    rows.push_back(row);
    rows.push_back({.name = name + "_sent",
                    .value = Median(sent[name]),
                    .unit = "MB",
                    .samples = options.samples});
    if (contender.vanishes_at > 0) {
      rows.push_back({.name = name + "_executed",
                      .value = Median(waste[name]),
                      .unit = "tasks a needed one",
                      .samples = options.samples});
    }
  }
  return rows;
}

}  // namespace dogged
