// Aim: no job, from any client, brings an agent down. Method: jobs of apps/
// with bytes changed at random, from printed seeds, each run by agents of the
// simulation in a process of its own.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "apps/tiles/blas_kernels.h"
#include "dsl/compile.h"
#include "dsl/kernels/load_kernels.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "runtime/sim/cluster.h"
#include "tests/dsl/compile_tools.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

struct App {
  const char* file;
  dsl::ParameterValues parameters;
  bool coalesce = true;
};

const App kApps[] = {
    {"heat2d/heat2d.dog", {{"N", "40"}, {"T", "8"}}},
    {"heat1d/heat1d.dog", {{"N", "101"}, {"T", "10"}}},
    {"heat1d/heat1d.dog", {{"N", "12"}, {"T", "6"}}, false},
    {"jacobi/jacobi.dog", {{"N", "20"}}},
    {"maxwell2d/maxwell2d.dog", {{"N", "20"}, {"T", "6"}}},
    {"smithwaterman/smithwaterman.dog", {}},
    {"cholesky/cholesky.dog", {{"N", "20"}, {"NB", "5"}}},
    {"lu/lu.dog", {{"N", "20"}, {"NB", "5"}}},
    {"qr/qr.dog", {{"N", "20"}, {"NB", "5"}}},
};

KernelRegistry Registry() {
  KernelRegistry out;
  AddBlasKernels(out);
  return out;
}

std::string Encoded(const App& app, const KernelRegistry& registry) {
  dsl::CompileOptions options = dsl::Options();
  options.parameters = app.parameters;
  options.coalesce = app.coalesce;
  options.compiled = false;
  options.target = {.agents = 2, .workers = 1};
  return dsl::MustCompile(dsl::ReadApp(app.file), options, registry).Encode();
}

void Damage(Rng& rng, std::string& job) {
  const auto at = static_cast<size_t>(rng.Below(std::ssize(job)));
  const int byte = static_cast<unsigned char>(job[at]);
  const int changes[] = {byte + 1, byte - 1, byte + 2,
                         byte ^ 1, 0,        static_cast<int>(rng.Below(256))};
  job[at] = static_cast<char>(changes[rng.Below(std::size(changes))]);
}

// Whether this ended well, fails or is refused is all the same.
void RunInAgents(const std::string& encoded, const KernelRegistry& registry,
                 uint64_t seed) {
  if (!Job::Decode(encoded).ok()) return;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Sanitizers take addresses without end.
  const rlimit memory = {.rlim_cur = 2ULL << 30, .rlim_max = 2ULL << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  alarm(2);
  SimOptions options{.agents = 2, .seed = seed};
  options.time_max = absl::Seconds(20);
  (void)Cluster(options, encoded, [&registry](const Job& job) {
    return dsl::LoadKernels(job, registry, nullptr);
  }).Run();
}

TEST(JobMutation, NoJobBringsAgentsDown) {
  const KernelRegistry registry = Registry();
  std::vector<std::string> jobs;
  for (const App& app : kApps) jobs.push_back(Encoded(app, registry));
  const auto [first, last] = SeedRange(1200);
  int ended = 0;
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    std::string job = rng.Pick(jobs);
    for (int64_t i = rng.Below(3); i >= 0; --i) Damage(rng, job);
    const pid_t child = fork();
    if (child == 0) {
      RunInAgents(job, registry, static_cast<uint64_t>(seed));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    // A job that would take for ever is stopped.
    const bool is_well = WIFEXITED(status) || WTERMSIG(status) == SIGALRM;
    ended += WIFEXITED(status) ? 1 : 0;
    EXPECT_TRUE(is_well) << "signal " << WTERMSIG(status)
                         << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":"
                         << seed;
  }
  EXPECT_GE(ended, (last - first + 1) * 9 / 10);
}

}  // namespace
}  // namespace dogged
